import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;

/**
 * Waits until somebody records it, which the flag of the monitors' probes says; contends; ends with a status of its own.
 */
public class Fails {
    private static final int ROUNDS = 50;
    private static final long PATIENCE_NS = 100_000_000_000L;

    public static void main(String[] args) throws Exception {
        HotSpotDiagnosticMXBean vm = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        Object lock = new Object();
        long end = System.nanoTime() + PATIENCE_NS;

        while (!vm.getVMOption("DTraceMonitorProbes").getValue().equals("true") && System.nanoTime() < end) {
            Thread.sleep(5);
        }
        for (int round = 0; round < ROUNDS; round++) {
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
