import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;

/**
 * Waits until somebody records it, which the flag of the monitors' probes says; contends, 50 times or as often as its
 * second argument says; ends with the status that its first one is.
 */
public class Fails {
    private static final long PATIENCE_NS = 100_000_000_000L;

    public static void main(String[] args) throws Exception {
        HotSpotDiagnosticMXBean vm = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        Object lock = new Object();
        int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 50;
        long end = System.nanoTime() + PATIENCE_NS;

        while (!vm.getVMOption("DTraceMonitorProbes").getValue().equals("true") && System.nanoTime() < end) {
            Thread.sleep(5);
        }
        for (int round = 0; round < rounds; round++) {
            Thread late;
            synchronized (lock) {
                late = new Thread(() -> {
                    synchronized (lock) {
                        lock.notifyAll();
                    }
                }, "late");
                late.start();
                while (late.getState() != Thread.State.BLOCKED) {
                    Thread.sleep(1);
                }
            }
            late.join();
        }
        System.exit(Integer.parseInt(args[0]));
    }
}
