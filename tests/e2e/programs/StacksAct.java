import java.lang.StackWalker.StackFrame;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;

/**
 * What one thread does in a meeting of two: it blocks, or holds what the other one blocks on. Each op is a method
 * of one source line, which first asks StackWalker where the thread is: so a chain that is recorded somewhere in
 * that line must have the walker's frames, lines included, below what the op itself calls. Only the bytecode index of
 * the op's own frame may differ.
 */
public final class StacksAct {
    /** How a partner can see that this op is where it should be. */
    public enum Settled { ASLEEP, SPINNING, BLOCKED, DONE }

    public enum Op {
        IDLE(Settled.DONE),
        ENTER(Settled.BLOCKED), ENTER_SYNCHRONIZED(Settled.BLOCKED), ENTER_STATIC(Settled.BLOCKED),
        LOCK(Settled.ASLEEP), WAIT(Settled.ASLEEP), PARK(Settled.ASLEEP),
        SLEEP_IN(Settled.ASLEEP), THROW_IN(Settled.ASLEEP), SYNCHRONIZED(Settled.ASLEEP), STATIC(Settled.ASLEEP),
        PARK_IN(Settled.ASLEEP), SPIN_IN(Settled.SPINNING), SPIN_LOCK(Settled.SPINNING),
        NOTIFY(Settled.DONE), UNPARK(Settled.DONE);

        final Settled settled;

        Op(Settled settled) {
            this.settled = settled;
        }
    }

    static final class Lock {
        synchronized void enter(StacksAct a) { a.insideSynchronized(); }

        synchronized void hold(StacksAct a) { a.walk(); a.sleep(); }
    }

    static final class Shared {
        static synchronized void enter(StacksAct a) { a.insideSynchronized(); }

        static synchronized void hold(StacksAct a) { a.walk(); a.sleep(); }
    }

    /** Passes through all frames of a shape. */
    @SuppressWarnings("serial")
    static final class Unwound extends RuntimeException {
        Unwound() {
            super(null, null, false, false);
        }
    }

    static final int FOREVER_MS = 1_000_000;
    static final Unwound UNWOUND = new Unwound();
    static final StackWalker WALKER = StackWalker.getInstance(Set.of(StackWalker.Option.SHOW_HIDDEN_FRAMES,
            StackWalker.Option.RETAIN_CLASS_REFERENCE));
    public static final ThreadLocal<StacksAct> CURRENT = new ThreadLocal<>();

    final Op op;
    final Lock lock;
    final ReentrantLock juc;
    public final boolean alone; // no partner: nothing blocks for long
    final boolean walks;
    volatile Thread thread;
    volatile Thread target; // of unpark
    volatile boolean walked;
    volatile boolean spinning;
    volatile boolean go;
    public volatile Runnable onStep;
    List<StackFrame> frames;
    StackFrame inner; // of a synchronized method that was entered
    long begin, end;              // of all of it
    long settledBegin, settledEnd; // surely asleep, or spinning
    public int sink;

    private StacksAct(Op op, Lock lock, ReentrantLock juc, boolean alone, boolean walks) {
        this.op = op;
        this.lock = lock;
        this.juc = juc;
        this.alone = alone;
        this.walks = walks;
        this.go = alone;
    }

    static StacksAct withPartner(Op op, Lock lock, ReentrantLock juc) {
        return new StacksAct(op, lock, juc, false, true);
    }

    static StacksAct alone(Op op, boolean walks) {
        return new StacksAct(op, new Lock(), new ReentrantLock(), true, walks);
    }

    /** What an act alone would wait for is there already. */
    void prepare() {
        if (alone) {
            target = Thread.currentThread();
            if (op == Op.PARK || op == Op.PARK_IN) {
                LockSupport.unpark(target);
            }
        }
    }

    public static StacksAct idle() {
        return alone(Op.IDLE, false);
    }

    // --- the ops: see above for why each is one line ---

    static void enter(StacksAct a) {
        a.walk(); synchronized (a.lock) { a.inside(); }
    }

    static void enterSynchronized(StacksAct a) {
        a.walk(); a.lock.enter(a);
    }

    static void enterStatic(StacksAct a) {
        a.walk(); Shared.enter(a);
    }

    static void lock(StacksAct a) {
        a.walk(); a.juc.lock(); a.inside(); a.juc.unlock();
    }

    static void await(StacksAct a, int ms) throws InterruptedException {
        synchronized (a.lock) { a.walk(); do { a.lock.wait(ms); } while (!a.go); }
    }

    static void park(StacksAct a) {
        a.walk(); do { LockSupport.park(a.lock); } while (!a.go);
    }

    static void sleepIn(StacksAct a) {
        synchronized (a.lock) { a.walk(); a.sleep(); }
    }

    static void throwIn(StacksAct a) {
        synchronized (a.lock) { a.walk(); a.sleep(); throw UNWOUND; }
    }

    static void parkIn(StacksAct a) {
        a.juc.lock(); a.walk(); a.parkHere(); a.juc.unlock();
    }

    static void spinIn(StacksAct a) {
        synchronized (a.lock) { a.walk(); a.spin(); }
    }

    static void spinLock(StacksAct a) {
        a.juc.lock(); a.walk(); a.spin(); a.juc.unlock();
    }

    static void notify(StacksAct a) {
        synchronized (a.lock) { a.walk(); a.lock.notify(); }
    }

    static void unpark(StacksAct a) {
        a.walk(); LockSupport.unpark(a.target);
    }

    // --- what they call ---

    void walk() {
        if (!walks) {
            return;
        }
        begin = System.nanoTime();
        thread = Thread.currentThread();
        frames = WALKER.walk(s -> s.skip(1).collect(Collectors.toList()));
        walked = true;
    }

    void inside() {
        sink++;
    }

    void insideSynchronized() {
        if (walks) {
            inner = WALKER.walk(s -> s.skip(1).findFirst().get());
        }
    }

    void sleep() {
        settledBegin = System.nanoTime();
        try {
            do {
                Thread.sleep(alone ? 0 : FOREVER_MS);
            } while (!go);
        } catch (InterruptedException e) {
            sink++; // release() has done it
        }
    }

    void parkHere() {
        settledBegin = System.nanoTime();
        do {
            LockSupport.park();
        } while (!go);
    }

    void spin() {
        settledBegin = System.nanoTime();
        spinning = true;
        while (!go) {
            Thread.onSpinWait();
        }
    }

    private static int steps;
    private static final Runnable[] IDLE_STEPS = {() -> steps++, () -> steps--, () -> steps ^= 1};

    public static Runnable[] idleSteps() {
        return IDLE_STEPS;
    }

    /** Something that compiled code calls without knowing what it is. */
    public void step() {
        onStep.run();
    }

    public static void act(StacksAct a) {
        try {
            switch (a.op) {
            case IDLE: break;
            case ENTER: enter(a); break;
            case ENTER_SYNCHRONIZED: enterSynchronized(a); break;
            case ENTER_STATIC: enterStatic(a); break;
            case LOCK: lock(a); break;
            case WAIT: await(a, a.alone ? 1 : 0); break;
            case PARK: park(a); break;
            case SLEEP_IN: sleepIn(a); break;
            case THROW_IN: throwIn(a); break;
            case SYNCHRONIZED: a.lock.hold(a); break;
            case STATIC: Shared.hold(a); break;
            case PARK_IN: parkIn(a); break;
            case SPIN_IN: spinIn(a); break;
            case SPIN_LOCK: spinLock(a); break;
            case NOTIFY: notify(a); break;
            case UNPARK: unpark(a); break;
            default: throw new IllegalStateException();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        } finally {
            a.end = System.nanoTime();
        }
    }

    /** For those that need an instance method: JNI, method handles. */
    void actHere() {
        act(this);
    }

    // --- the partner's side ---

    boolean isSettled() {
        Thread t = thread;
        if (!walked || t == null) {
            return false;
        }
        switch (op.settled) {
        case SPINNING:
            return spinning;
        case BLOCKED:
            return t.getState() == Thread.State.BLOCKED;
        case ASLEEP:
            return t.getState() == Thread.State.WAITING || t.getState() == Thread.State.TIMED_WAITING;
        default:
            return true;
        }
    }

    void release() {
        settledEnd = System.nanoTime();
        go = true;
        if (op == Op.PARK_IN) {
            LockSupport.unpark(thread);
        } else if (op.settled == Settled.ASLEEP) {
            thread.interrupt();
        }
    }
}
