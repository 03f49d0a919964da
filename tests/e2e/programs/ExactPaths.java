/** Ways from an actor to an op: each is a call chain of its own. All of them may be inlined. */
final class ExactPaths {
    interface Path {
        void run(ExactAct a) throws Throwable;
    }

    private static final int DEPTH = 9;
    private static int sink;

    static final Path[] ALL = {ExactPaths::plain, ExactPaths::nested, ExactPaths::recursive, ExactPaths::lambda,
        ExactPaths::caught, ExactPaths::virtual};

    private ExactPaths() {
    }

    static Path of(int n) {
        return ALL[n % ALL.length];
    }

    private static void plain(ExactAct a) throws Throwable {
        ExactOps.act(a);
    }

    private static void nested(ExactAct a) throws Throwable {
        nested1(a, 1);
    }

    private static void nested1(ExactAct a, int n) throws Throwable {
        nested2(a, n + 1);
    }

    private static void nested2(ExactAct a, int n) throws Throwable {
        nested3(a, n + 1);
    }

    private static void nested3(ExactAct a, int n) throws Throwable {
        sink = n;
        ExactOps.act(a);
    }

    private static void recursive(ExactAct a) throws Throwable {
        down(a, DEPTH);
    }

    private static void down(ExactAct a, int n) throws Throwable {
        if (n == 0) {
            ExactOps.act(a);
        } else if ((n & 1) == 0) {
            down(a, n - 1);
        } else {
            sink = n;
            down(a, n - 1);
        }
    }

    private static void lambda(ExactAct a) throws Throwable {
        Path captures = b -> ExactOps.act(a);
        Path outer = b -> captures.run(b);
        outer.run(a);
    }

    private static int fail(int n) {
        if (n == 0) {
            throw ExactAct.UNWOUND;
        }
        return fail(n - 1) + 1;
    }

    private static void caught(ExactAct a) throws Throwable {
        try {
            sink = fail(4);
        } catch (ExactAct.Unwound e) {
            ExactOps.act(a);
        }
    }

    private abstract static class Step {
        abstract void take(ExactAct a, int n) throws Throwable;
    }

    private static final Step[] STEPS = {new Step() {
        @Override
        void take(ExactAct a, int n) throws Throwable {
            STEPS[1].take(a, n + 1);
        }
    }, new Step() {
        @Override
        void take(ExactAct a, int n) throws Throwable {
            STEPS[2].take(a, n + 1);
        }
    }, new Step() {
        @Override
        void take(ExactAct a, int n) throws Throwable {
            ExactOps.act(a);
        }
    }};

    private static void virtual(ExactAct a) throws Throwable {
        STEPS[0].take(a, 0);
    }
}
