import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Virtual threads that want a lock of java.util.concurrent which another one has, and wait for a queue, so many at a time
 * that it is known how often each parks. Prints as JSON for how long by their own clocks. Arguments: rounds; waiters;
 * whether the waiters have a monitor meanwhile, which keeps them on their carriers before JDK 24; and whether they want the
 * lock once more at the end, which nobody gives them.
 */
public class VirtualPark {
    static final int HOLD_MS = 4;

    final ReentrantLock lock = new ReentrantLock();
    final LinkedBlockingQueue<Integer> queue = new LinkedBlockingQueue<>();
    final int waiters;
    final boolean inMonitor;
    final long[] lockNs, takeNs;
    long holderId;

    VirtualPark(int waiters, boolean inMonitor) {
        this.waiters = waiters;
        this.inMonitor = inMonitor;
        lockNs = new long[waiters];
        takeNs = new long[waiters];
    }

    void lockAndUnlock(int i) {
        long before = System.nanoTime();
        lock.lock();
        try {
            lockNs[i] += System.nanoTime() - before;
        } finally {
            lock.unlock();
        }
    }

    void want(int i) {
        if (inMonitor) {
            synchronized (new Object()) {
                lockAndUnlock(i);
            }
        } else {
            lockAndUnlock(i);
        }
    }

    void take(int i) {
        long before = System.nanoTime();
        try {
            queue.take();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        takeNs[i] += System.nanoTime() - before;
    }

    List<Thread> start(java.util.function.IntConsumer what) throws Exception {
        List<Thread> threads = new ArrayList<>();

        for (int i = 0; i < waiters; i++) {
            int own = i;
            threads.add(Virtual.virtual("waiter-" + i, () -> what.accept(own)));
        }
        Virtual.awaitState(threads, Thread.State.WAITING);
        return threads;
    }

    /** The holder sleeps, and parks on nothing. */
    void contend() throws Exception {
        CountDownLatch held = new CountDownLatch(1), all = new CountDownLatch(1);
        Thread holder = Virtual.virtual("holder", () -> {
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
        holderId = holder.getId();
        List<Thread> threads = start(this::want);
        while (lock.getQueueLength() < waiters) {
            LockSupport.parkNanos(100_000);
        }
        Virtual.awaitState(threads, Thread.State.WAITING);
        all.countDown();
        Virtual.join(threads);
        holder.join();
    }

    void takeAndPut() throws Exception {
        List<Thread> threads = start(this::take);

        LockSupport.parkNanos(HOLD_MS * 1_000_000L);
        for (int i = 0; i < waiters; i++) {
            queue.put(i);
        }
        Virtual.join(threads);
    }

    public static void main(String[] arguments) throws Exception {
        int rounds = Integer.parseInt(arguments[0]);
        VirtualPark v = new VirtualPark(Integer.parseInt(arguments[1]), "1".equals(arguments[2]));

        v.contend();
        v.takeAndPut();
        java.util.Arrays.fill(v.lockNs, 0);
        java.util.Arrays.fill(v.takeNs, 0);
        System.out.println("ready " + ProcessHandle.current().pid());
        System.in.read();
        for (int i = 0; i < rounds; i++) {
            v.contend();
            v.takeAndPut();
        }
        if ("1".equals(arguments[3])) {
            v.lock.lock();
            v.start(v::want);
            LockSupport.parkNanos(1_000_000_000L);
        }
        System.out.println("{\"locked\": " + Virtual.json(v.lockNs) + ", \"taken\": " + Virtual.json(v.takeNs) + ", \"holder\": "
                + v.holderId + "}");
        while (System.in.read() >= 0) {
            continue;
        }
    }
}
