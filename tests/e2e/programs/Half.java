import java.lang.management.ManagementFactory;

/**
 * Two threads that are busy all the time, each in a method of its own, left or right. Prints as JSON the CPU time of each by its
 * own clock, in ns. Argument: seconds.
 */
public class Half {
    static volatile double sink;

    static void left(long until) {
        long x = 1;
        while (System.nanoTime() < until)
            for (int i = 0; i < 1000; i++)
                x = x * 6_364_136_223_846_793_005L + 1_442_695_040_888_963_407L;
        sink += x;
    }

    static void right(long until) {
        double x = 0.5;
        while (System.nanoTime() < until)
            for (int i = 0; i < 1000; i++)
                x = 3.9 * x * (1 - x);
        sink += x;
    }

    public static void main(String[] args) throws Exception {
        long[] cpu = new long[2];
        System.out.println("ready " + ProcessHandle.current().pid());
        System.in.read();
        long until = System.nanoTime() + Integer.parseInt(args[0]) * 1_000_000_000L;
        Thread[] threads = new Thread[2];
        for (int i = 0; i < 2; i++) {
            int n = i;
            threads[i] = new Thread(() -> {
                if (n == 0)
                    left(until);
                else
                    right(until);
                cpu[n] = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
            }, n == 0 ? "left" : "right");
            threads[i].start();
        }
        for (Thread t : threads)
            t.join();
        System.out.printf("{\"left\": %d, \"right\": %d}%n", cpu[0], cpu[1]);
        while (System.in.read() >= 0) {
        }
    }
}
