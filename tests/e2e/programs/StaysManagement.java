import java.lang.management.LockInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.MonitorInfo;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/** What ThreadMXBean says of threads that block, wait, are deadlocked, and have monitors. */
final class StaysManagement implements Stays.Scene {
    private static final int ROUNDS = 8;
    private static final int SLACK = 16; // what the JVM itself may let a thread wait for

    static final class Lock { }

    private final ThreadMXBean bean = ManagementFactory.getThreadMXBean();
    private final Object[] hot = {new Lock(), new Lock()};
    private final Lock round = new Lock();
    private volatile int rounds;
    private volatile int waits;
    private volatile boolean mayEnd;

    private static void await(Thread t, Thread.State state) {
        while (t.getState() != state) {
            Thread.yield();
        }
    }

    private ThreadInfo info(Thread t) {
        return bean.getThreadInfo(new long[] {t.getId()}, true, true)[0];
    }

    private static void checkLock(ThreadInfo info, Object lock, Thread owner) {
        LockInfo told = info.getLockInfo();
        StaysCrew.check(told != null && told.getIdentityHashCode() == System.identityHashCode(lock)
            && told.getClassName().equals(lock.getClass().getName()), "blocked on " + told + ", not on " + lock);
        StaysCrew.check(info.getLockOwnerId() == owner.getId(), "owned by " + info.getLockOwnerName());
    }

    private static void plausible(String what, long count, long wanted) {
        StaysCrew.check(count >= wanted && count <= wanted * 2 + SLACK, what + " " + count + " instead of " + wanted);
    }

    private void awaitRounds(int wanted) {
        while (rounds != wanted) {
            Thread.yield();
        }
    }

    /** One that blocks so often, and then waits so often. */
    private void counts(StaysCrew crew) throws InterruptedException {
        Lock door = new Lock();
        Thread t;

        rounds = 0;
        waits = 0;
        mayEnd = false;
        t = crew.thread("blocked", () -> {
            for (int i = 0; i < ROUNDS; i++) {
                awaitRounds(2 * i + 1);
                synchronized (door) {
                    rounds = 2 * i + 2;
                }
            }
            while (waits < ROUNDS) {
                synchronized (round) {
                    round.wait(1);
                    waits++;
                }
            }
            while (!mayEnd) {
                Thread.yield();
            }
        });
        t.start();
        for (int i = 0; i < ROUNDS; i++) {
            synchronized (door) {
                rounds = 2 * i + 1;
                await(t, Thread.State.BLOCKED);
                checkLock(info(t), door, Thread.currentThread());
            }
            awaitRounds(2 * i + 2);
        }
        while (waits < ROUNDS) {
            Thread.yield();
        }
        ThreadInfo info = info(t);
        plausible("blocked", info.getBlockedCount(), ROUNDS);
        plausible("waited", info.getWaitedCount(), ROUNDS);
        StaysCrew.check(info.getBlockedTime() >= 0 && info.getWaitedTime() >= 0, "times are not kept");
        mayEnd = true;
        t.join();
    }

    private boolean areDeadlocked(long[] found, Thread... threads) {
        return found != null
            && Arrays.stream(threads).allMatch(t -> Arrays.stream(found).anyMatch(id -> id == t.getId()));
    }

    /** A monitor and a lock, in either order; the lock can be given up. */
    private void deadlock(StaysCrew crew) throws InterruptedException {
        Lock monitor = new Lock();
        ReentrantLock lock = new ReentrantLock();
        boolean[] has = new boolean[1];
        Thread first = crew.thread("first", () -> {
            synchronized (monitor) {
                while (!lock.isLocked()) {
                    Thread.yield();
                }
                try {
                    lock.lockInterruptibly();
                    has[0] = true;
                } catch (InterruptedException e) {
                    // The deadlock's end.
                }
            }
        });
        Thread second = crew.thread("second", () -> {
            lock.lock();
            try {
                while (!isHeld(monitor, first)) {
                    Thread.yield();
                }
                synchronized (monitor) {
                    crew.step();
                }
            } finally {
                lock.unlock();
            }
        });

        first.start();
        second.start();
        await(first, Thread.State.WAITING);
        await(second, Thread.State.BLOCKED);
        StaysCrew.check(areDeadlocked(bean.findDeadlockedThreads(), first, second), "a deadlock is not found");
        StaysCrew.check(!areDeadlocked(bean.findMonitorDeadlockedThreads(), first), "one of a lock is one of monitors");
        checkLock(info(second), monitor, first);
        first.interrupt();
        first.join();
        second.join();
        StaysCrew.check(!has[0], "the lock was not given up");
        StaysCrew.check(!areDeadlocked(bean.findDeadlockedThreads(), first), "one that has ended is deadlocked");
    }

    private boolean isHeld(Object monitor, Thread by) {
        ThreadInfo info = info(by);
        return info != null && Arrays.stream(info.getLockedMonitors())
            .anyMatch(m -> m.getIdentityHashCode() == System.identityHashCode(monitor));
    }

    private boolean isBlockedOn(Thread thread, Object monitor) {
        ThreadInfo info = info(thread);
        return info != null && info.getThreadState() == Thread.State.BLOCKED && info.getLockInfo() != null
            && info.getLockInfo().getIdentityHashCode() == System.identityHashCode(monitor);
    }

    /** One of monitors, which stays for good. */
    private void plant(StaysCrew crew) {
        Lock[] locks = {new Lock(), new Lock()};
        Thread[] threads = new Thread[2];

        for (int n = 0; n < 2; n++) {
            int me = n;
            threads[n] = crew.thread("planted" + n, () -> {
                synchronized (locks[me]) {
                    while (!isHeld(locks[1 - me], threads[1 - me])) {
                        Thread.yield();
                    }
                    synchronized (locks[1 - me]) {
                        StaysCrew.check(false, "out of a deadlock");
                    }
                }
            });
            threads[n].setDaemon(true);
        }
        for (Thread t : threads) {
            t.start();
        }
        // On each other: on the way there they may block on something of the management's own for a moment.
        for (int n = 0; n < 2; n++) {
            while (!isBlockedOn(threads[n], locks[1 - n])) {
                Thread.yield();
            }
        }
        StaysCrew.check(areDeadlocked(bean.findMonitorDeadlockedThreads(), threads), "a deadlock is not found");
        StaysCrew.check(areDeadlocked(bean.findDeadlockedThreads(), threads), "a deadlock is only one of monitors");
    }

    /** No monitor is two threads' at one time. */
    private void dump() {
        Map<Integer, String> owners = new HashMap<>();

        for (ThreadInfo t : bean.dumpAllThreads(true, true)) {
            for (MonitorInfo m : t.getLockedMonitors()) {
                if (m.getClassName().equals(Lock.class.getName())) {
                    String other = owners.put(m.getIdentityHashCode(), t.getThreadName());
                    StaysCrew.check(other == null || other.equals(t.getThreadName()),
                                    m + " is that of " + other + " and of " + t.getThreadName());
                }
            }
        }
    }

    private void contend() throws InterruptedException {
        Object lock = hot[StaysCrew.random(hot.length)];
        synchronized (lock) {
            synchronized (lock) {
                Thread.yield();
            }
            if (StaysCrew.random(64) == 0) {
                lock.wait(1);
            } else {
                lock.notify();
            }
        }
    }

    @Override
    public void begin(StaysCrew crew) {
        bean.setThreadContentionMonitoringEnabled(true);
        for (int n = 0; n < 3; n++) {
            crew.loop("contender" + n, this::contend);
        }
        crew.start("planter", () -> plant(crew));
        crew.loop("dumper", this::dump);
        crew.loop("counter", () -> {
            counts(crew);
            deadlock(crew);
        });
    }
}
