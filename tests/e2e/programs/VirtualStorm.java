import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.StringJoiner;
import java.util.concurrent.CountDownLatch;

/**
 * Virtual threads that enter, wait for, notify and leave a few monitors at random, also while they sleep in them, and
 * platform threads that do so with them. Those with an odd number are interrupted now and then. Prints as JSON how
 * often each has waited, and how often that has ended by an interrupt. Arguments: virtual threads, platform threads,
 * rounds of each.
 */
public class VirtualStorm {
    static final class Lock { }

    static final int LOCKS = 3;

    final Lock[] locks = new Lock[LOCKS];
    final List<Thread> threads = new ArrayList<>();
    final CountDownLatch go = new CountDownLatch(1);
    final int[] waits, interrupted;
    final int rounds;
    long nothing;

    VirtualStorm(int count, int rounds) {
        this.rounds = rounds;
        waits = new int[count];
        interrupted = new int[count];
        for (int i = 0; i < LOCKS; i++) {
            locks[i] = new Lock();
        }
    }

    /** Others go on already, and interrupt. */
    void awaitGo() {
        while (go.getCount() > 0) {
            try {
                go.await();
            } catch (InterruptedException e) {
                continue;
            }
        }
    }

    void run(int own) {
        Random random = new Random(own);
        awaitGo();
        for (int i = 0; i < rounds; i++) {
            act(own, random, locks[random.nextInt(LOCKS)]);
        }
    }

    void act(int own, Random random, Lock lock) {
        int what = random.nextInt(100);
        synchronized (lock) {
            try {
                if (what < 50) {
                    for (int i = random.nextInt(2000); i > 0; i--) {
                        nothing += i;
                    }
                } else if (what < 65) {
                    Thread.sleep(0, 100_000);
                } else if (what < 85) {
                    waits[own]++;
                    lock.wait(1 + random.nextInt(3));
                } else if (what < 95) {
                    lock.notify();
                } else {
                    lock.notifyAll();
                }
            } catch (InterruptedException e) {
                interrupted[own] += what >= 65 ? 1 : 0;
            }
        }
        if (what < 4) {
            threads.get(random.nextInt(threads.size() / 2) * 2 + 1).interrupt();
        }
    }

    void start(int virtual, int platform) throws Exception {
        for (int i = 0; i < virtual + platform; i++) {
            int own = i;
            Runnable what = () -> run(own);
            if (i < virtual) {
                threads.add(Virtual.virtual("storm-" + i, what));
            } else {
                threads.add(new Thread(what, "platform-" + i));
                threads.get(i).start();
            }
        }
    }

    String json() {
        StringJoiner all = new StringJoiner(", ", "{", "}");
        for (int i = 0; i < waits.length; i++) {
            all.add("\"" + threads.get(i).getName() + "\": [" + waits[i] + ", " + interrupted[i] + "]");
        }
        return all.toString();
    }

    public static void main(String[] arguments) throws Exception {
        int virtual = Integer.parseInt(arguments[0]), platform = Integer.parseInt(arguments[1]);
        VirtualStorm storm = new VirtualStorm(virtual + platform, Integer.parseInt(arguments[2]));

        storm.start(virtual, platform);
        System.out.println("ready " + ProcessHandle.current().pid());
        System.in.read();
        storm.go.countDown();
        Virtual.join(storm.threads);
        System.out.println(storm.json());
        System.in.read();
        System.in.read();
    }
}
