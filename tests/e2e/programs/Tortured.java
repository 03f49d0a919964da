import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.zip.Deflater;

/**
 * What is rare when objects are allocated: threads that live for one allocation, or are stopped in one; memory that runs
 * out; native code that forbids collections; recursion of 10,000 frames; classes of the same name that come and go, hidden
 * ones; reflection, deserialization, arrays of arrays, arrays as large as regions of the heap. A part of all is kept.
 * Tortured [WHAT...]: those, one after the other; else all, and then some at once. Begins at the first line of input, says
 * done, and ends at the second line.
 */
public class Tortured {
    interface Task {
        void run() throws Exception;
    }

    public static class Loaded implements Serializable {
        int number;
        Object[] more = new Object[3];
    }

    static final List<Object> kept = Collections.synchronizedList(new ArrayList<>());
    static volatile Object sink;

    static void shortLived() throws Exception {
        for (int i = 0; i < 100; i++) {
            Thread[] threads = new Thread[50];
            for (int k = 0; k < threads.length; k++) {
                boolean keep = k == 7;
                threads[k] = new Thread(() -> {
                    Object[] one = {new byte[100], "x" + Thread.currentThread().getName()};
                    sink = one;
                    if (keep) {
                        kept.add(one);
                    }
                });
                threads[k].start();
            }
            for (Thread t : threads) {
                t.join();
            }
        }
    }

    static void idle() throws Exception {
        int count = 500;
        CountDownLatch ready = new CountDownLatch(count);
        for (int i = 0; i < count; i++) {
            Thread t = new Thread(() -> {
                Object[] own = {new long[10], new Loaded()};
                ready.countDown();
                while (own != null) {
                    LockSupport.park();
                }
            }, "idle-" + i);
            t.setDaemon(true);
            t.start();
        }
        ready.await();
    }

    /** zlib has the arrays in GetPrimitiveArrayCritical: no collection can begin meanwhile. */
    static void locked() throws Exception {
        atOnce(() -> {
            for (int i = 0; i < 300; i++) {
                byte[] from = new byte[200_000], to = new byte[200_000];
                Deflater deflater = new Deflater();
                deflater.setInput(from);
                deflater.finish();
                while (!deflater.finished()) {
                    deflater.deflate(to);
                }
                deflater.end();
            }
        }, () -> garbage(200_000), () -> garbage(200_000));
    }

    static void garbage(int rounds) {
        for (int i = 0; i < rounds; i++) {
            Object[] some = {new byte[i % 300], new int[i % 40], new Loaded()};
            sink = some;
            if (i % 5000 == 0) {
                kept.add(some);
            }
        }
    }

    static void outOfMemory() {
        for (int i = 0; i < 4; i++) {
            List<Object> all = new ArrayList<>();
            try {
                while (true) {
                    all.add(new byte[300_000]);
                    all.add(new Loaded());
                }
            } catch (OutOfMemoryError e) {
                all = null;
                kept.add(e);
            }
            garbage(1000);
        }
        try {
            sink = new long[Integer.MAX_VALUE];
        } catch (OutOfMemoryError e) {
            kept.add(e);
        }
    }

    static Object[] down(int depth) {
        Object[] mine = {new byte[depth % 50], depth == 0 ? null : down(depth - 1)};
        return mine;
    }

    static void recursion() throws Exception {
        for (int i = 0; i < 20; i++) {
            Thread t = new Thread(null, () -> {
                sink = down(10_000);
            }, "deep", 256L << 20);
            t.start();
            t.join();
        }
        kept.add(sink);
    }

    @SuppressWarnings("removal")
    static void stopped() throws Exception {
        for (int i = 0; i < 60; i++) {
            List<Object> own = new ArrayList<>();
            Thread t = new Thread(() -> {
                try {
                    while (true) {
                        own.add(new byte[i(own) % 3000]);
                        if (own.size() > 500) {
                            own.clear();
                        }
                    }
                } catch (ThreadDeath e) {
                    kept.add(e);
                }
            });
            t.start();
            Thread.sleep(5);
            t.stop();
            t.join();
            kept.add(own.toArray());
        }
    }

    static int i(List<?> own) {
        return own.size() * 7;
    }

    static void reflection() throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(new HashMap<>(Collections.singletonMap("key", new Loaded())));
        }
        for (int i = 0; i < 3000; i++) {
            List<Object> some = new ArrayList<>();
            some.add(Array.newInstance(i % 2 == 0 ? int.class : String.class, i % 400));
            some.add(Array.newInstance(Loaded.class, 3, i % 5, 2));
            some.add(new int[i % 10][20][3]);
            some.add(new Object[7][]);
            some.add(((Object[]) some.get(1)).clone());
            some.add(Arrays.copyOf(new char[i % 300], (i * 7) % 500));
            some.add(Loaded.class.getDeclaredConstructor().newInstance());
            try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
                some.add(in.readObject());
            }
            try {
                sink = some.get(100);
            } catch (IndexOutOfBoundsException e) {
                some.add(e);
            }
            sink = some;
            if (i % 100 == 0) {
                kept.add(some);
            }
        }
    }

    static byte[] bytesOf(String name) throws Exception {
        try (InputStream in = Tortured.class.getResourceAsStream(name + ".class")) {
            return in.readAllBytes();
        }
    }

    static final class OwnLoader extends ClassLoader {
        OwnLoader() {
            super(Tortured.class.getClassLoader());
        }

        Class<?> define(byte[] bytes) {
            return defineClass("Tortured$Loaded", bytes, 0, bytes.length);
        }
    }

    static void loaders() throws Exception {
        byte[] bytes = bytesOf("Tortured$Loaded");
        for (int i = 0; i < 400; i++) {
            Class<?> c = new OwnLoader().define(bytes);
            Object[] some = new Object[50];
            for (int k = 0; k < some.length; k++) {
                some[k] = c.getDeclaredConstructor().newInstance();
            }
            sink = some;
            if (i % 40 == 0) {
                kept.add(some);
            }
            if (i % 100 == 99) {
                System.gc();
            }
        }
    }

    static void hidden() throws Exception {
        byte[] bytes = bytesOf("TorturedHidden");
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        // By reflection: this is compiled for JDK 11, too, which has none.
        Class<?> option = Class.forName("java.lang.invoke.MethodHandles$Lookup$ClassOption");
        Object none = Array.newInstance(option, 0);
        Method define = lookup.getClass().getMethod("defineHiddenClass", byte[].class, boolean.class, none.getClass());
        for (int i = 0; i < 200; i++) {
            Class<?> c = ((MethodHandles.Lookup) define.invoke(lookup, bytes, true, none)).lookupClass();
            Object[] some = {c.getDeclaredConstructor().newInstance(), Array.newInstance(c, 4)};
            sink = some;
            if (i % 20 == 0) {
                kept.add(some);
            }
        }
    }

    static void humongous() {
        for (int i = 0; i < 300; i++) {
            Object large = i % 3 == 0 ? new Object[(i % 40) * 30_000] : new byte[(i % 20) * 700_000];
            sink = large;
            garbage(100);
            if (i % 100 == 1) {
                kept.add(large);
            }
        }
    }

    static void atOnce(Task... tasks) throws Exception {
        Thread[] threads = new Thread[tasks.length];
        List<Throwable> wrong = Collections.synchronizedList(new ArrayList<>());
        for (int i = 0; i < tasks.length; i++) {
            Task task = tasks[i];
            threads[i] = new Thread(() -> {
                try {
                    task.run();
                } catch (Throwable e) {
                    wrong.add(e);
                }
            }, "at-once-" + i);
            threads[i].start();
        }
        for (Thread t : threads) {
            t.join();
        }
        if (!wrong.isEmpty()) {
            throw new IllegalStateException(wrong.get(0));
        }
    }

    static final String[] ALL = {"idle", "shortLived", "reflection", "hidden", "loaders", "recursion", "stopped", "humongous",
        "locked", "outOfMemory", "atOnce"};

    static Task task(String name) throws Exception {
        if (name.equals("atOnce")) {
            return () -> atOnce(Tortured::reflection, Tortured::loaders, Tortured::locked, Tortured::hidden,
                    Tortured::humongous);
        }
        Method method = Tortured.class.getDeclaredMethod(name);
        return () -> method.invoke(null);
    }

    public static void main(String[] args) throws Exception {
        System.out.println("ready " + ProcessHandle.current().pid());
        int c;
        while ((c = System.in.read()) >= 0 && c != '\n') {
        }
        for (String what : args.length > 0 ? args : ALL) {
            task(what).run();
        }
        System.out.println("done");
        while ((c = System.in.read()) >= 0 && c != '\n') {
        }
        System.exit(0);
    }
}
