import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/** Classes that are unloaded, whose monitors were contended: the class itself, and its objects. */
final class StaysLoaders implements Stays.Scene {
    private static final int THREADS = 3;
    private static final int WANTED = 300; // by three threads, who take two for each of 50 turns
    private static final int COLLECTIONS_MAX = 50;

    static final class Loader extends ClassLoader {
        private final byte[] file;

        Loader(byte[] file) {
            super(StaysLoaders.class.getClassLoader());
            this.file = file;
        }

        Callable<?> fresh() throws ReflectiveOperationException {
            Constructor<?> c = defineClass("StaysFresh", file, 0, file.length).getDeclaredConstructor();
            return (Callable<?>) c.newInstance();
        }
    }

    private final List<WeakReference<ClassLoader>> loaders = new ArrayList<>();

    private static byte[] read() throws IOException {
        try (InputStream in = StaysLoaders.class.getResourceAsStream("StaysFresh.class")) {
            return in.readAllBytes();
        }
    }

    private void load(StaysCrew crew, byte[] file) throws Exception {
        Loader loader = new Loader(file);
        Callable<?> fresh = loader.fresh();
        Thread[] threads = new Thread[THREADS];
        int[] most = new int[THREADS];

        loaders.add(new WeakReference<>(loader));
        for (int n = 0; n < THREADS; n++) {
            int who = n;
            threads[n] = crew.thread("fresh" + n, () -> most[who] = (Integer) fresh.call());
            threads[n].start();
        }
        int count = 0;
        for (int n = 0; n < THREADS; n++) {
            threads[n].join();
            count = Math.max(count, most[n]);
        }
        StaysCrew.check(count == WANTED, count + " instead of " + WANTED);
    }

    private boolean isAnyGone() {
        return loaders.stream().anyMatch(l -> l.get() == null);
    }

    @Override
    public void begin(StaysCrew crew) throws IOException {
        byte[] file = read();
        int[] turn = {0};
        crew.loop("loader", () -> {
            load(crew, file);
            if (++turn[0] % 16 == 0) {
                System.gc();
                loaders.removeIf(l -> l.get() == null);
            }
        });
    }

    @Override
    public void end(StaysCrew crew) throws Exception {
        load(crew, read());
        for (int i = 0; i < COLLECTIONS_MAX && !isAnyGone(); i++) {
            System.gc();
        }
        StaysCrew.check(isAnyGone(), "none of the loaders is ever unloaded");
    }
}
