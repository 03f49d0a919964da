import java.io.InputStream;
import java.lang.reflect.Method;

/**
 * A thread that spends known shares of its CPU time where code does not stay what it was: takes turns of 10 to 25 ms in methods of its
 * own that throw and catch exceptions, load a class anew and run it, call a method whose compiled code was invalidated by that
 * class, and call through native code (with -Dsun.reflect.inflationThreshold=2147483647). Another thread collects the
 * classes of former turns. Argument: seconds. Begins and answers as Hot does.
 */
public class Odd {
    public abstract static class Shape {
        public abstract long area(long x);
    }

    static final class Thrown extends RuntimeException {
        final long value;

        Thrown(long value) {
            this.value = value;
        }
    }

    /** Has a class OddFresh of its own. */
    static final class Loader extends ClassLoader {
        Loader() {
            super(Odd.class.getClassLoader());
        }

        @Override
        public Class<?> loadClass(String name) throws ClassNotFoundException {
            if (!name.equals("OddFresh"))
                return super.loadClass(name);
            try (InputStream in = Odd.class.getResourceAsStream("OddFresh.class")) {
                byte[] file = in.readAllBytes();
                return defineClass(name, file, 0, file.length);
            } catch (java.io.IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    static final String[] METHODS = {"exceptions", "fresh", "deoptimized", "reflected"};
    static volatile boolean over;
    static Shape shape;
    static Method called;

    static long thrower(int depth, long x) {
        if (depth == 0)
            throw new Thrown(x);
        return thrower(depth - 1, x) + 1;
    }

    static long exceptions(int n) {
        long x = 0;
        for (int i = 0; i < n / 8; i++)
            try {
                x += thrower(10, i);
            } catch (Thrown e) {
                x += e.value;
            }
        return x;
    }

    static long fresh(int n) throws Exception {
        shape = (Shape) new Loader().loadClass("OddFresh").getDeclaredConstructor().newInstance();
        long x = 0;
        for (int i = 0; i < n * 100; i++)
            x += shape.area(i);
        return x;
    }

    static long deoptimized(int n) {
        long x = 0;
        for (int i = 0; i < n * 100; i++)
            x += shape.area(x + i);
        return x;
    }

    static long called(long x) {
        for (int i = 0; i < 100; i++)
            x = x * 6364136223846793005L + 1442695040888963407L;
        return x;
    }

    static long reflected(int n) throws Exception {
        long x = n;
        for (int i = 0; i < n; i++)
            x = (Long) called.invoke(null, x);
        return x;
    }

    static long work(int method, int n) throws Exception {
        switch (method) {
        case 0:
            return exceptions(n);
        case 1:
            return fresh(n);
        case 2:
            return deoptimized(n);
        default:
            return reflected(n);
        }
    }

    static void odd(long seconds) throws Exception {
        long[] spent = new long[METHODS.length];
        long begin = Hot.now(), t = begin;
        while (t - begin < seconds * 1_000_000_000L)
            for (int i = 0; i < METHODS.length; i++) {
                long until = t + (10 + 5 * i) * 1_000_000L, from = t;
                while (t < until) {
                    Hot.sink += work(i, 400);
                    t = Hot.now();
                }
                spent[i] += t - from;
            }
        Hot.tell(METHODS, spent);
    }

    static void collect() {
        while (!over) {
            System.gc();
            try {
                Thread.sleep(200);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    public static void main(String[] args) throws Exception {
        long seconds = Long.parseLong(args[0]);
        called = Odd.class.getDeclaredMethod("called", long.class);
        System.out.println("ready " + ProcessHandle.current().pid());
        System.in.read();
        Thread thread = new Thread(() -> {
            try {
                odd(seconds);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            } finally {
                over = true;
            }
        }, "odd"), collector = new Thread(Odd::collect, "collector");
        collector.start();
        thread.start();
        thread.join();
        collector.join();
        System.out.println(Hot.said.append("}"));
        while (System.in.read() >= 0) {
        }
    }
}
