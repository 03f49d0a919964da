import java.io.File;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

import spoor.Mark;

/**
 * Spans with known contents, each with its own clock, which is the recorder's: nanoTime is
 * CLOCK_MONOTONIC. A line on stdin says what to do; for each span there is a line
 *
 *   span NAME before begun ending ended known cpu
 *
 * The span began between before and begun, and ended between ending and ended; known is how much of
 * it was what its name says, at least (for burn: CPU time; for lock: from when the thread was seen
 * blocked until the holder let go; for others: what was asked for); cpu is what the thread ran for
 * from before the span began until after it ended. "done" comes last.
 */
public class Spans {
    static final class Lock { }

    interface Work {
        long run() throws Exception; // known ns
    }

    static final long MS = 1_000_000;
    static final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    static final Lock lock = new Lock();
    static final ReentrantLock reentrant = new ReentrantLock();

    static synchronized void tell(String text) {
        System.out.println(text);
    }

    static void span(String name, Work work) throws Exception {
        long cpu = threads.getCurrentThreadCpuTime();
        long before = System.nanoTime();
        Mark.begin(name);
        long begun = System.nanoTime();
        long known = work.run();
        long ending = System.nanoTime();
        Mark.end();
        long ended = System.nanoTime();
        cpu = threads.getCurrentThreadCpuTime() - cpu;
        tell("span " + name + " " + before + " " + begun + " " + ending + " " + ended + " " + known + " " + cpu);
    }

    static long sleep(long ms) throws Exception {
        Thread.sleep(ms);
        return ms * MS;
    }

    static long burn(long ms) {
        long from = threads.getCurrentThreadCpuTime();
        long ran = 0;
        while (ran < ms * MS) {
            ran = threads.getCurrentThreadCpuTime() - from;
        }
        return ran;
    }

    static long park(long ms) {
        long until = System.nanoTime() + ms * MS;
        for (long left = ms * MS; left > 0; left = until - System.nanoTime()) {
            LockSupport.parkNanos(lock, left);
        }
        return ms * MS;
    }

    static long waits(long ms) throws Exception {
        synchronized (lock) {
            lock.wait(ms);
        }
        return ms * MS;
    }

    /** Another thread writes a time after it is asked to. */
    static final class Peer extends Thread implements AutoCloseable {
        final ServerSocket server = new ServerSocket(0);
        final Socket out = new Socket("127.0.0.1", server.getLocalPort());
        final Socket in = server.accept();
        final long ms;
        volatile boolean asked;

        Peer(long ms) throws Exception {
            super("writer");
            this.ms = ms;
            start();
        }

        @Override
        public void run() {
            try {
                while (!asked) {
                    Thread.sleep(1);
                }
                Thread.sleep(ms);
                out.getOutputStream().write(1);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }

        long read() throws Exception {
            asked = true;
            in.getInputStream().read();
            return ms * MS;
        }

        @Override
        public void close() throws Exception {
            join();
            in.close();
            out.close();
            server.close();
        }
    }

    /** Holds the lock until a time after it has seen the other thread blocked. */
    static class Holder extends Thread {
        final Thread waiter;
        final long ms;
        volatile boolean has;
        volatile long known;

        Holder(Thread waiter, long ms) {
            super("holder");
            this.waiter = waiter;
            this.ms = ms;
        }

        @Override
        public void run() {
            hold();
        }

        void hold() {
            synchronized (lock) {
                has = true;
                while (waiter.getState() != State.BLOCKED) {
                    Thread.onSpinWait();
                }
                keep();
            }
        }

        void keep() {
            long from = System.nanoTime();
            while (System.nanoTime() - from < ms * MS) {
                LockSupport.parkNanos(MS);
            }
            known = System.nanoTime() - from;
        }
    }

    /** The same with a lock of java.util.concurrent. */
    static final class JucHolder extends Holder {
        JucHolder(Thread waiter, long ms) {
            super(waiter, ms);
        }

        @Override
        void hold() {
            reentrant.lock();
            try {
                has = true;
                while (!reentrant.hasQueuedThread(waiter) || waiter.getState() != State.WAITING) {
                    Thread.onSpinWait();
                }
                keep();
            } finally {
                reentrant.unlock();
            }
        }
    }

    static long contendJuc(Holder holder) {
        reentrant.lock();
        try {
            return holder.known;
        } finally {
            reentrant.unlock();
        }
    }

    static long contend(Holder holder) {
        synchronized (lock) {
            return holder.known;
        }
    }

    static Holder has(Holder holder) {
        holder.start();
        while (!holder.has) {
            Thread.onSpinWait();
        }
        return holder;
    }

    static void scenes() throws Exception {
        span("sleep", () -> sleep(50));
        Holder holder = has(new Holder(Thread.currentThread(), 80));
        span("lock", () -> contend(holder));
        holder.join();
        Holder jucHolder = has(new JucHolder(Thread.currentThread(), 45));
        span("juc", () -> contendJuc(jucHolder));
        jucHolder.join();
        span("burn", () -> burn(60));
        span("park", () -> park(40));
        span("wait", () -> waits(30));
        try (Peer peer = new Peer(35)) {
            span("read", peer::read);
        }
        span("outer", () -> {
            burn(20);
            span("inner", () -> {
                span("innermost", () -> sleep(25));
                return burn(20);
            });
            return sleep(15);
        });
    }

    static void inThread(String name, Callable<?> work) throws Exception {
        Exception[] failed = new Exception[1];
        Thread thread = new Thread(() -> {
            try {
                work.call();
            } catch (Exception e) {
                failed[0] = e;
            }
        }, name);
        thread.start();
        thread.join();
        if (failed[0] != null) {
            throw failed[0];
        }
    }

    static Object all(int rounds) throws Exception {
        for (int i = 0; i < rounds; i++) {
            scenes();
        }
        return null;
    }

    /** One after the other in this thread, then one in each of four threads at once. */
    static void sides() throws Exception {
        Mark.runnable("a runnable", () -> LockSupport.parkNanos(MS)).run();
        Mark.callable("a callable", () -> sleep(2)).call();
        try (Mark.Span span = Mark.span("a span")) {
            sleep(2);
            span.close();
        }
        Mark.begin("\u00e4\u20ac\ud83d\ude00 ".repeat(40));
        Mark.end();
        Mark.begin("");
        Mark.end();
        Mark.begin(null);
        Mark.end();
        try {
            Mark.callable("that fails", () -> {
                throw new IllegalStateException("on purpose");
            }).call();
            throw new AssertionError("it has not failed");
        } catch (IllegalStateException e) {
            // The wrapper passes it on.
        }
        List<Thread> crew = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Thread thread = new Thread(Mark.runnable("together", () -> LockSupport.parkNanos(20 * MS)), "crew-" + i);
            crew.add(thread);
            thread.start();
        }
        for (Thread thread : crew) {
            thread.join();
        }
    }

    /** Two copies of the classes and of the library. */
    static void loaders() throws Exception {
        List<URL> paths = new ArrayList<>();
        for (String path : System.getProperty("java.class.path").split(File.pathSeparator)) {
            paths.add(new File(path).toURI().toURL());
        }
        for (int i = 0; i < 2; i++) {
            URLClassLoader loader = new URLClassLoader(paths.toArray(new URL[0]), null);
            Class<?> mark = loader.loadClass("spoor.Mark");
            java.lang.reflect.Method is = mark.getMethod("isRecorded");
            long until = System.nanoTime() + 30_000 * MS;
            while (!(boolean) is.invoke(null) && System.nanoTime() < until) {
                Thread.sleep(1);
            }
            mark.getMethod("begin", String.class).invoke(null, "of loader " + i);
            mark.getMethod("end").invoke(null);
        }
    }

    static void renames(int count) throws Exception {
        for (int i = 0; i < count; i++) {
            long cpu = threads.getCurrentThreadCpuTime();
            long before = System.nanoTime();
            Thread.currentThread().setName("req-" + i + " /" + (i % 2 == 0 ? "a" : "b"));
            long begun = System.nanoTime();
            sleep(5);
            long ending = System.nanoTime();
            Thread.currentThread().setName("idle");
            long ended = System.nanoTime();
            cpu = threads.getCurrentThreadCpuTime() - cpu;
            tell("span /" + (i % 2 == 0 ? "a" : "b") + " " + before + " " + begun + " " + ending + " " + ended + " "
                    + 5 * MS + " " + cpu);
        }
    }

    /** Many marks, for a look at whether anything of them is done while nobody is there. */
    static void many(int count) {
        for (int i = 0; i < count; i++) {
            Mark.begin("many");
            Mark.end();
        }
    }

    static void obey(String[] words) throws Exception {
        int number = words.length > 1 ? Integer.parseInt(words[1]) : 1;
        switch (words[0]) {
            case "scenes":
                inThread("worker", () -> all(number));
                break;
            case "sides":
                sides();
                break;
            case "loaders":
                loaders();
                break;
            case "renames":
                inThread("renamed", () -> {
                    renames(number);
                    return null;
                });
                break;
            case "many":
                many(number);
                break;
            case "recorded":
                tell("recorded " + Mark.isRecorded());
                break;
            case "await": // "await 1": until marks are recorded, "await 0": until they are not any more
                long until = System.nanoTime() + 30_000 * MS;
                while (Mark.isRecorded() != (number == 1) && System.nanoTime() < until) {
                    Thread.sleep(1);
                }
                tell("recorded " + Mark.isRecorded());
                break;
            default:
                throw new IllegalArgumentException(words[0]);
        }
    }

    public static void main(String[] args) throws Exception {
        tell("ready " + ProcessHandle.current().pid());
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            obey(in.nextLine().split(" "));
            tell("done");
        }
    }
}
