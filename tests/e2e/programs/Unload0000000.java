import java.util.concurrent.locks.LockSupport;

/**
 * What Unload loads again and again, each time with another number in the place of all those zeros: a name that is
 * recorded for a chain of one generation tells of which generation it is. Each method has its code in one line.
 */
public final class Unload0000000 implements UnloadCode {
    public static final class Lock0000000 { }

    private final Lock0000000 lock = new Lock0000000();

    @Override
    public void enter(UnloadPair p, int me) {
        enterOuter0000000(p, me, lock);
    }

    static int enterOuter0000000(UnloadPair p, int me, Lock0000000 lock) {
        return enterMiddle0000000(p, lock, me) + 1;
    }

    private static int enterMiddle0000000(UnloadPair p, Lock0000000 lock, int me) {
        return me + enterInner0000000(lock, p, me);
    }

    private static int enterInner0000000(Lock0000000 lock, UnloadPair p, int me) {
        synchronized (lock) { return p.inside(me); }
    }

    @Override
    public void park(UnloadPair p, int me) {
        parkOuter0000000(p, me, lock);
    }

    static int parkOuter0000000(UnloadPair p, int me, Lock0000000 lock) {
        return parkInner0000000(lock, p, me) - 1;
    }

    private static int parkInner0000000(Lock0000000 lock, UnloadPair p, int me) {
        LockSupport.unpark(p.give(me)); while (p.isGiven(me)) { LockSupport.park(lock); } return me;
    }
}
