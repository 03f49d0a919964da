import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.util.Scanner;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/** Contends all the time; answers each line on stdin with "ROUNDS FLAG", and ends with stdin. */
public class Busy {
    static final AtomicLong rounds = new AtomicLong();
    static final Object lock = new Object();
    static final ReentrantLock juc = new ReentrantLock();
    static volatile Object sink;

    static void run() {
        while (true) {
            synchronized (lock) {
                rounds.incrementAndGet();
                sink = new byte[1000];
            }
            juc.lock();
            try {
                sink = new byte[100];
                Thread.sleep(1);
            } catch (InterruptedException e) {
                return;
            } finally {
                juc.unlock();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        HotSpotDiagnosticMXBean vm = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        for (int i = 0; i < 4; i++) {
            Thread t = new Thread(Busy::run, "busy-" + i);
            t.setDaemon(true);
            t.start();
        }
        Scanner in = new Scanner(System.in);
        System.out.println("ready " + ProcessHandle.current().pid());
        while (in.hasNextLine()) {
            in.nextLine();
            System.out.println(rounds.get() + " " + vm.getVMOption("DTraceMonitorProbes").getValue());
        }
    }
}
