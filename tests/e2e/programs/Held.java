import java.util.concurrent.locks.LockSupport;

/**
 * Three threads that want one lock and three that want another: "go TABLE_US SHELF_US MS" has them hold each for so long,
 * again and again. How long each was waited for goes to stdout, by the waiters' own clocks.
 */
public class Held {
    static final class Table {}
    static final class Shelf {}

    static final Table table = new Table();
    static final Shelf shelf = new Shelf();
    static final long US = 1000, MS = 1_000_000;
    static final int THREADS = 3;

    static void hold(long ns) {
        for (long end = System.nanoTime() + ns, left; (left = end - System.nanoTime()) > 0;)
            LockSupport.parkNanos(left);
    }

    static long useTable(long ns) {
        long begin = System.nanoTime();
        synchronized (table) {
            begin = System.nanoTime() - begin;
            hold(ns);
        }
        return begin;
    }

    static long useShelf(long ns) {
        long begin = System.nanoTime();
        synchronized (shelf) {
            begin = System.nanoTime() - begin;
            hold(ns);
        }
        return begin;
    }

    static String go(long tableNs, long shelfNs, long ns) throws Exception {
        Thread[] threads = new Thread[2 * THREADS];
        long[] waited = new long[threads.length];
        long end = System.nanoTime() + ns;
        for (int i = 0; i < threads.length; i++) {
            int n = i;
            threads[i] = new Thread(() -> {
                while (System.nanoTime() < end) {
                    waited[n] += n < THREADS ? useTable(tableNs) : useShelf(shelfNs);
                    hold(MS);
                }
            }, (n < THREADS ? "table-" : "shelf-") + n % THREADS);
            threads[i].start();
        }
        long[] sums = new long[2];
        for (int i = 0; i < threads.length; i++) {
            threads[i].join();
            sums[i / THREADS] += waited[i];
        }
        return "{\"table\": " + sums[0] + ", \"shelf\": " + sums[1] + "}";
    }

    public static void main(String[] args) throws Exception {
        var in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
        System.out.println("ready " + ProcessHandle.current().pid());
        for (String line; (line = in.readLine()) != null;) {
            String[] words = line.split(" ");
            System.out.println(go(Long.parseLong(words[1]) * US, Long.parseLong(words[2]) * US,
                                  Long.parseLong(words[3]) * MS));
        }
    }
}
