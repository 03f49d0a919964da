import java.lang.reflect.Field;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/** A lock that acts are played on: one of many kinds, and the object by which a log knows it. */
final class ExactLock {
    /** Who is charged with the time for which others are blocked. */
    enum Family {
        /** Whoever holds it. */
        HELD,
        /** Whoever ends the wait. */
        EVENT,
        /** Nobody. */
        NONE
    }

    static final class Monitor {
        synchronized void run(ExactAct a) { a.inside(); a.hold(); a.releasing(); }

        synchronized void fail(ExactAct a) { a.inside(); a.hold(); a.fail(3); }
    }

    /** Locks that are classes: a class is one lock for good, and each attempt wants its own. */
    static final class Static0 {
        static synchronized void run(ExactAct a) { a.inside(); a.hold(); a.releasing(); }
    }

    static final class Static1 {
        static synchronized void run(ExactAct a) { a.inside(); a.hold(); a.releasing(); }
    }

    static final class Static2 {
        static synchronized void run(ExactAct a) { a.inside(); a.hold(); a.releasing(); }
    }

    static final class Static3 {
        static synchronized void run(ExactAct a) { a.inside(); a.hold(); a.releasing(); }
    }

    private static final Class<?>[] STATICS = {Static0.class, Static1.class, Static2.class, Static3.class};
    private static int statics;

    final Family family;
    final Object identity;
    final Monitor monitor;
    final int staticNumber;
    final Lock juc; // the read lock of one that can be shared is in read
    final Lock read;
    final Semaphore semaphore;
    final CountDownLatch latch;
    final StampedLock stamped;
    final Condition condition;

    private ExactLock(Family family, Object identity, Object lock, Lock read) {
        this.family = family;
        this.identity = identity;
        this.read = read;
        monitor = lock instanceof Monitor ? (Monitor) lock : null;
        juc = lock instanceof Lock ? (Lock) lock : null;
        semaphore = lock instanceof Semaphore ? (Semaphore) lock : null;
        latch = lock instanceof CountDownLatch ? (CountDownLatch) lock : null;
        stamped = lock instanceof StampedLock ? (StampedLock) lock : null;
        condition = lock instanceof Condition ? (Condition) lock : null;
        staticNumber = lock instanceof Integer ? (Integer) lock : -1;
    }

    static ExactLock monitor() {
        Monitor m = new Monitor();
        return new ExactLock(Family.HELD, m, m, null);
    }

    static ExactLock ofClass() {
        int n = statics++ % STATICS.length;
        return new ExactLock(Family.HELD, STATICS[n], n, null);
    }

    static ExactLock reentrant(boolean fair) {
        ReentrantLock lock = new ReentrantLock(fair);
        return new ExactLock(Family.HELD, sync(lock), lock, null);
    }

    static ExactLock readWrite(boolean fair) {
        ReentrantReadWriteLock lock = new ReentrantReadWriteLock(fair);
        return new ExactLock(Family.HELD, sync(lock), lock.writeLock(), lock.readLock());
    }

    static ExactLock stamped() {
        StampedLock lock = new StampedLock();
        return new ExactLock(Family.HELD, lock, lock, null);
    }

    static ExactLock semaphore(boolean fair) {
        Semaphore semaphore = new Semaphore(1, fair);
        return new ExactLock(Family.EVENT, sync(semaphore), semaphore, null);
    }

    static ExactLock latch(int count) {
        CountDownLatch latch = new CountDownLatch(count);
        return new ExactLock(Family.EVENT, sync(latch), latch, null);
    }

    static ExactLock condition(ExactLock of) {
        Condition condition = of.juc.newCondition();
        return new ExactLock(Family.EVENT, condition, condition, null);
    }

    /** An object that a thread parks on, of a class that tells nobody what it is. */
    static ExactLock unknown() {
        return new ExactLock(Family.NONE, new Object[0], null, null);
    }

    /** A new one for this op. */
    static ExactLock of(ExactOps.Op op) {
        switch (op) {
        case STATIC: return ofClass();
        case LOCK: case LOCK_THROW: case LOCK_TWICE: case TRY: case INTERRUPTIBLY: case STORM_LOCK: case AWAIT:
        case SIGNAL: case SIGNAL_ALL: return reentrant(false);
        case READ: case DOWNGRADE: return readWrite(false);
        case SEMAPHORE: return semaphore(false);
        case LATCH_AWAIT: case LATCH_DOWN: return latch(1);
        case STAMPED_WRITE: case STAMPED_READ: return stamped();
        case PARK: return unknown();
        default: return monitor();
        }
    }

    void runStatic(ExactAct a) {
        switch (staticNumber) {
        case 0: Static0.run(a); break;
        case 1: Static1.run(a); break;
        case 2: Static2.run(a); break;
        default: Static3.run(a); break;
        }
    }

    int hash() {
        return System.identityHashCode(identity);
    }

    /** What a lock of java.util.concurrent names as the blocker of those that are parked on it. */
    private static Object sync(Object lock) {
        try {
            Field field = lock.getClass().getDeclaredField("sync");
            field.setAccessible(true);
            return field.get(lock);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
