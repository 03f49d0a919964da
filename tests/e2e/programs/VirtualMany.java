import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.CountDownLatch;

/**
 * Very many virtual threads over time, of which some thousands live at once: each enters one of four monitors, by the last two
 * bits of its number, and one in some stays in it for a while. Begins a half with each line of the input, and prints the number of
 * threads that have entered and how often one has stayed. Arguments: threads of a half, those that live at once, one in how many
 * stays.
 */
public class VirtualMany {
    static final class Lock0 { }

    static final class Lock1 { }

    static final class Lock2 { }

    static final class Lock3 { }

    static final int STAY_MS = 2;

    final Object[] locks = {new Lock0(), new Lock1(), new Lock2(), new Lock3()};
    final long[] entered = new long[4], stayed = new long[4];
    final int every;

    VirtualMany(int every) {
        this.every = every;
    }

    void act(int number) {
        int own = number & 3;
        synchronized (locks[own]) {
            entered[own]++;
            if ((number >> 2) % every == 0) {
                stayed[own]++;
                try {
                    Thread.sleep(STAY_MS);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        }
    }

    void wave(int from, int to) throws Exception {
        CountDownLatch go = new CountDownLatch(1), done = new CountDownLatch(to - from);
        for (int i = from; i < to; i++) {
            int number = i;
            Virtual.virtual("many-" + i, () -> {
                try {
                    go.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                act(number);
                done.countDown();
            });
        }
        go.countDown();
        done.await();
    }

    static long sum(long[] of) {
        return of[0] + of[1] + of[2] + of[3];
    }

    public static void main(String[] args) throws Exception {
        int half = Integer.parseInt(args[0]), alive = Integer.parseInt(args[1]);
        VirtualMany many = new VirtualMany(Integer.parseInt(args[2]));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready " + ProcessHandle.current().pid());
        for (int begin = 0; in.readLine() != null; begin += half) {
            for (int i = begin; i < begin + half; i += alive) {
                many.wave(i, Math.min(i + alive, begin + half));
            }
            System.out.println(sum(many.entered) + " " + sum(many.stayed));
        }
    }
}
