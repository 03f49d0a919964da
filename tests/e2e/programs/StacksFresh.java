/** Shapes of which each use needs classes that have never run: StacksLoader loads them anew. */
final class StacksFresh {
    static final int WARM = 200;

    private StacksFresh() {
    }
}

/** One long loop, which becomes compiled while it runs: on-stack replacement. */
class StacksFreshOsr implements StacksShape {
    private static final int LOOPS = 5000;
    private static final int LAST = LOOPS - 100;

    StacksFreshOsr() {
    }

    @Override
    public void run(StacksAct a) {
        StacksAct[] acts = {StacksAct.idle(), a};
        Runnable[] steps = StacksAct.idleSteps();
        int x = 1;
        a.onStep = () -> StacksAct.act(a);
        for (int i = 0; i < LOOPS; i++) {
            x = x * 31 + i;
            acts[0].onStep = steps[i % steps.length];
            acts[((i ^ LAST) - 1) >>> 31].step(); // 1 for LAST, without a branch that was never taken before
        }
        a.sink = x;
    }
}

/**
 * Blocks in a call out of compiled code that is not valid any more: go() was inlined while Base had one subclass,
 * and the second one comes during the call. The frame is deoptimized only when the call returns.
 */
class StacksFreshDeopt implements StacksShape {
    abstract static class Base {
        abstract int go(StacksAct a);
    }

    static final class One extends Base {
        @Override
        int go(StacksAct a) {
            a.step();
            return 1;
        }
    }

    static final class Two extends Base {
        @Override
        int go(StacksAct a) {
            return 2;
        }
    }

    StacksFreshDeopt() {
    }

    static int call(Base b, StacksAct a) {
        return b.go(a) + 1;
    }

    private static void load() {
        try {
            // By name: what the code names, the verifier may load earlier.
            Class.forName("StacksFreshDeopt$Two", true, StacksFreshDeopt.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void run(StacksAct a) {
        StacksAct idle = StacksAct.idle();
        Runnable[] steps = StacksAct.idleSteps();
        Base one = new One();
        for (int i = 0; i < StacksFresh.WARM; i++) {
            idle.onStep = steps[i % steps.length];
            call(one, idle);
        }
        a.onStep = () -> {
            load();
            StacksAct.act(a);
        };
        a.sink = call(one, a);
    }
}

/** A branch that compiled code has never seen taken, in an inlined method: its frames become interpreted ones. */
class StacksFreshTrap implements StacksShape {
    StacksFreshTrap() {
    }

    static int outer(StacksAct a, int n) {
        return middle(a, n + 1) + 1;
    }

    static int middle(StacksAct a, int n) {
        return inner(a, n + 1) * 3;
    }

    static int inner(StacksAct a, int n) {
        if (!a.alone) {
            StacksAct.act(a);
        }
        return n;
    }

    @Override
    public void run(StacksAct a) {
        StacksAct idle = StacksAct.idle();
        for (int i = 0; i < StacksFresh.WARM; i++) {
            a.sink += outer(idle, i);
        }
        a.sink = outer(a, 0);
    }
}

class StacksFreshInit implements StacksShape {
    static final class Initialized {
        static int x = 1;

        static {
            StacksAct.act(StacksAct.CURRENT.get());
        }
    }

    StacksFreshInit() {
    }

    @Override
    public void run(StacksAct a) throws Throwable {
        StacksAct.CURRENT.set(a);
        try {
            a.sink = Initialized.x;
        } catch (ExceptionInInitializerError e) {
            throw e.getCause();
        }
    }
}

/** The first calls of Method.invoke go through native code. */
class StacksFreshReflect implements StacksShape {
    StacksFreshReflect() {
    }

    static void call(StacksAct a) {
        StacksAct.act(a);
    }

    @Override
    public void run(StacksAct a) throws Throwable {
        try {
            getClass().getDeclaredMethod("call", StacksAct.class).invoke(null, a);
        } catch (java.lang.reflect.InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
