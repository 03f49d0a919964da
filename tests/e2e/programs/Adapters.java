import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Calls compiled methods from loops for as many seconds of its own CPU time as it is told to: with arguments in
 * registers, and with more than there are registers for. The loops stay interpreted with -XX:-UseOnStackReplacement.
 * Begins at the first line of input, and says "done".
 */
public class Adapters {
    static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
    static volatile int sink;

    static long now() {
        return CLOCK.getCurrentThreadCpuTime();
    }

    static int many(int a, int b, long c, Object d, double e, int f, int g, int h, long i, double j) {
        return a + f + h;
    }

    static int one(int a) {
        return a + 1;
    }

    static void even(long until) {
        while (now() < until) {
            for (int i = 0; i < 10000; i++) {
                sink = many(i, 1, 2, "", 3.0, i, 4, 5, 6, 7.0);
                sink = one(i);
            }
        }
    }

    /** With one more local variable: an adapter aligns sp, so half of all frames begin where it does not change it. */
    static void odd(long until, int more) {
        while (now() < until) {
            for (int i = more; i < 10000; i++) {
                sink = many(i, 1, 2, "", 3.0, i, 4, 5, 6, 7.0);
                sink = one(i);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        System.out.println("ready " + ProcessHandle.current().pid());
        System.in.read();
        long half = Long.parseLong(args[0]) * 500_000_000L;
        even(now() + half);
        odd(now() + half, 1);
        System.out.println("done");
        while (System.in.read() >= 0) {
        }
    }
}
