import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Constructor;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Loads the classes StacksFresh* anew, so that they have never run, and nothing of them is compiled. */
final class StacksLoader extends ClassLoader {
    private static final Map<String, byte[]> FILES = new ConcurrentHashMap<>();

    private StacksLoader() {
        super(StacksLoader.class.getClassLoader());
    }

    static StacksShape fresh(String name) throws ReflectiveOperationException {
        Constructor<?> c = new StacksLoader().loadClass(name).getDeclaredConstructor();
        c.setAccessible(true);
        return (StacksShape) c.newInstance();
    }

    private static byte[] read(String name) {
        try (InputStream in = StacksLoader.class.getResourceAsStream(name + ".class")) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith("StacksFresh")) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> c = findLoadedClass(name);
            if (c == null) {
                byte[] file = FILES.computeIfAbsent(name, StacksLoader::read);
                c = defineClass(name, file, 0, file.length);
            }
            return c;
        }
    }
}
