import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Virtual threads (JDK 21 and later; by reflection, as JDK 17 compiles this) that block on a monitor, and wait on
 * another one, so many at a time that it is known how often each does. Prints as JSON for how long by their own clocks.
 * Arguments: rounds, waiters.
 */
public class Virtual {
    static final class Contended { }
    static final class Waited { }

    static final int HOLD_MS = 4;

    final Contended contended = new Contended();
    final Waited waited = new Waited();
    final int waiters;
    final long[] blockedNs, waitNs;
    final ReentrantLock lock = new ReentrantLock();
    final AtomicLong lockNs = new AtomicLong();
    final long[] ids;
    int notified;
    long holderId;

    Virtual(int waiters) {
        this.waiters = waiters;
        blockedNs = new long[waiters];
        waitNs = new long[waiters];
        ids = new long[waiters];
    }

    static Thread virtual(String name, Runnable what) throws ReflectiveOperationException {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder");

        type.getMethod("name", String.class).invoke(builder, name);
        return (Thread) type.getMethod("start", Runnable.class).invoke(builder, what);
    }

    static void awaitState(List<Thread> threads, Thread.State... wanted) {
        for (Thread t : threads) {
            while (!List.of(wanted).contains(t.getState())) {
                LockSupport.parkNanos(100_000);
            }
        }
    }

    void block(int i) {
        long before = System.nanoTime();
        synchronized (contended) {
            blockedNs[i] += System.nanoTime() - before;
        }
    }

    void await(int i) {
        synchronized (waited) {
            long before = System.nanoTime();
            int turn = notified;
            while (notified == turn) {
                try {
                    waited.wait();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
            waitNs[i] += System.nanoTime() - before;
        }
    }

    /** The holder is a virtual thread, too, which sleeps, and so is on no carrier, or is pinned there. */
    void contend() throws Exception {
        CountDownLatch held = new CountDownLatch(1), all = new CountDownLatch(1);
        Thread holder = virtual("holder", () -> {
            synchronized (contended) {
                held.countDown();
                try {
                    while (!all.await(HOLD_MS, java.util.concurrent.TimeUnit.MILLISECONDS)) {
                        continue;
                    }
                    Thread.sleep(HOLD_MS);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        });
        held.await();
        holderId = holder.getId();
        List<Thread> threads = start(this::block);
        awaitState(threads, Thread.State.BLOCKED);
        all.countDown();
        join(threads);
        holder.join();
    }

    void waitAndNotify() throws Exception {
        List<Thread> threads = start(this::await);
        awaitState(threads, Thread.State.WAITING);
        LockSupport.parkNanos(HOLD_MS * 1_000_000L);
        synchronized (waited) {
            notified++;
            waited.notifyAll();
        }
        join(threads);
    }

    /** Platform threads want a lock of java.util.concurrent that a virtual thread has, which sleeps. */
    void lock() throws Exception {
        CountDownLatch held = new CountDownLatch(1), all = new CountDownLatch(1);
        Thread holder = virtual("owner", () -> {
            lock.lock();
            try {
                held.countDown();
                all.await();
                Thread.sleep(HOLD_MS);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            } finally {
                lock.unlock();
            }
        });
        held.await();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < waiters; i++) {
            threads.add(new Thread(this::lockAndUnlock, "platform-" + i));
            threads.get(i).start();
        }
        while (lock.getQueueLength() < waiters) {
            LockSupport.parkNanos(100_000);
        }
        awaitState(threads, Thread.State.WAITING);
        all.countDown();
        join(threads);
        holder.join();
    }

    void lockAndUnlock() {
        long before = System.nanoTime();
        lock.lock();
        try {
            lockNs.addAndGet(System.nanoTime() - before);
        } finally {
            lock.unlock();
        }
    }

    List<Thread> start(java.util.function.IntConsumer what) throws Exception {
        List<Thread> threads = new ArrayList<>();

        for (int i = 0; i < waiters; i++) {
            int own = i;
            threads.add(virtual("waiter-" + i, () -> what.accept(own)));
            ids[i] = threads.get(i).getId();
        }
        return threads;
    }

    static void join(List<Thread> threads) throws InterruptedException {
        for (Thread t : threads) {
            t.join();
        }
    }

    static String json(long[] numbers) {
        return java.util.Arrays.toString(numbers);
    }

    public static void main(String[] arguments) throws Exception {
        int rounds = Integer.parseInt(arguments[0]);
        Virtual v = new Virtual(Integer.parseInt(arguments[1]));

        v.contend(); // all of it is loaded, and its carriers are there
        v.waitAndNotify();
        v.lock();
        v.lockNs.set(0);
        java.util.Arrays.fill(v.blockedNs, 0);
        java.util.Arrays.fill(v.waitNs, 0);
        System.out.println("ready " + ProcessHandle.current().pid());
        System.in.read();
        for (int i = 0; i < rounds; i++) {
            v.contend();
            v.waitAndNotify();
            v.lock();
        }
        System.out.println("{\"blocked\": " + json(v.blockedNs) + ", \"waited\": " + json(v.waitNs) + ", \"locked\": " + v.lockNs
                + ", \"ids\": " + json(v.ids) + ", \"holder\": " + v.holderId + "}");
        System.in.read();
        System.in.read();
    }
}
