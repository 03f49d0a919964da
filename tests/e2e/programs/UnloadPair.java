import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;

/**
 * Two threads that take turns, so that each section is contended: the one inside leaves only when the other one is
 * blocked.
 */
public final class UnloadPair {
    private static final int SPINS = 1024;

    private final Thread[] threads = new Thread[2];
    private final AtomicIntegerArray finished = new AtomicIntegerArray(2);
    private volatile int inside = -1;
    private volatile int turn;
    private volatile boolean left;

    void set(int me, Thread t) {
        threads[me] = t;
    }

    private static void relax(int spins) {
        if (spins % SPINS == 0) {
            Thread.yield();
        } else {
            Thread.onSpinWait();
        }
    }

    void awaitTurn(int me) {
        for (int spins = 1; inside == me && !isFinished(1 - me); spins++) {
            relax(spins);
        }
    }

    public int inside(int me) {
        inside = me;
        for (int spins = 1; !isFinished(1 - me) && threads[1 - me].getState() != Thread.State.BLOCKED; spins++) {
            relax(spins);
        }
        return me;
    }

    /** No more sections of this one. */
    void finish(int me) {
        finished.set(me, 1);
    }

    private boolean isFinished(int who) {
        return finished.get(who) == 1;
    }

    public Thread give(int me) {
        turn = 1 - me;
        return threads[1 - me];
    }

    public boolean isGiven(int me) {
        return turn != me && !left;
    }

    /** No more parks of this one. */
    void leave(int me) {
        left = true;
        LockSupport.unpark(threads[1 - me]);
    }
}
