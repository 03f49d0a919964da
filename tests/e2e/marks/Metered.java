import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.locks.LockSupport;

import spoor.Mark;

/**
 * What a server of metrics has to get over.
 *
 * "go ROUNDS THREADS COLLECTIONS" has each round's threads, which are new ones, want a lock whose class a loader of its own
 * has loaded, several times, hold it for some milliseconds within the span "use", and end; between the rounds the heap is
 * collected so often, and the loaders go with their classes.
 *
 * "locks CLASSES LOCKS" makes so many classes, and so many locks of them, on each of which a thread is blocked once.
 *
 * How long the locks were waited for, by the threads' own clocks, goes to stdout.
 */
public class Metered {
    public static class Table { }

    public static class Cxxxxx { }

    static class Fresh extends ClassLoader {
        static byte[] code(String name) throws Exception {
            try (var in = Metered.class.getResourceAsStream(name + ".class")) {
                return in.readAllBytes();
            }
        }

        Object table() throws Exception {
            byte[] code = code("Metered$Table");
            return defineClass("Metered$Table", code, 0, code.length).getDeclaredConstructor().newInstance();
        }

        /** Metered$Cxxxxx under another name of the same length. */
        Class<?> numbered(int n) throws Exception {
            String name = String.format("C%05d", n);
            String code = new String(code("Metered$Cxxxxx"), StandardCharsets.ISO_8859_1).replace("Cxxxxx", name);
            byte[] bytes = code.getBytes(StandardCharsets.ISO_8859_1);
            return defineClass("Metered$" + name, bytes, 0, bytes.length);
        }
    }

    static final long MS = 1_000_000;
    /* What a thread's first contention takes two recorders to note, 0.2 ms each, is to be little beside its time. */
    static final long HOLD_NS = 2 * MS;
    static final int USES = 5;
    static final int AT_ONCE = 50;

    static void hold(long ns) {
        for (long end = System.nanoTime() + ns, left; (left = end - System.nanoTime()) > 0;)
            LockSupport.parkNanos(left);
    }

    static long use(Object table) {
        long waited = 0;
        Mark.begin("use");
        for (int i = 0; i < USES; i++) {
            long begin = System.nanoTime();
            synchronized (table) {
                waited += System.nanoTime() - begin;
                hold(HOLD_NS);
            }
        }
        Mark.end();
        return waited;
    }

    static void awaitBlocked(Thread[] threads) {
        for (Thread thread : threads)
            while (thread.getState() != Thread.State.BLOCKED)
                Thread.yield();
    }

    static long round(int count) throws Exception {
        Object table = new Fresh().table();
        Thread[] threads = new Thread[count];
        long[] waited = new long[count];
        for (int i = 0; i < count; i++) {
            int n = i;
            threads[i] = new Thread(() -> waited[n] = use(table), "short-" + i);
        }
        long sum = 0;
        synchronized (table) {
            for (Thread thread : threads)
                thread.start();
            awaitBlocked(threads);
        }
        for (int i = 0; i < count; i++) {
            threads[i].join();
            sum += waited[i];
        }
        return sum;
    }

    /** A thread that takes one lock after the other, as they are given to it. */
    static class Taker extends Thread {
        volatile Object lock;
        long waited;

        Taker(int n) {
            super("taker-" + n);
            setDaemon(true);
        }

        @Override
        public void run() {
            for (;;) {
                Object wanted;
                while ((wanted = lock) == null)
                    LockSupport.park();
                long begin = System.nanoTime();
                synchronized (wanted) {
                    waited += System.nanoTime() - begin;
                }
                lock = null;
            }
        }
    }

    /** Holds locks from i on, one within the other, until there is a taker blocked on each. */
    static void holdAll(Object[] locks, int i, Taker[] takers) {
        if (i < locks.length) {
            synchronized (locks[i]) {
                holdAll(locks, i + 1, takers);
            }
            return;
        }
        for (int k = 0; k < takers.length; k++) {
            takers[k].lock = locks[k];
            LockSupport.unpark(takers[k]);
        }
        awaitBlocked(takers);
        hold(10 * HOLD_NS); /* a thread spins before it goes to sleep, and may wait for a CPU on its way there */
    }

    static long locks(int classes, int count) throws Exception {
        Fresh loader = new Fresh();
        Class<?>[] made = new Class<?>[classes];
        Object[] all = new Object[count];
        Taker[] takers = new Taker[AT_ONCE];
        for (int i = 0; i < classes; i++)
            made[i] = loader.numbered(i);
        for (int i = 0; i < count; i++) {
            all[i] = made[i % classes].getDeclaredConstructor().newInstance();
            System.identityHashCode(all[i]); /* it has a name that stays */
        }
        for (int i = 0; i < AT_ONCE; i++)
            (takers[i] = new Taker(i)).start();
        for (int i = 0; i + AT_ONCE <= count; i += AT_ONCE) {
            holdAll(java.util.Arrays.copyOfRange(all, i, i + AT_ONCE), 0, takers);
            for (Taker taker : takers)
                while (taker.lock != null)
                    Thread.yield();
        }
        long sum = 0;
        for (Taker taker : takers)
            sum += taker.waited;
        return sum;
    }

    static long rounds(int rounds, int threads, int collections) throws Exception {
        long sum = 0;
        for (int i = 0; i < rounds; i++) {
            sum += round(threads);
            if (i * collections / rounds != (i + 1) * collections / rounds)
                System.gc();
        }
        return sum;
    }

    public static void main(String[] args) throws Exception {
        var in = new BufferedReader(new InputStreamReader(System.in));
        round(2);
        System.out.println("ready " + ProcessHandle.current().pid());
        for (String line; (line = in.readLine()) != null;) {
            String[] words = line.split(" ");
            int[] n = java.util.Arrays.stream(words).skip(1).mapToInt(Integer::parseInt).toArray();
            long sum = words[0].equals("go") ? rounds(n[0], n[1], n[2]) : locks(n[0], n[1]);
            var classes = java.lang.management.ManagementFactory.getClassLoadingMXBean();
            System.out.println("{\"blocked\": " + sum + ", \"unloaded\": " + classes.getUnloadedClassCount() + "}");
        }
    }
}
