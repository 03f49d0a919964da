import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Phases US PERCENT PHASE_MS COUNT: every ten milliseconds four threads want one lock, and hold it for US microseconds; in each
 * second phase for PERCENT percent longer, so that they wait by as much longer. A line per phase: its begin, in ns of the
 * monotonic clock, and how long was waited by then, by the waiters' own clocks.
 */
public class Phases {
    static final Object lock = new Object();
    static final long TICK_NS = 10_000_000;
    static volatile long holdNs;
    static final AtomicLong waitedNs = new AtomicLong();
    static volatile boolean done;

    static void pause(long ns) {
        for (long end = System.nanoTime() + ns, left; (left = end - System.nanoTime()) > 0;)
            LockSupport.parkNanos(left);
    }

    static void work() {
        long begin = System.nanoTime();
        synchronized (lock) {
            waitedNs.addAndGet(System.nanoTime() - begin);
            pause(holdNs);
        }
    }

    public static void main(String[] args) throws Exception {
        long baseNs = Long.parseLong(args[0]) * 1000, percent = Long.parseLong(args[1]), phaseMs = Long.parseLong(args[2]);
        holdNs = baseNs;
        for (int i = 0; i < 4; i++)
            new Thread(() -> {
                while (!done) {
                    work();
                    pause(TICK_NS - System.nanoTime() % TICK_NS);
                }
            }, "worker-" + i).start();
        Thread.sleep(2000);
        for (int phase = 0; phase < Integer.parseInt(args[3]); phase++) {
            holdNs = phase % 2 == 0 ? baseNs : baseNs + baseNs * percent / 100;
            System.out.println(System.nanoTime() + " " + waitedNs.get());
            System.out.flush();
            Thread.sleep(phaseMs);
        }
        System.out.println(System.nanoTime() + " " + waitedNs.get());
        done = true;
    }
}
