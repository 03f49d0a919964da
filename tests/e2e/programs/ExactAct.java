import java.lang.StackWalker.StackFrame;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * One act of one thread: an op (ExactOps) on a lock, reached by a path (ExactPaths). It stamps what it does; what
 * becomes of that are records of two kinds. Each moment in a record is a pair of times between which it was.
 */
public final class ExactAct {
    /** The thread had the lock. */
    static final class Hold {
        List<StackFrame> frames; // of the method that has taken it
        Thread thread;
        ExactLock lock;
        boolean shared;
        volatile long acquiredLow, acquiredHigh, releasedLow, releasedHigh; // 0: not known
    }

    /** The thread may have been blocked; it surely was if beginHigh is known. */
    static final class Block {
        List<StackFrame> frames;
        Thread thread;
        ExactLock lock;
        Hold until; // null: it has given up
        boolean shared;
        volatile long beginLow, beginHigh, endLow, endHigh;
    }

    /** Passes through all frames up to the actor. */
    @SuppressWarnings("serial")
    static final class Unwound extends RuntimeException {
        Unwound() {
            super(null, null, false, false);
        }
    }

    static final Unwound UNWOUND = new Unwound();
    private static final StackWalker WALKER = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);

    final ExactOps.Op op;
    final ExactPaths.Path path;
    final ExactLock lock;
    ExactLock condition; // of the lock
    boolean shared;
    long timeoutMs; // 0: none
    ExactHold hold = ExactHold.NOTHING;
    ExactHold holdAgain = ExactHold.NOTHING; // behind wait or notify
    long stormNs;      // of each hold of a storm
    volatile long stormEnd;
    volatile boolean go;
    volatile boolean mayReturn; // from wait
    volatile boolean isWaiting;
    volatile long notifyLow, notifyHigh;
    volatile long interruptedLow;
    final List<Block> blocks = new ArrayList<>();
    final List<Hold> holds = new ArrayList<>();
    volatile int blockCount;
    volatile Block block; // the latest ones
    volatile Hold held;
    private List<StackFrame> frames;

    ExactAct(ExactOps.Op op, ExactPaths.Path path, ExactLock lock) {
        this.op = op;
        this.path = path;
        this.lock = lock;
    }

    // --- what the ops say of themselves ---

    /** It is going for the lock. */
    void walk() {
        frames = WALKER.walk(s -> s.collect(Collectors.toList()));
        begin(lock, frames);
    }

    private void begin(ExactLock on, List<StackFrame> where) {
        Block b = new Block();
        b.frames = where;
        b.thread = Thread.currentThread();
        b.lock = on;
        b.shared = shared;
        blocks.add(b);
        b.beginLow = System.nanoTime();
        block = b;
        blockCount = blocks.size();
    }

    public void inside() {
        long now = System.nanoTime();
        Hold h = new Hold();
        h.frames = frames;
        h.thread = Thread.currentThread();
        h.lock = lock;
        h.shared = shared;
        h.acquiredLow = block.beginLow;
        h.acquiredHigh = now;
        block.until = h;
        block.endHigh = now;
        holds.add(h);
        held = h;
    }

    public void hold() {
        hold.run(this);
    }

    void holdAgain() {
        holdAgain.run(this);
    }

    public void releasing() {
        held.releasedLow = System.nanoTime();
    }

    void after() {
        held.releasedHigh = System.nanoTime();
    }

    void fail(int depth) {
        if (depth == 0) {
            releasing();
            throw UNWOUND;
        }
        fail(depth - 1);
    }

    /** It has not got the lock. */
    void gaveUp() {
        long now = System.nanoTime();
        block.endLow = timeoutMs > 0 ? block.beginLow + timeoutMs * 1_000_000 : interruptedLow;
        block.endHigh = now;
    }

    /** It waits for a notify, for the timeout, or for an interrupt; the lock is released meanwhile. */
    void waits() throws InterruptedException {
        waiting(lock);
        try {
            do {
                lock.monitor.wait(timeoutMs);
            } while (timeoutMs == 0 && !mayReturn);
        } catch (InterruptedException e) {
            // As it should be.
        }
        back();
    }

    void awaits() throws InterruptedException {
        waiting(condition);
        do {
            if (timeoutMs > 0) {
                condition.condition.await(timeoutMs, TimeUnit.MILLISECONDS);
            } else {
                condition.condition.await();
            }
        } while (timeoutMs == 0 && !mayReturn);
        back();
    }

    private void waiting(ExactLock on) {
        begin(on, WALKER.walk(s -> s.collect(Collectors.toList())));
        held.releasedLow = block.beginLow;
        isWaiting = true;
    }

    /** It has the lock again. It was not blocked before its time was over, or before the interrupt; if it was notified,
     * then since then: ExactStage.notifiedBy. */
    private void back() {
        if (block.lock == lock) {
            block.beginLow = timeoutMs > 0 ? block.beginLow + timeoutMs * 1_000_000
                    : Math.max(block.beginLow, interruptedLow);
        }
        inside();
        isWaiting = false;
    }

    void notifies(boolean all) {
        notifyLow = System.nanoTime();
        if (all) {
            lock.monitor.notifyAll();
        } else {
            lock.monitor.notify();
        }
        notifyHigh = System.nanoTime();
    }

    // --- storms ---

    boolean more() {
        return System.nanoTime() < stormEnd;
    }

    void again() {
        begin(lock, frames);
    }

    void storm() {
        long end = System.nanoTime() + stormNs;
        while (System.nanoTime() < end) {
            Thread.onSpinWait();
        }
    }

    void run() throws Throwable {
        try {
            path.run(this);
        } catch (Unwound e) {
            after();
        }
    }
}
