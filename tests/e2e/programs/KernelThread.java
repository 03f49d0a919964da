import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A thread as the kernel sees it. Java's state of a thread is that it is blocked some time before it is, and before any
 * probe tells of it; when the kernel says that it sleeps, it has come past all that.
 */
public final class KernelThread implements AutoCloseable {
    private static final int NAME_MAX = 15;
    private static final int TRIES = 10_000;

    private final RandomAccessFile stat;
    private final byte[] buffer = new byte[512];

    private KernelThread(RandomAccessFile stat) {
        this.stat = stat;
    }

    static KernelThread current() {
        try {
            Path self = Files.readSymbolicLink(Path.of("/proc/thread-self")); // PID/task/TID
            return new KernelThread(new RandomAccessFile("/proc/" + self + "/stat", "r"));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Of this process. A list of threads that is read while others end may leave some out. */
    static KernelThread named(String name) {
        String wanted = name.substring(0, Math.min(name.length(), NAME_MAX)) + "\n";
        for (int i = 0; i < TRIES; i++) {
            KernelThread found = find(wanted);
            if (found != null) {
                return found;
            }
            Thread.yield();
        }
        throw new IllegalStateException("no thread " + name);
    }

    private static KernelThread find(String wanted) {
        for (String tid : new File("/proc/self/task").list()) {
            try {
                if (Files.readString(Path.of("/proc/self/task", tid, "comm")).equals(wanted)) {
                    return new KernelThread(new RandomAccessFile("/proc/self/task/" + tid + "/stat", "r"));
                }
            } catch (IOException e) {
                // It has ended.
            }
        }
        return null;
    }

    boolean isAsleep() {
        try {
            stat.seek(0);
            int n = stat.read(buffer);
            String line = new String(buffer, 0, n, StandardCharsets.ISO_8859_1);
            return line.charAt(line.lastIndexOf(')') + 2) == 'S';
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        try {
            stat.close();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
