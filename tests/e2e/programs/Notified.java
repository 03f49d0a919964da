import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.locks.LockSupport;

/**
 * Contentions that are counted here: "go WAITS PLAIN MS" has the thread "waiter" wait so often for a monitor whose owner
 * notifies it and then keeps the monitor for MS; then the thread "plain" is so often blocked on another one. How long the
 * waiter was blocked at least (from after the notify to before the release) and at most (from before the notify to when it
 * was back) goes to stdout.
 */
public class Notified {
    static final class Lock { }
    static final class Plain { }

    static final Lock lock = new Lock();
    static final Plain plain = new Plain();
    static volatile int back;
    static volatile long backNs;

    static void hold(long ms) {
        for (long end = System.nanoTime() + ms * 1_000_000, left; (left = end - System.nanoTime()) > 0;)
            LockSupport.parkNanos(left);
    }

    static void until(Thread thread, Thread.State state) {
        while (thread.getState() != state)
            LockSupport.parkNanos(100_000);
    }

    static String waits(int count, long ms) throws Exception {
        long least = 0, most = 0;
        back = 0;
        Thread waiter = new Thread(() -> {
            synchronized (lock) {
                for (int i = 0; i < count; i++) {
                    try {
                        lock.wait();
                    } catch (InterruptedException e) {
                        return;
                    }
                    backNs = System.nanoTime();
                    back = i + 1;
                }
            }
        }, "waiter");
        waiter.start();
        for (int i = 0; i < count; i++) {
            until(waiter, Thread.State.WAITING);
            long before, after, last;
            synchronized (lock) {
                before = System.nanoTime();
                lock.notify();
                after = System.nanoTime();
                hold(ms);
                last = System.nanoTime();
            }
            while (back != i + 1)
                LockSupport.parkNanos(100_000);
            least += last - after;
            most += backNs - before;
        }
        waiter.join();
        return "{\"least\": " + least + ", \"most\": " + most + "}";
    }

    static void plain(int count, long ms) throws Exception {
        for (int i = 0; i < count; i++) {
            Thread thread = new Thread(() -> {
                synchronized (plain) {
                    back++;
                }
            }, "plain");
            synchronized (plain) {
                thread.start();
                until(thread, Thread.State.BLOCKED);
                hold(ms);
            }
            thread.join();
        }
    }

    public static void main(String[] args) throws Exception {
        var in = new BufferedReader(new InputStreamReader(System.in));
        waits(1, 1);
        plain(1, 1);
        System.out.println("ready " + ProcessHandle.current().pid());
        for (String line; (line = in.readLine()) != null;) {
            String[] words = line.split(" ");
            long ms = Long.parseLong(words[3]);
            String said = waits(Integer.parseInt(words[1]), ms);
            plain(Integer.parseInt(words[2]), ms);
            System.out.println(said);
        }
    }
}
