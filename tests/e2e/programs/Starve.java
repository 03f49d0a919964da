import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * Virtual threads on two carriers (-Djdk.virtualThreadScheduler.parallelism=2): one sleeps with a monitor that another
 * one wants, and up to JDK 23 both keep their carriers: a third one that is ready does not run. Prints as JSON, by the
 * program's own clocks, for how long it did not run (starved), and for how long the others were blocked (pinned).
 * Argument: rounds in which that was so.
 */
public class Starve {
    static final class Held { }

    static final int HOLD_MS = 30;
    static final long GIVE_UP_NS = 2_000_000_000L;

    final Held held = new Held();
    volatile long sleeping, wanted, slept, ran;
    volatile boolean blocked;

    /** False: the pool of JDK 21 has not woken the second carrier, which it may miss while that one goes to rest. */
    boolean round() throws Exception {
        blocked = false;
        slept = 0;
        CountDownLatch has = new CountDownLatch(1), asked = new CountDownLatch(1);
        Thread holder = Virtual.virtual("sleeper", () -> {
            synchronized (held) {
                has.countDown();
                // On a busy machine the other carrier gets a CPU late. Running is not being pinned.
                long until = System.nanoTime() + GIVE_UP_NS;
                while (!blocked && System.nanoTime() < until) {
                    Thread.onSpinWait();
                }
                if (!blocked) {
                    return;
                }
                sleeping = System.nanoTime();
                sleep(HOLD_MS);
                slept = System.nanoTime();
            }
        });
        has.await();
        Thread waiter = Virtual.virtual("wanter", () -> {
            wanted = System.nanoTime();
            synchronized (held) {
                asked.countDown();
            }
        });
        while (waiter.getState() != Thread.State.BLOCKED && asked.getCount() > 0) {
            LockSupport.parkNanos(100_000);
        }
        blocked = true;
        Thread ready = Virtual.virtual("starved", () -> ran = System.nanoTime());
        long since = System.nanoTime();
        holder.join();
        waiter.join();
        ready.join();
        if (slept == 0) {
            return false;
        }
        starvedNs += ran - since;
        pinnedNs += slept - Math.max(wanted, sleeping);
        return true;
    }

    static void sleep(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    long starvedNs, pinnedNs;

    public static void main(String[] arguments) throws Exception {
        int rounds = Integer.parseInt(arguments[0]);
        Starve s = new Starve();

        s.round();
        s.starvedNs = s.pinnedNs = 0;
        System.out.println("ready " + ProcessHandle.current().pid());
        System.in.read();
        for (int i = 0; i < rounds; ) {
            i += s.round() ? 1 : 0;
        }
        System.out.println("{\"starved\": " + s.starvedNs + ", \"pinned\": " + s.pinnedNs + "}");
        System.in.read();
        System.in.read();
    }
}
