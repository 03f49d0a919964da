package spoor;

import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;
import java.util.concurrent.Callable;

/**
 * Marks what a thread works on, so that {@code spoor record} can say where the time of a request
 * went. Marks of a thread nest: an {@link #end} ends the innermost.
 *
 * <pre>
 * try (Mark.Span span = Mark.span("checkout")) {
 *     ...
 * }
 * </pre>
 *
 * While nobody records, a mark is one read of memory. Nothing here throws, whatever happens; where
 * the native library cannot be loaded (not Linux on x86-64, a temporary folder in which nothing may
 * be executed), marks do nothing, and the logger "spoor.mark" says why at its level DEBUG.
 *
 * <p>The library is unpacked to java.io.tmpdir, loaded, and removed again. The system property
 * spoor.mark.library names a file to be loaded in its place.
 *
 * <p>Names are what times are added up by: "GET /cart" is one, "GET /cart/4711" is not. 127 bytes
 * are kept of each.
 */
public final class Mark {
    private static final int NAME_BYTES = 127;
    private static final boolean LITTLE = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;
    private static final int BEGIN = LITTLE ? 0xffff : 0xffff << 16;
    private static final int END = ~BEGIN;

    /* A plain read might be hoisted out of a loop by the compiler, and never see anybody come. */
    private static final VarHandle WORD =
            MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());
    private static final ByteBuffer SEMAPHORES = load();

    private static final Span NONE = new Span(null);

    private Mark() {
    }

    /** Whether somebody is recording; worth asking only where a name is costly to make. */
    public static boolean isRecorded() {
        return isAttached(BEGIN);
    }

    /** The calling thread begins something. */
    public static void begin(String name) {
        if (isAttached(BEGIN)) {
            tellBegin(name);
        }
    }

    /** What the calling thread has begun last ends. */
    public static void end() {
        if (isAttached(END)) {
            tellEnd();
        }
    }

    /** Begins something that ends when what is returned is closed, by the same thread. */
    public static Span span(String name) {
        if (!isAttached(BEGIN)) {
            return NONE;
        }
        tellBegin(name);
        return new Span(Thread.currentThread());
    }

    /** The task as a span, in whatever thread it is run. */
    public static Runnable runnable(String name, Runnable task) {
        return () -> {
            try (Span span = span(name)) {
                task.run();
            }
        };
    }

    /** The task as a span, in whatever thread it is called. */
    public static <T> Callable<T> callable(String name, Callable<T> task) {
        return () -> {
            try (Span span = span(name)) {
                return task.call();
            }
        };
    }

    /** Ends what {@link #span} has begun; once, and by that thread only. */
    public static final class Span implements AutoCloseable {
        private Thread open; // null: it has ended, or was never told to have begun

        private Span(Thread open) {
            this.open = open;
        }

        @Override
        public void close() {
            if (open != null && open == Thread.currentThread()) {
                open = null;
                end();
            }
        }
    }

    private static boolean isAttached(int which) {
        return ((int) WORD.getOpaque(SEMAPHORES, 0) & which) != 0;
    }

    private static void tellBegin(String name) {
        try {
            byte[] text = (name == null ? "null" : name).getBytes(StandardCharsets.UTF_8);
            int length = Math.min(text.length, NAME_BYTES);
            while (length < text.length && (text[length] & 0xc0) == 0x80) {
                length--; // not amid a character
            }
            fireBegin(text, length);
        } catch (Throwable e) {
            // No memory, no stack: not the application's trouble.
        }
    }

    private static void tellEnd() {
        try {
            fireEnd();
        } catch (Throwable e) {
            // as above
        }
    }

    private static ByteBuffer load() {
        try {
            String given = System.getProperty("spoor.mark.library");
            if (given != null) {
                System.load(given);
            } else {
                unpackAndLoad();
            }
            return semaphores().order(ByteOrder.nativeOrder());
        } catch (Throwable e) {
            tellWhy(e);
            return ByteBuffer.allocateDirect(Integer.BYTES);
        }
    }

    /* The mapping keeps the file alive: spoor finds it through that. */
    private static void unpackAndLoad() throws IOException {
        String system = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        String name = "libspoor-mark-" + system + "-" + System.getProperty("os.arch") + ".so";
        try (InputStream library = Mark.class.getResourceAsStream(name)) {
            if (library == null) {
                throw new IOException("there is no " + name + " in the jar");
            }
            Path file = Files.createTempFile("spoor-mark-", ".so");
            try {
                Files.copy(library, file, StandardCopyOption.REPLACE_EXISTING);
                System.load(file.toString());
            } finally {
                Files.deleteIfExists(file);
            }
        }
    }

    private static void tellWhy(Throwable why) {
        try {
            System.getLogger("spoor.mark").log(System.Logger.Level.DEBUG, "marks do nothing: " + why);
        } catch (Throwable e) {
            // It has been tried.
        }
    }

    private static native ByteBuffer semaphores();

    private static native void fireBegin(byte[] name, int length);

    private static native void fireEnd();
}
