import java.util.concurrent.locks.LockSupport;

/**
 * Threads of native code that attach to the VM, park once on an object, of four classes by turns, and detach, over and over,
 * while others do the same and objects are moved: Attached LIBRARY THREADS TURNS NAPS, where each naps so often before it
 * attaches. Does so at "go", and says how often it has parked.
 */
public class Attached {
    static final class North {
    }

    static final class East {
    }

    static final class South {
    }

    static final class West {
    }

    static final Object[] BLOCKERS = {new North(), new East(), new South(), new West()};
    static volatile Object sink;

    /** Returns when all threads have done so. */
    static native void attach(int threads, int turns, int naps);

    /** Called by native code. */
    static void park(int turn) {
        LockSupport.parkNanos(BLOCKERS[turn % BLOCKERS.length], 2_000_000);
    }

    static void garbage() {
        try {
            while (true) {
                for (int i = 0; i < 1000; i++) {
                    sink = new byte[1000];
                }
                Thread.sleep(1);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[1]), turns = Integer.parseInt(args[2]), naps = Integer.parseInt(args[3]);
        System.load(args[0]);
        System.out.println("ready " + ProcessHandle.current().pid());
        int c;
        while ((c = System.in.read()) >= 0 && c != '\n') {
        }
        Thread littering = new Thread(Attached::garbage);
        littering.setDaemon(true);
        littering.start();
        attach(threads, turns, naps);
        System.out.println(threads * turns);
        while ((c = System.in.read()) >= 0 && c != '\n') {
        }
    }
}
