import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.management.LockInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.MonitorInfo;
import java.lang.management.ThreadInfo;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;

/**
 * The threads of one scene. Those that are not done long after its end hang. What is wrong is written to stderr with
 * all threads, and ends the JVM: with 2 if a promise is broken, with 3 if a thread hangs. -Dstays.keep=true keeps the
 * JVM as it is instead, to be looked at.
 */
final class StaysCrew {
    interface Body {
        void run() throws Exception;
    }

    private static final long PATIENCE_NS = Long.getLong("stays.patience", 60) * 1_000_000_000L;
    private static final long DUMP_MS = 20_000;
    private static volatile StaysCrew now;
    private static volatile boolean told;

    private final String name;
    private final long end;
    private final long least;
    private final List<Thread> threads = new ArrayList<>();
    private final LongAdder steps = new LongAdder();

    static {
        Thread dog = new Thread(StaysCrew::watch, "watchdog");
        dog.setDaemon(true);
        dog.start();
    }

    /** It goes on for ms, and until so many steps are done. */
    StaysCrew(String name, long ms, long least) {
        this.name = name;
        this.least = least;
        end = System.nanoTime() + ms * 1_000_000;
        now = this;
    }

    boolean isOver() {
        return System.nanoTime() - end >= 0 && steps() >= least;
    }

    /** Something has been checked. */
    void step() {
        steps.increment();
    }

    long steps() {
        return steps.sum();
    }

    static int random(int bound) {
        return ThreadLocalRandom.current().nextInt(bound);
    }

    /** A thread of the scene that runs once. */
    Thread start(String who, Body body) {
        Thread t = thread(who, body);
        threads.add(t);
        t.start();
        return t;
    }

    /** A thread of the scene that runs until it is over, and at least once. */
    Thread loop(String who, Body body) {
        return start(who, () -> {
            do {
                body.run();
                step();
            } while (!isOver());
        });
    }

    /** A thread that the caller starts, and waits for. */
    Thread thread(String who, Body body) {
        return new Thread(() -> {
            try {
                body.run();
            } catch (Throwable t) {
                violated("a thread has thrown", t);
            }
        }, name + "-" + who);
    }

    void join() throws InterruptedException {
        for (Thread t : threads) {
            t.join();
        }
    }

    long end() {
        now = null;
        check(steps() > 0, "nothing has been done");
        return steps();
    }

    static void check(boolean holds, String what) {
        if (!holds) {
            violated(what, new Throwable("here"));
        }
    }

    static void violated(String what, Throwable t) {
        StringWriter text = new StringWriter();
        t.printStackTrace(new PrintWriter(text));
        stop(2, "violated: " + what + ", in " + Thread.currentThread().getName() + "\n" + text);
    }

    private static void watch() {
        try {
            while (true) {
                Thread.sleep(100);
                StaysCrew crew = now;
                if (crew != null && System.nanoTime() - crew.end > PATIENCE_NS) {
                    stop(3, "hangs: " + crew.name + "\n");
                }
            }
        } catch (InterruptedException e) {
            violated("the watchdog was interrupted", e);
        }
    }

    /** Past the stream's monitor, which may be what is wrong. */
    private static void write(String text) {
        try {
            new FileOutputStream(FileDescriptor.err).write(text.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            // Nobody is there to be told.
        }
    }

    private static void stop(int status, String what) {
        boolean first;
        synchronized (StaysCrew.class) {
            first = !told;
            told = true;
        }
        try {
            if (first) {
                write(what);
                // Such a JVM may not come to a safepoint any more.
                Thread dump = new Thread(StaysCrew::dump, "dump");
                dump.setDaemon(true);
                dump.start();
                dump.join(DUMP_MS);
            }
            while (!first || Boolean.getBoolean("stays.keep")) {
                Thread.sleep(DUMP_MS);
            }
        } catch (InterruptedException e) {
            // It ends in any case.
        }
        Runtime.getRuntime().halt(status);
    }

    private static void dump() {
        for (Map.Entry<Thread, StackTraceElement[]> e : Thread.getAllStackTraces().entrySet()) {
            StringBuilder text = new StringBuilder(e.getKey() + " " + e.getKey().getState() + "\n");
            for (StackTraceElement frame : e.getValue()) {
                text.append("    at ").append(frame).append('\n');
            }
            write(text.toString());
        }
        for (ThreadInfo t : ManagementFactory.getThreadMXBean().dumpAllThreads(true, true)) {
            LockInfo lock = t.getLockInfo();
            StringBuilder text = new StringBuilder(t.getThreadName() + " " + t.getThreadState());
            text.append(lock == null ? "" : " on " + lock + " owned by " + t.getLockOwnerName());
            for (MonitorInfo m : t.getLockedMonitors()) {
                text.append(" has ").append(m).append(" since ").append(m.getLockedStackFrame());
            }
            write(text.append('\n').toString());
        }
    }
}
