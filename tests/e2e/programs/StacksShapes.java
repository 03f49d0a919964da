import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Ways to get from a thread's first method to StacksAct.act. */
final class StacksShapes {
    private static final int RECURSION = 400;
    private static final int HOPS = 12;
    private static final AtomicInteger threads = new AtomicInteger();
    private static int sink;

    private StacksShapes() {
    }

    static void plain(StacksAct a) {
        StacksAct.act(a);
    }

    // --- small methods, to be inlined into one frame ---

    static void inlined(StacksAct a) {
        in1(a, 1);
    }

    private static void in1(StacksAct a, int n) {
        in2(a, n + 1);
    }

    private static void in2(StacksAct a, int n) {
        in3(a, n + 1);
    }

    private static void in3(StacksAct a, int n) {
        in4(a, n + 1);
    }

    private static void in4(StacksAct a, int n) {
        in5(a, n + 1);
    }

    private static void in5(StacksAct a, int n) {
        in6(a, n + 1);
    }

    private static void in6(StacksAct a, int n) {
        in7(a, n + 1);
    }

    private static void in7(StacksAct a, int n) {
        in8(a, n + 1);
    }

    private static void in8(StacksAct a, int n) {
        sink = n;
        StacksAct.act(a);
    }

    // --- recursion ---

    static void recursion(StacksAct a) {
        sink = down(a, RECURSION);
    }

    private static int down(StacksAct a, int n) {
        if (n == 0) {
            StacksAct.act(a);
            return 0;
        }
        return (n & 1) == 0 ? down(a, n - 1) + 1 : n - down(a, n - 1);
    }

    // --- lambdas, streams ---

    static void lambda(StacksAct a) throws Throwable {
        Runnable captures = () -> StacksAct.act(a);
        StacksShape none = b -> captures.run();
        none.run(a);
    }

    static void methodReference(StacksAct a) throws Throwable {
        StacksShape unbound = StacksAct::act;
        Runnable bound = a::actHere;
        Consumer<StacksShape> caller = s -> bound.run();
        caller.accept(unbound);
    }

    static void stream(StacksAct a) {
        IntStream.range(0, 4).filter(i -> i == 2).mapToObj(i -> a).forEach(StacksAct::act);
    }

    static void flatStream(StacksAct a) {
        sink = List.of(1, 2).stream().flatMap(i -> Stream.of(i, 3)).sorted().map(i -> {
            if (i == 2) {
                StacksAct.act(a);
            }
            return i;
        }).reduce(0, Integer::sum);
    }

    static void comparator(StacksAct a) {
        Map<Integer, Integer> map = new TreeMap<>((x, y) -> {
            if (x == 5 && y == 1) {
                StacksAct.act(a);
            }
            return Integer.compare(x, y);
        });
        map.put(1, 1);
        map.put(5, 5);
    }

    // --- exceptions ---

    private static int fail(int n) {
        if (n == 0) {
            throw StacksAct.UNWOUND;
        }
        return fail(n - 1) + 1;
    }

    static void caught(StacksAct a) {
        try {
            sink = fail(6);
        } catch (StacksAct.Unwound e) {
            StacksAct.act(a);
        }
    }

    private static void failsAfter(StacksAct a) {
        try {
            sink = fail(3);
        } finally {
            StacksAct.act(a);
        }
    }

    static void finallyBlock(StacksAct a) {
        try {
            failsAfter(a);
        } catch (StacksAct.Unwound e) {
            sink++;
        }
    }

    // --- frames that hold monitors of their own ---

    private static final class Own {
        private int depth;

        synchronized void through(StacksAct a, int n) {
            depth = n;
            if (n == 0) {
                StacksAct.act(a);
            } else {
                synchronized (new Own()) {
                    throughStatic(this, a, n - 1);
                }
            }
        }
    }

    private static void throughStatic(Own own, StacksAct a, int n) {
        own.through(a, n);
    }

    static void synchronizedFrames(StacksAct a) {
        new Own().through(a, 3);
    }

    // --- through native code ---

    /** Calls a.actHere(), and StacksAct.act(a), by turns, below some frames of its own. */
    private static native void callBack(StacksAct a, int turn, int depth);

    private static native void callShape(StacksShape s, StacksAct a);

    static void nativeCall(StacksAct a) {
        callBack(a, sink++ & 1, 5);
    }

    static void nativeTwice(StacksAct a) {
        callShape(b -> callBack(b, 1, 0), a);
    }

    // --- constructors ---

    private static class Outermost {
        final int n;

        Outermost(StacksAct a, int n) {
            this.n = n;
            StacksAct.act(a);
        }
    }

    private static class Middle extends Outermost {
        Middle(StacksAct a, long n) {
            super(a, (int) n + 1);
        }
    }

    private static final class Innermost extends Middle {
        Innermost(StacksAct a) {
            super(a, 7);
        }
    }

    static void constructor(StacksAct a) {
        sink = new Innermost(a).n;
    }

    // --- reflection and method handles ---

    private static final Method ACT;
    private static final MethodHandle CONSTANT;
    private static final MethodHandle[] HANDLES;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            MethodType type = MethodType.methodType(void.class, StacksAct.class);
            MethodHandle plain = lookup.findStatic(StacksAct.class, "act", type);
            MethodHandle virtual = lookup.findVirtual(StacksAct.class, "actHere",
                    MethodType.methodType(void.class));
            MethodHandle test = lookup.findStatic(StacksShapes.class, "hasLock", type.changeReturnType(boolean.class));
            MethodHandle caught = lookup.findStatic(StacksShapes.class, "pass",
                    MethodType.methodType(void.class, StacksAct.Unwound.class, StacksAct.class));
            ACT = StacksAct.class.getDeclaredMethod("act", StacksAct.class);
            CONSTANT = plain;
            HANDLES = new MethodHandle[] {plain, virtual, MethodHandles.guardWithTest(test, plain, virtual),
                MethodHandles.catchException(plain, StacksAct.Unwound.class, caught),
                plain.asType(MethodType.methodType(Object.class, Object.class)).asType(type)};
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static boolean hasLock(StacksAct a) {
        return a.lock != null;
    }

    private static void pass(StacksAct.Unwound e, StacksAct a) {
        throw e;
    }

    static void reflection(StacksAct a) throws Throwable {
        try {
            ACT.invoke(null, a);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    static void constantHandle(StacksAct a) throws Throwable {
        CONSTANT.invokeExact(a);
    }

    static void handles(StacksAct a) throws Throwable {
        HANDLES[(sink++ & 0xffff) % HANDLES.length].invokeExact(a);
    }

    // --- calls of which the compiler cannot know where they go ---

    interface Hop {
        void hop(StacksAct a, int n);
    }

    abstract static class Hopper implements Hop {
        abstract void jump(StacksAct a, int n);

        final void next(StacksAct a, int n) {
            if (n == 0) {
                StacksAct.act(a);
            } else if ((n & 1) == 0) {
                HOPPERS[n % HOPPERS.length].hop(a, n - 1);
            } else {
                HOPPERS[n % HOPPERS.length].jump(a, n - 1);
            }
        }

        @Override
        public void hop(StacksAct a, int n) {
            jump(a, n);
        }
    }

    private static final class Hopper0 extends Hopper {
        @Override
        void jump(StacksAct a, int n) {
            next(a, n);
        }
    }

    private static final class Hopper1 extends Hopper {
        @Override
        void jump(StacksAct a, int n) {
            sink = n;
            next(a, n);
        }
    }

    private static final class Hopper2 extends Hopper {
        @Override
        void jump(StacksAct a, int n) {
            sink += n;
            next(a, n);
        }

        @Override
        public void hop(StacksAct a, int n) {
            next(a, n);
        }
    }

    private static final class Hopper3 extends Hopper {
        @Override
        void jump(StacksAct a, int n) {
            sink -= n;
            next(a, n);
        }

        @Override
        public void hop(StacksAct a, int n) {
            sink++;
            next(a, n);
        }
    }

    private static final class Hopper4 extends Hopper {
        @Override
        void jump(StacksAct a, int n) {
            sink ^= n;
            next(a, n);
        }
    }

    private static final Hopper[] HOPPERS = {new Hopper0(), new Hopper1(), new Hopper2(), new Hopper3(),
        new Hopper4()};

    static void megamorphic(StacksAct a) {
        HOPPERS[0].hop(a, HOPS);
    }

    // --- more arguments than there are registers ---

    static void manyArguments(StacksAct a) {
        sink = (int) many(a, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1.5, 2.5f, 3.5, 4.5f, 5.5, 6.5f, 7.5, 8.5f, 9.5,
                10.5, a);
    }

    private static double many(StacksAct a, long i, int j, long k, int l, long m, int n, long o, int p, long q, int r,
                               double s, float t, double u, float v, double w, float x, double y, float z, double c,
                               double d, Object last) {
        StacksAct.act(a);
        return i + j + k + l + m + n + o + p + q + r + s + t + u + v + w + x + y + z + c + d + last.hashCode() * 0;
    }

    private static double add(float... more) {
        float sum = 0;
        for (float f : more) {
            sum += f;
        }
        return sum;
    }

    /** The methods "cold" are excluded from compilation by the test: adapters are between them and compiled code. */
    static void adapters(StacksAct a) {
        sink = (int) warm1(a, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
    }

    private static double warm1(StacksAct a, int i, int j, int k, int l, int m, int n, long o, int p, int q, int r) {
        return cold1(a, i, j, k, l, m, n, o, p, q, r, 1.5, 2.5f) + i;
    }

    private static double cold1(StacksAct a, int i, int j, int k, int l, int m, int n, long o, int p, int q, int r,
                                double s, float t) {
        return warm2(a, s, t, i, j, k, l, m, n, o, p, q, r, s, t) + add(t, j);
    }

    private static double warm2(StacksAct a, double s, float t, int i, int j, int k, int l, int m, int n, long o, int p,
                                int q, int r, double u, float v) {
        return i + cold2(a) + cold3(n, m, l, k, j, i, o, p, q, r, a) + u + v + s + t;
    }

    private static int cold2(StacksAct a) {
        return a.sink;
    }

    private static double cold3(int i, int j, int k, int l, int m, int n, long o, int p, int q, int r, StacksAct a) {
        StacksAct.act(a);
        return i + j + k + l + m + n + o + p + q + r;
    }

    // --- the thread is another one ---

    static void lambdaThread(StacksAct a) throws Throwable {
        Throwable[] thrown = new Throwable[1];
        Thread t = new Thread(() -> {
            a.prepare();
            try {
                StacksAct.act(a);
            } catch (StacksAct.Unwound e) {
                thrown[0] = e;
            }
        }, "lambda-" + threads.getAndIncrement());
        t.start();
        t.join();
        if (thrown[0] != null) {
            throw thrown[0];
        }
    }

    // --- classes that are loaded for this one use, see StacksFresh ---

    static void osr(StacksAct a) throws Throwable {
        StacksLoader.fresh("StacksFreshOsr").run(a);
    }

    static void deoptimized(StacksAct a) throws Throwable {
        StacksLoader.fresh("StacksFreshDeopt").run(a);
    }

    static void uncommonTrap(StacksAct a) throws Throwable {
        StacksLoader.fresh("StacksFreshTrap").run(a);
    }

    static void initializer(StacksAct a) throws Throwable {
        StacksLoader.fresh("StacksFreshInit").run(a);
    }

    static void freshReflection(StacksAct a) throws Throwable {
        StacksLoader.fresh("StacksFreshReflect").run(a);
    }

    // --- some of all ---

    static void mixture(StacksAct a) throws Throwable {
        callShape(b -> mixed(b, 9), a);
    }

    private static void mixed(StacksAct a, int n) throws Throwable {
        if (n > 0) {
            mixed(a, n - 1);
        } else {
            StacksShape inner = StacksShapes::handles;
            StacksShape outer = b -> callShape(inner, b);
            synchronized (new Own()) {
                outer.run(a);
            }
        }
    }
}
