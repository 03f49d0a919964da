import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * What an act does with its lock. Each op is a method of one source line, never inlined: so whatever point of it is
 * recorded, method and line are those that StackWalker has seen, and only what the op itself calls may be besides.
 */
final class ExactOps {
    enum Op {
        BLOCK, METHOD, STATIC, THROW, THROW_DEEP, METHOD_THROW, RECURSIVE, WAIT, WAIT_NESTED, WAIT_RECURSIVE, NOTIFY,
        NOTIFY_ALL, STORM,
        LOCK, READ, LOCK_THROW, LOCK_TWICE, TRY, INTERRUPTIBLY, STORM_LOCK, DOWNGRADE, AWAIT, SIGNAL, SIGNAL_ALL,
        SEMAPHORE, LATCH_AWAIT, LATCH_DOWN, STAMPED_WRITE, STAMPED_READ, PARK, CLEAR
    }

    private static final int RECURSION = 5;

    private ExactOps() {
    }

    // --- monitors ---

    static void block(ExactAct a) {
        a.walk(); synchronized (a.lock.monitor) { a.inside(); a.hold(); a.releasing(); } a.after();
    }

    static void method(ExactAct a) {
        a.walk(); a.lock.monitor.run(a); a.after();
    }

    static void ofClass(ExactAct a) {
        a.walk(); a.lock.ofClass.accept(a); a.after();
    }

    static void throwing(ExactAct a) {
        a.walk(); synchronized (a.lock.monitor) { a.inside(); a.hold(); a.releasing(); throw ExactAct.UNWOUND; }
    }

    static void throwingDeep(ExactAct a) {
        a.walk(); synchronized (a.lock.monitor) { a.inside(); a.hold(); a.fail(3); }
    }

    static void methodThrowing(ExactAct a) {
        a.walk(); a.lock.monitor.fail(a);
    }

    static void recursive(ExactAct a) {
        a.walk(); synchronized (a.lock.monitor) { a.inside(); recurse(a, RECURSION); a.releasing(); } a.after();
    }

    static void waiting(ExactAct a) throws InterruptedException {
        a.walk(); synchronized (a.lock.monitor) { a.inside(); a.hold(); a.waits(); a.holdAgain(); a.releasing(); } a.after();
    }

    static void waitingNested(ExactAct a) throws InterruptedException {
        a.walk(); synchronized (a.lock.monitor) { a.inside(); a.hold(); waitDeep(a, 2); a.holdAgain(); a.releasing(); } a.after();
    }

    static void waitingRecursive(ExactAct a) throws InterruptedException {
        a.walk(); synchronized (a.lock.monitor) { a.inside(); waitAgain(a); a.releasing(); } a.after();
    }

    static void notifying(ExactAct a) {
        a.walk(); synchronized (a.lock.monitor) { a.inside(); a.hold(); a.notifies(false); a.holdAgain(); a.releasing(); } a.after();
    }

    static void notifyingAll(ExactAct a) {
        a.walk(); synchronized (a.lock.monitor) { a.inside(); a.hold(); a.notifies(true); a.holdAgain(); a.releasing(); } a.after();
    }

    static void storm(ExactAct a) {
        a.walk(); while (a.more()) { a.again(); synchronized (a.lock.monitor) { a.inside(); a.storm(); a.releasing(); } a.after(); }
    }

    // --- java.util.concurrent ---

    static void lock(ExactAct a) {
        a.walk(); a.lock.juc.lock(); a.inside(); a.hold(); a.releasing(); a.lock.juc.unlock(); a.after();
    }

    static void read(ExactAct a) {
        a.walk(); a.lock.read.lock(); a.inside(); a.hold(); a.releasing(); a.lock.read.unlock(); a.after();
    }

    static void lockThrowing(ExactAct a) {
        a.walk(); a.lock.juc.lock(); try { a.inside(); a.hold(); a.fail(3); } finally { a.lock.juc.unlock(); }
    }

    static void lockTwice(ExactAct a) {
        a.walk(); a.lock.juc.lock(); a.lock.juc.lock(); a.inside(); a.hold(); a.lock.juc.unlock(); a.releasing(); a.lock.juc.unlock(); a.after();
    }

    static void tryLock(ExactAct a) throws InterruptedException {
        a.walk(); if (a.lock.juc.tryLock(a.timeoutMs, TimeUnit.MILLISECONDS)) { a.inside(); a.releasing(); a.lock.juc.unlock(); a.after(); } else { a.gaveUp(); }
    }

    static void interruptibly(ExactAct a) {
        a.walk(); try { a.lock.juc.lockInterruptibly(); a.inside(); a.releasing(); a.lock.juc.unlock(); a.after(); } catch (InterruptedException e) { a.gaveUp(); }
    }

    static void stormLock(ExactAct a) {
        a.walk(); while (a.more()) { a.again(); a.lock.juc.lock(); a.inside(); a.storm(); a.releasing(); a.lock.juc.unlock(); a.after(); }
    }

    /** The write lock becomes a read lock on the way: it is held all the time. */
    static void downgrade(ExactAct a) {
        a.walk(); a.lock.juc.lock(); a.inside(); a.hold(); a.lock.read.lock(); a.lock.juc.unlock(); a.holdAgain(); a.releasing(); a.lock.read.unlock(); a.after();
    }

    static void await(ExactAct a) throws InterruptedException {
        a.walk(); a.lock.juc.lock(); a.inside(); a.hold(); a.awaits(); a.holdAgain(); a.releasing(); a.lock.juc.unlock(); a.after();
    }

    static void signal(ExactAct a) {
        a.walk(); a.lock.juc.lock(); a.inside(); a.hold(); a.condition.condition.signal(); a.holdAgain(); a.releasing(); a.lock.juc.unlock(); a.after();
    }

    static void signalAll(ExactAct a) {
        a.walk(); a.lock.juc.lock(); a.inside(); a.hold(); a.condition.condition.signalAll(); a.holdAgain(); a.releasing(); a.lock.juc.unlock(); a.after();
    }

    static void semaphore(ExactAct a) {
        a.walk(); a.lock.semaphore.acquireUninterruptibly(); a.inside(); a.hold(); a.releasing(); a.lock.semaphore.release(); a.after();
    }

    static void latchAwait(ExactAct a) throws InterruptedException {
        a.walk(); a.lock.latch.await(); a.inside();
    }

    static void latchDown(ExactAct a) {
        a.walk(); a.inside(); a.hold(); a.releasing(); a.lock.latch.countDown(); a.after();
    }

    static void stampedWrite(ExactAct a) {
        a.walk(); long stamp = a.lock.stamped.writeLock(); a.inside(); a.hold(); a.releasing(); a.lock.stamped.unlockWrite(stamp); a.after();
    }

    static void stampedRead(ExactAct a) {
        a.walk(); long stamp = a.lock.stamped.readLock(); a.inside(); a.hold(); a.releasing(); a.lock.stamped.unlockRead(stamp); a.after();
    }

    static void park(ExactAct a) {
        a.walk(); do { LockSupport.park(a.lock.identity); } while (!a.go); a.inside();
    }

    /** No interrupt, and no permit. */
    private static void clear() {
        Thread.interrupted();
        LockSupport.unpark(Thread.currentThread());
        LockSupport.park();
    }

    // --- frames of their own ---

    private static void recurse(ExactAct a, int n) {
        synchronized (a.lock.monitor) { if (n > 0) { recurse(a, n - 1); } else { a.hold(); } }
    }

    private static void waitDeep(ExactAct a, int n) throws InterruptedException {
        if (n > 0) { waitDeep(a, n - 1); } else { a.waits(); }
    }

    private static void waitAgain(ExactAct a) throws InterruptedException {
        synchronized (a.lock.monitor) { a.hold(); a.waits(); a.holdAgain(); }
    }

    static void act(ExactAct a) throws InterruptedException {
        switch (a.op) {
        case BLOCK: block(a); break;
        case METHOD: method(a); break;
        case STATIC: ofClass(a); break;
        case THROW: throwing(a); break;
        case THROW_DEEP: throwingDeep(a); break;
        case METHOD_THROW: methodThrowing(a); break;
        case RECURSIVE: recursive(a); break;
        case WAIT: waiting(a); break;
        case WAIT_NESTED: waitingNested(a); break;
        case WAIT_RECURSIVE: waitingRecursive(a); break;
        case NOTIFY: notifying(a); break;
        case NOTIFY_ALL: notifyingAll(a); break;
        case STORM: storm(a); break;
        case LOCK: lock(a); break;
        case READ: read(a); break;
        case LOCK_THROW: lockThrowing(a); break;
        case LOCK_TWICE: lockTwice(a); break;
        case TRY: tryLock(a); break;
        case INTERRUPTIBLY: interruptibly(a); break;
        case STORM_LOCK: stormLock(a); break;
        case DOWNGRADE: downgrade(a); break;
        case AWAIT: await(a); break;
        case SIGNAL: signal(a); break;
        case SIGNAL_ALL: signalAll(a); break;
        case SEMAPHORE: semaphore(a); break;
        case LATCH_AWAIT: latchAwait(a); break;
        case LATCH_DOWN: latchDown(a); break;
        case STAMPED_WRITE: stampedWrite(a); break;
        case STAMPED_READ: stampedRead(a); break;
        case PARK: park(a); break;
        case CLEAR: clear(); break;
        default: throw new IllegalStateException();
        }
    }
}
