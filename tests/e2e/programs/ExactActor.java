import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** A thread that plays what it is given. It takes no lock while it has nothing to do. */
final class ExactActor extends Thread {
    private volatile ExactAct act;
    private volatile RandomAccessFile stat;
    private final byte[] buffer = new byte[512];

    ExactActor(String name) {
        super(name);
        setDaemon(true);
        start();
        while (stat == null) {
            Thread.yield();
        }
    }

    void give(ExactAct a) {
        act = a;
    }

    boolean isIdle() {
        return act == null;
    }

    /** Its state is set before it is blocked, and before anybody hears of it: the kernel knows when it sleeps. */
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

    private void openStat() throws IOException {
        Path self = Files.readSymbolicLink(Path.of("/proc/thread-self")); // PID/task/TID
        stat = new RandomAccessFile("/proc/" + self + "/stat", "r");
    }

    @Override
    public void run() {
        try {
            openStat();
            while (true) {
                ExactAct a = act;
                if (a == null) {
                    ExactHold.pause();
                } else {
                    a.run();
                    act = null;
                }
            }
        } catch (Throwable t) {
            t.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }
}
