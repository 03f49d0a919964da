import java.util.Scanner;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * Very many threads, which are there before they are told to go on; then each enters one monitor that all want, so many
 * times, and parks once. Arguments: threads, times. Prints as JSON how often and for how long they waited for the
 * monitor by their own clocks, and how many parked.
 */
public class Crowd {
    static final class Wanted { }
    static final class Seat { }

    static final long HOLD_NS = 20_000;
    static final Wanted wanted = new Wanted();
    static final Seat seat = new Seat();
    static final CountDownLatch begin = new CountDownLatch(1);
    static final LongAdder waits = new LongAdder();
    static final LongAdder waitNs = new LongAdder();
    static final LongAdder parks = new LongAdder();
    static volatile boolean home;

    static void enter() {
        long before = System.nanoTime();
        synchronized (wanted) {
            long in = System.nanoTime();
            waits.increment();
            waitNs.add(in - before);
            LockSupport.parkNanos(HOLD_NS);
        }
    }

    static void run(int times, CountDownLatch seated) {
        try {
            begin.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        for (int i = 0; i < times; i++) {
            enter();
        }
        seated.countDown();
        while (!home) {
            LockSupport.park(seat);
        }
        parks.increment();
    }

    public static void main(String[] args) throws InterruptedException {
        Thread[] threads = new Thread[Integer.parseInt(args[0])];
        int times = Integer.parseInt(args[1]);
        CountDownLatch seated = new CountDownLatch(threads.length);
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> run(times, seated), "one-" + i);
            threads[i].start();
        }
        Scanner in = new Scanner(System.in);
        System.out.println("ready " + ProcessHandle.current().pid());
        in.nextLine();
        begin.countDown();
        seated.await();
        for (Thread t : threads) { // all of them are really parked
            while (t.getState() != Thread.State.WAITING) {
                Thread.sleep(1);
            }
        }
        Thread.sleep(20);
        home = true;
        for (Thread t : threads) {
            LockSupport.unpark(t);
        }
        for (Thread t : threads) {
            t.join();
        }
        System.out.printf("{\"waits\":%d,\"wait_ns\":%d,\"parks\":%d}%n", waits.sum(), waitNs.sum(), parks.sum());
        in.close();
    }
}
