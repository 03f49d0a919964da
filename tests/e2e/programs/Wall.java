import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that each do one known thing and time it by their own clock. Arguments: seconds, and the things:
 * sleep, wait, park, lock, io, spin, collect. Waits for a line on stdin, does them all at once, prints one
 * JSON array, {"name", "total_ns", "in_ns": in the calls that it is about, "cpu_ns", "gone_ns": of a spinning
 * thread, in gaps that are no part of its loop, "throttled_ns": of a cgroup, see throttledNs()}, and waits for the end of stdin.
 */
public class Wall {
    static final int MS = 40; // each time
    static final long GAP_NS = 50_000;
    static final ThreadMXBean mx = ManagementFactory.getThreadMXBean();
    static final Object monitor = new Object();
    static volatile boolean held;
    static volatile Object garbage;
    static volatile long untilNs;

    interface Thing {
        /** Does it once; for how long. */
        long once(Worker w) throws Exception;
    }

    static boolean goesOn() {
        return System.nanoTime() < untilNs;
    }

    static final class Worker extends Thread {
        final Thing thing;
        Closeable last = () -> {}; // when its time is over
        volatile long totalNs, inNs, cpuNs, goneNs, throttledNs;
        long lastNs;

        Worker(String name, Thing thing) {
            super(name);
            this.thing = thing;
        }

        @Override
        public void run() {
            long begin = System.nanoTime();
            try {
                long throttled = throttledNs();
                while (goesOn()) {
                    inNs += thing.once(this);
                }
                last.close();
                throttledNs = throttledNs() - throttled;
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
            cpuNs = mx.getCurrentThreadCpuTime();
            totalNs = System.nanoTime() - begin;
        }

        String json() {
            return String.format("{\"name\":\"%s\",\"total_ns\":%d,\"in_ns\":%d,\"cpu_ns\":%d,\"gone_ns\":%d,"
                                 + "\"throttled_ns\":%d}", getName(), totalNs, inNs, cpuNs, goneNs, throttledNs);
        }
    }

    /** As the kernel counts it for the cgroup whose cpu.stat is given; complete, as who asks is running. */
    static long throttledNs() throws IOException {
        String stat = System.getProperty("stat");
        if (stat == null) {
            return 0;
        }
        for (String line : Files.readAllLines(Path.of(stat))) {
            String[] words = line.split(" ");
            if (words[0].equals("throttled_time") || words[0].equals("throttled_usec")) {
                return Long.parseLong(words[1]) * (words[0].endsWith("usec") ? 1000 : 1);
            }
        }
        throw new IOException(stat + " has no throttled time");
    }

    static long sleep(int ms) throws InterruptedException {
        long before = System.nanoTime();
        Thread.sleep(ms);
        return System.nanoTime() - before;
    }

    static long await() throws InterruptedException {
        Object own = new Object();
        synchronized (own) {
            long before = System.nanoTime();
            own.wait(MS);
            return System.nanoTime() - before;
        }
    }

    static long park() {
        long before = System.nanoTime();
        LockSupport.parkNanos(MS * 1_000_000L);
        return System.nanoTime() - before;
    }

    static long hold() throws InterruptedException {
        synchronized (monitor) {
            held = true;
            Thread.sleep(MS);
            held = false;
        }
        Thread.sleep(2);
        return 0;
    }

    /** Only while somebody holds it: then it is blocked nearly as long as that. */
    static long contend() throws InterruptedException {
        while (!held && goesOn()) {
            Thread.sleep(1);
        }
        long before = System.nanoTime();
        synchronized (monitor) {
            return System.nanoTime() - before;
        }
    }

    /** Its loop goes on from call to call: what comes between them is a gap, too. */
    static long spin(Worker w) {
        long begin = System.nanoTime();
        long last = w.lastNs == 0 ? begin : w.lastNs;
        long now = begin;
        while (now < begin + MS * 1_000_000L) {
            now = System.nanoTime();
            w.goneNs += now - last > GAP_NS ? now - last : 0;
            last = now;
        }
        w.lastNs = now;
        return now - begin;
    }

    static long collect() throws InterruptedException {
        Object[] live = new Object[200_000];
        for (int i = 0; i < live.length; i++) {
            live[i] = new byte[16];
        }
        garbage = live;
        System.gc();
        return sleep(5);
    }

    static void addReader(List<Worker> workers) throws Exception {
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Socket out = new Socket(server.getInetAddress(), server.getLocalPort());
        InputStream in = server.accept().getInputStream();
        OutputStream to = out.getOutputStream();

        Worker feeder = new Worker("feeder", w -> {
            sleep(MS);
            to.write(1);
            return 0;
        });
        feeder.last = out; // who reads has had the last byte while there was time left, and reads again
        workers.add(feeder);
        workers.add(new Worker("io", w -> {
            long before = System.nanoTime();
            return in.read() < 0 ? 0 : System.nanoTime() - before;
        }));
    }

    static void add(List<Worker> workers, String name) throws Exception {
        String thing = name.replaceFirst("-.*", "");
        switch (thing) {
        case "sleep":
            workers.add(new Worker(name, w -> sleep(MS)));
            break;
        case "wait":
            workers.add(new Worker(name, w -> await()));
            break;
        case "park":
            workers.add(new Worker(name, w -> park()));
            break;
        case "spin":
            workers.add(new Worker(name, Wall::spin));
            break;
        case "collect":
            workers.add(new Worker(name, w -> collect()));
            break;
        case "lock":
            workers.add(new Worker("holder", w -> hold()));
            workers.add(new Worker(name, w -> contend()));
            break;
        case "io":
            addReader(workers);
            break;
        default:
            throw new IllegalArgumentException(name);
        }
    }

    static String perform(String[] args, int ms) throws Exception {
        List<Worker> workers = new ArrayList<>();
        List<String> lines = new ArrayList<>();

        for (int i = 1; i < args.length; i++) {
            add(workers, args[i]);
        }
        untilNs = System.nanoTime() + ms * 1_000_000L;
        workers.forEach(Thread::start);
        for (Worker w : workers) {
            w.join();
            lines.add(w.json());
        }
        return "[" + String.join(",", lines) + "]";
    }

    public static void main(String[] args) throws Exception {
        int ms = (int) (Double.parseDouble(args[0]) * 1000);
        Scanner in = new Scanner(System.in);

        perform(args, 3 * MS); // loads and links what it takes
        System.out.println("ready " + ProcessHandle.current().pid());
        in.nextLine();
        System.out.println(perform(args, ms));
        while (in.hasNextLine()) {
            in.nextLine();
        }
    }
}
