import java.lang.reflect.Field;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;
import java.util.function.Consumer;

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

    /** A patched JVM gives an object its hash when it gets a monitor; for a stock one it must have it before. */
    private static final boolean HASH_FIRST = Boolean.getBoolean("exact.hash");

    final Family family;
    final Object identity;
    final Monitor monitor;
    final Consumer<ExactAct> ofClass;
    final Lock juc; // the read lock of one that can be shared is in read
    final Lock read;
    final Semaphore semaphore;
    final CountDownLatch latch;
    final StampedLock stamped;
    final Condition condition;

    @SuppressWarnings("unchecked")
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
        ofClass = lock instanceof Consumer ? (Consumer<ExactAct>) lock : null;
        if (HASH_FIRST) {
            hash();
        }
    }

    static ExactLock monitor() {
        Monitor m = new Monitor();
        return new ExactLock(Family.HELD, m, m, null);
    }

    static ExactLock ofClass() {
        Consumer<ExactAct> object = ExactStatic.another();
        return new ExactLock(Family.HELD, object.getClass(), object, null);
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

    /** Nobody owns it; but each release of its only permit wakes all that wait, so each of them is a part of the wait. */
    static ExactLock semaphore(boolean fair) {
        Semaphore semaphore = new Semaphore(1, fair);
        return new ExactLock(Family.HELD, sync(semaphore), semaphore, null);
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
