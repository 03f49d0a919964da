import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that sleep, park, wait, block and compute, one after the other, and write down when: by
 * System.nanoTime, which is CLOCK_MONOTONIC. Waits for a line on stdin before it begins; prints what
 * was when as JSON, and waits for the end of stdin.
 */
public class Course {
    static final class Table { }

    static final class Queue { }

    static final int MS = 40;
    static final Table table = new Table();
    static final Queue queue = new Queue();
    static final ReentrantLock reentrant = new ReentrantLock();
    static final List<String> rows = Collections.synchronizedList(new ArrayList<>());

    interface Act {
        void run() throws InterruptedException;
    }

    /** What a thread did from when to when; who else had to do with it. */
    static void act(String what, String other, Act act) throws InterruptedException {
        long from = System.nanoTime();
        act.run();
        long to = System.nanoTime();
        rows.add(String.format("{\"what\":\"%s\",\"thread\":\"%s\",\"other\":\"%s\",\"from\":%d,\"to\":%d}", what,
            Thread.currentThread().getName(), other, from, to));
    }

    static void compute(long ms) {
        long end = System.nanoTime() + ms * 1_000_000;
        while (System.nanoTime() < end) {
            Thread.onSpinWait();
        }
    }

    static Thread start(String name, Act act) {
        Thread t = new Thread(() -> {
            try {
                act.run();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }, name);
        t.start();
        return t;
    }

    static void await(Thread t, Thread.State state) {
        while (t.getState() != state) {
            Thread.onSpinWait();
        }
    }

    static void locks() throws InterruptedException {
        CountDownLatch held = new CountDownLatch(2), blocked = new CountDownLatch(1);
        Thread holder = start("holder", () -> {
            reentrant.lock();
            synchronized (table) {
                held.countDown();
                blocked.await();
                act("sleep", "", () -> Thread.sleep(MS));
                compute(MS);
            }
            reentrant.unlock();
        });
        while (held.getCount() > 1) {
            Thread.onSpinWait();
        }
        Thread waiter = start("waiter", () -> act("lock", "holder", () -> {
            synchronized (table) {
                held.countDown();
            }
        }));
        Thread parked = start("parked", () -> act("juc", "holder", () -> {
            reentrant.lock();
            reentrant.unlock();
        }));
        await(waiter, Thread.State.BLOCKED);
        await(parked, Thread.State.WAITING);
        blocked.countDown();
        for (Thread t : new Thread[] {holder, waiter, parked}) {
            t.join();
        }
    }

    static void waits() throws InterruptedException {
        AtomicBoolean woken = new AtomicBoolean();
        Thread consumer = start("consumer", () -> {
            synchronized (queue) {
                act("wait", "producer", queue::wait);
            }
            woken.set(true);
            act("park", "producer", LockSupport::park);
        });
        await(consumer, Thread.State.WAITING);
        Thread producer = start("producer", () -> {
            compute(MS);
            synchronized (queue) {
                queue.notify();
                compute(MS / 2);
            }
            while (!woken.get()) {
                Thread.onSpinWait();
            }
            await(consumer, Thread.State.WAITING);
            compute(MS);
            LockSupport.unpark(consumer);
        });
        producer.join();
        consumer.join();
    }

    public static void main(String[] args) throws InterruptedException {
        Scanner in = new Scanner(System.in);
        Thread idle = new Thread(LockSupport::park, "idle");

        idle.setDaemon(true);
        idle.start();
        System.out.println("ready " + ProcessHandle.current().pid());
        in.nextLine();
        for (int i = 0; i < 3; i++) {
            locks();
            waits();
        }
        System.gc();
        System.out.println(rows);
        in.hasNextLine();
    }
}
