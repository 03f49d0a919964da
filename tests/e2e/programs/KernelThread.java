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

    private final RandomAccessFile stat, syscall, schedstat; // of /proc/PID/task/TID
    private final byte[] buffer = new byte[512];

    private KernelThread(String folder) throws IOException {
        stat = new RandomAccessFile(folder + "/stat", "r");
        try {
            syscall = new RandomAccessFile(folder + "/syscall", "r");
            schedstat = new RandomAccessFile(folder + "/schedstat", "r");
        } catch (IOException e) {
            stat.close();
            throw e;
        }
    }

    static KernelThread current() {
        try {
            Path self = Files.readSymbolicLink(Path.of("/proc/thread-self")); // PID/task/TID
            return new KernelThread("/proc/" + self);
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
                    return new KernelThread("/proc/self/task/" + tid);
                }
            } catch (IOException e) {
                // It has ended.
            }
        }
        return null;
    }

    private String read(RandomAccessFile file) throws IOException {
        file.seek(0);
        return new String(buffer, 0, file.read(buffer), StandardCharsets.ISO_8859_1);
    }

    /**
     * A thread has the state of a sleeper some time before it leaves its CPU, and may be woken before it does. The
     * kernel looks for its system call only once it has left.
     */
    boolean isAsleep() {
        try {
            String line = read(stat);
            return line.charAt(line.lastIndexOf(')') + 2) == 'S' && !read(syscall).startsWith("running");
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** For how long it has waited for a CPU. */
    long runnableNs() {
        try {
            return Long.parseLong(read(schedstat).split("\\s+")[1]);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        try {
            stat.close();
            syscall.close();
            schedstat.close();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
