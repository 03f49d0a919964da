import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.locks.LockSupport;

import spoor.Mark;

/**
 * What a server of metrics has to get over: "go ROUNDS THREADS COLLECTIONS" has each round's threads, which are new ones, want
 * a lock whose class a loader of its own has loaded, hold it for a millisecond within the span "use", and end; between the
 * rounds the heap is collected so often, and the loaders go with their classes. How long the lock was waited for, by the
 * threads' own clocks, goes to stdout.
 */
public class Metered {
    public static class Table { }

    static class Fresh extends ClassLoader {
        Object table() throws Exception {
            byte[] code;
            try (var in = Metered.class.getResourceAsStream("Metered$Table.class")) {
                code = in.readAllBytes();
            }
            return defineClass("Metered$Table", code, 0, code.length).getDeclaredConstructor().newInstance();
        }
    }

    static final long MS = 1_000_000;

    static void hold(long ns) {
        for (long end = System.nanoTime() + ns, left; (left = end - System.nanoTime()) > 0;)
            LockSupport.parkNanos(left);
    }

    static long use(Object table) {
        Mark.begin("use");
        long begin = System.nanoTime();
        synchronized (table) {
            begin = System.nanoTime() - begin;
            hold(MS);
        }
        Mark.end();
        return begin;
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
            for (Thread thread : threads)
                while (thread.getState() != Thread.State.BLOCKED)
                    Thread.onSpinWait();
        }
        for (int i = 0; i < count; i++) {
            threads[i].join();
            sum += waited[i];
        }
        return sum;
    }

    public static void main(String[] args) throws Exception {
        var in = new BufferedReader(new InputStreamReader(System.in));
        round(2);
        System.out.println("ready " + ProcessHandle.current().pid());
        for (String line; (line = in.readLine()) != null;) {
            String[] words = line.split(" ");
            int rounds = Integer.parseInt(words[1]), threads = Integer.parseInt(words[2]);
            int collections = Integer.parseInt(words[3]);
            long sum = 0;
            for (int i = 0; i < rounds; i++) {
                sum += round(threads);
                if (i * collections / rounds != (i + 1) * collections / rounds)
                    System.gc();
            }
            var classes = java.lang.management.ManagementFactory.getClassLoadingMXBean();
            System.out.println("{\"blocked\": " + sum + ", \"unloaded\": " + classes.getUnloadedClassCount() + "}");
        }
    }
}
