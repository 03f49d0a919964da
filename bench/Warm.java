import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;

/**
 * A warm loop of work that allocates, and how much of it is done in each 10 ms of the clock.
 *
 * <p>Arguments: seconds, MB of live objects. Prints "ready PID", then, when the seconds are over, a line for each 10 ms:
 * its begin (System.nanoTime), units of work, the longest time between two units that ended in it, and the CPU time of
 * this thread in it, in ns.
 */
public final class Warm {
    static final long BIN_NS = 10_000_000;
    static final int OBJECTS = 200; // of a unit
    static Object[] live;
    static int sink;

    static final class Node {
        final Node next;
        final int value;

        Node(Node next, int value) {
            this.next = next;
            this.value = value;
        }
    }

    /** Lists, arrays, texts: some of each, most of them garbage at once, a few replace older live ones. */
    static void unit(int seed) {
        Node list = null;
        for (int i = 0; i < OBJECTS; i++) {
            list = new Node(list, seed + i);
        }
        int[] numbers = new int[seed & 63];
        Arrays.fill(numbers, seed);
        String text = "unit " + seed;
        for (Node n = list; n != null; n = n.next) {
            sink += n.value;
        }
        sink += text.hashCode() + numbers.length;
        live[(seed & 0x7fffffff) % live.length] = numbers;
    }

    public static void main(String[] args) {
        int bins = Integer.parseInt(args[0]) * 100;
        long[] work = new long[bins], gap = new long[bins], cpu = new long[bins];
        ThreadMXBean bean = ManagementFactory.getThreadMXBean();
        live = new Object[Integer.parseInt(args[1]) * 1024 * 1024 / 150];
        for (int i = 0; i < live.length; i++) {
            live[i] = new int[i & 63];
        }
        System.out.println("ready " + ProcessHandle.current().pid());
        long begin = System.nanoTime(), last = begin, used = bean.getCurrentThreadCpuTime();
        int current = 0;
        for (int seed = 0;; seed++) {
            unit(seed * 31);
            long now = System.nanoTime();
            int bin = (int) ((now - begin) / BIN_NS);
            if (bin >= bins) {
                break;
            }
            if (bin != current) {
                long next = bean.getCurrentThreadCpuTime();
                cpu[current] = next - used;
                used = next;
                current = bin;
            }
            work[bin]++;
            gap[bin] = Math.max(gap[bin], now - last);
            last = now;
        }
        for (int i = 0; i < bins; i++) {
            System.out.println(begin + i * BIN_NS + " " + work[i] + " " + gap[i] + " " + cpu[i]);
        }
    }
}
