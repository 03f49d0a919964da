/**
 * A thread that keeps its CPU while it has a lock, and another one that wants it: "go ROUNDS MS" has it do so, for so
 * long each time. How long was waited for the lock in all goes to stdout, by the waiter's own clock, in ns.
 */
public class Keeps {
    static final class Lock {}

    static final Lock lock = new Lock();
    static volatile int has; // rounds in which the lock was taken

    static void keep(long ns) {
        for (long end = System.nanoTime() + ns; System.nanoTime() < end;)
            Thread.onSpinWait();
    }

    static void holder(int rounds, long ns) {
        for (int i = 1; i <= rounds; i++) {
            synchronized (lock) {
                has = i;
                keep(ns);
            }
            while (has > 0)
                Thread.onSpinWait();
        }
    }

    static String go(int rounds, long ns) throws Exception {
        Thread holder = new Thread(() -> holder(rounds, ns), "holder");
        long waited = 0;
        holder.start();
        for (int i = 1; i <= rounds; i++) {
            while (has != i)
                Thread.onSpinWait();
            long begin = System.nanoTime();
            synchronized (lock) {
                waited += System.nanoTime() - begin;
                has = 0;
            }
        }
        holder.join();
        return String.valueOf(waited);
    }

    public static void main(String[] args) throws Exception {
        var in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
        System.out.println("ready " + ProcessHandle.current().pid());
        for (String line; (line = in.readLine()) != null;) {
            String[] words = line.split(" ");
            System.out.println(go(Integer.parseInt(words[1]), Long.parseLong(words[2]) * 1_000_000));
        }
    }
}
