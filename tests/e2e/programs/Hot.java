import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.zip.CRC32;

/**
 * Threads that spend known shares of their CPU time in methods of theirs: hot SECONDS THREADS takes turns of 5 to 25 ms in
 * each of them, lockstep SECONDS PERIOD_US goes from one to the other at fixed times of the thread's own clock, bursts MS
 * PERIOD_US does so and sleeps six times as long after each period, locked
 * SECONDS MS works for MS with a lock for which another thread waits, and for twice as long without it, deep, returns or
 * copies SECONDS FRAMES works below so many frames, with no calls, by calls of a small method, or by copying arrays. Begins at
 * the first line of input, and answers {THREAD: {METHOD: ns}} by the thread's own clock; total is all that the thread ran.
 */
public class Hot {
    interface Step {
        long step(long x);
    }

    static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
    static final String[] METHODS = {"arithmetic", "recursion", "megamorphic", "arraycopy", "checksum", "collections"};
    static final Step[] STEPS = {x -> x * 31 + 7, x -> x ^ x >>> 3, x -> x + 11, x -> x * 17 - 5, x -> ~x};
    static volatile long sink;

    static long now() {
        return CLOCK.getCurrentThreadCpuTime();
    }

    static long arithmetic(int n) {
        long x = n;
        for (int i = 0; i < n * 2000; i++)
            x = x * 6364136223846793005L + 1442695040888963407L;
        return x;
    }

    static long down(int depth, int n) {
        return depth == 0 ? arithmetic(n) : down(depth - 1, n) + depth;
    }

    static long recursion(int n) {
        long x = 0;
        for (int i = 0; i < 4; i++)
            x += down(50, n / 4 + 1);
        return x;
    }

    static long megamorphic(int n) {
        long x = n;
        for (int i = 0; i < n * 200; i++)
            x = STEPS[i % STEPS.length].step(x);
        return x;
    }

    static long arraycopy(int n) {
        byte[] from = new byte[8192], to = new byte[8192];
        for (int i = 0; i < n * 8; i++) {
            from[i & 8191]++;
            System.arraycopy(from, i & 15, to, 0, 8000);
        }
        return to[17];
    }

    static long checksum(int n) {
        CRC32 crc = new CRC32();
        byte[] data = new byte[4096];
        for (int i = 0; i < n * 4; i++) {
            data[i & 4095]++;
            crc.update(data, 0, data.length);
        }
        return crc.getValue();
    }

    static long collections(int n) {
        List<Long> list = new ArrayList<>();
        for (long i = 0; i < n * 40L; i++)
            list.add(i * 7919 % 1009);
        list.sort(null);
        return list.get(list.size() / 2);
    }

    static long work(int method, int n) {
        switch (method) {
        case 0:
            return arithmetic(n);
        case 1:
            return recursion(n);
        case 2:
            return megamorphic(n);
        case 3:
            return arraycopy(n);
        case 4:
            return checksum(n);
        default:
            return collections(n);
        }
    }

    static final StringBuilder said = new StringBuilder("{");

    static synchronized void tell(String[] methods, long[] spent) {
        said.append(said.length() > 1 ? ", " : "").append("\"" + Thread.currentThread().getName() + "\": {");
        for (int i = 0; i < methods.length; i++)
            said.append("\"" + methods[i] + "\": " + spent[i] + ", ");
        said.append("\"total\": " + now() + "}");
    }

    static void hot(long seconds) {
        long[] spent = new long[METHODS.length];
        long begin = now(), t = begin;
        while (t - begin < seconds * 1_000_000_000L)
            for (int i = 0; i < METHODS.length; i++) {
                long until = t + (5 + 4 * i) * 1_000_000L, from = t;
                while (t < until) {
                    sink += work(i, 400);
                    t = now();
                }
                spent[i] += t - from;
            }
        tell(METHODS, spent);
    }

    static void early(long until) {
        while (now() < until)
            sink++;
    }

    static void late(long until) {
        while (now() < until)
            sink++;
    }

    static void lockstep(long seconds, long period) {
        long begin = now(), at = begin, early = 0, late = 0;
        while (at - begin < seconds * 1_000_000_000L) {
            early(at + period * 3 / 10);
            late(at + period);
            early += period * 3 / 10;
            late += period - period * 3 / 10;
            at += period;
        }
        tell(new String[] {"early", "late"}, new long[] {early, late});
    }

    static void bursts(long ms, long period) {
        long begin = now(), early = 0, late = 0;
        while (now() - begin < ms * 1_000_000L) {
            long at = now();
            early(at + period * 3 / 10);
            long half = now();
            late(at + period);
            early += half - at;
            late += now() - half;
            LockSupport.parkNanos(6 * period);
        }
        tell(new String[] {"early", "late"}, new long[] {early, late});
    }

    static long small(long x) {
        return x + 1;
    }

    static long returns(int n) {
        long x = 0;
        for (int i = 0; i < n * 500; i++)
            x = small(x);
        return x;
    }

    static long below(int depth, String what) {
        if (depth > 0)
            return below(depth - 1, what) + depth;
        return what.equals("deep") ? arithmetic(500) : what.equals("returns") ? returns(200) : arraycopy(500);
    }

    static void deep(long seconds, int frames, String what) {
        long begin = now();
        while (now() - begin < seconds * 1_000_000_000L)
            sink += below(frames, what);
        tell(new String[0], new long[0]);
    }

    static class Bench {
    }

    static final Object bench = new Bench();
    static volatile boolean taken, over;

    static void waiter() {
        while (!over)
            if (taken)
                synchronized (bench) {
                    taken = false;
                }
            else
                Thread.onSpinWait();
    }

    static void spin(long until) {
        while (now() < until)
            sink += arithmetic(10);
    }

    /** What it runs with the lock counts from when the other thread is blocked on it. */
    static void locked(long seconds, long ms) throws Exception {
        Thread other = new Thread(Hot::waiter, "waiter");
        long begin = now(), at = begin, contended = 0;
        other.start();
        while (at - begin < seconds * 1_000_000_000L) {
            synchronized (bench) {
                taken = true;
                while (other.getState() != Thread.State.BLOCKED)
                    Thread.sleep(1);
                at = now();
                spin(at + ms * 1_000_000);
                contended += now() - at;
            }
            at = now();
            spin(at + 2 * ms * 1_000_000);
            at = now();
        }
        over = true;
        other.join();
        tell(new String[] {"contended"}, new long[] {contended});
    }

    public static void main(String[] args) throws Exception {
        long seconds = Long.parseLong(args[1]), last = Long.parseLong(args[2]);
        boolean hot = args[0].equals("hot");
        System.out.println("ready " + ProcessHandle.current().pid());
        System.in.read();
        Thread[] threads = new Thread[hot ? (int) last : 1];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                try {
                    if (hot)
                        hot(seconds);
                    else if (args[0].equals("locked"))
                        locked(seconds, last);
                    else if (args[0].equals("deep") || args[0].equals("returns") || args[0].equals("copies"))
                        deep(seconds, (int) last, args[0]);
                    else if (args[0].equals("bursts"))
                        bursts(seconds, last * 1000);
                    else
                        lockstep(seconds, last * 1000);
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }, "hot-" + i);
            threads[i].start();
        }
        for (Thread t : threads)
            t.join();
        System.out.println(said.append("}"));
        while (System.in.read() >= 0) {
        }
    }
}
