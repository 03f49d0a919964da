import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.CountDownLatch;

/**
 * Threads that want one monitor, whose owner sleeps meanwhile, and what ThreadMXBean counts of it: as JSON, by thread,
 * how often it was blocked. Arguments: threads; how often each takes the monitor.
 */
public class Blocked {
    static final Object LOCK = new Object();
    static final ThreadMXBean BEANS = ManagementFactory.getThreadMXBean();

    static long blockedCount() {
        return BEANS.getThreadInfo(Thread.currentThread().getId()).getBlockedCount();
    }

    /** How often the thread was blocked meanwhile. Before, threads that initialise the same class are, for a moment. */
    static long hold(int times, CountDownLatch begin) {
        try {
            begin.await();
            long before = blockedCount();
            for (int i = 0; i < times; i++) {
                synchronized (LOCK) {
                    Thread.sleep(2);
                }
            }
            return blockedCount() - before;
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        int times = Integer.parseInt(args[1]);
        Thread[] threads = new Thread[Integer.parseInt(args[0])];
        CountDownLatch begin = new CountDownLatch(1);
        CountDownLatch counted = new CountDownLatch(threads.length);
        blockedCount(); // its classes are there now
        long[] blocked = new long[threads.length];
        for (int i = 0; i < threads.length; i++) {
            int own = i;
            threads[i] = new Thread(() -> {
                blocked[own] = hold(times, begin);
                counted.countDown();
            }, "blocked-" + i);
            threads[i].start();
        }
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready " + ProcessHandle.current().pid());
        in.readLine();
        begin.countDown();
        counted.await();
        StringBuilder s = new StringBuilder("{");
        for (int i = 0; i < threads.length; i++) {
            s.append(i == 0 ? "" : ",").append("\"blocked-").append(i).append("\":").append(blocked[i]);
        }
        System.out.println(s.append('}'));
        in.readLine();
    }
}
