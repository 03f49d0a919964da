import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import spoor.Mark;

/**
 * Allocates in phases, each of which is a span between two full collections, and prints of each what the JVM counts of
 * this thread's bytes and when it was. Another thread allocates all the time.
 *
 * <p>Argument: phases. A phase has 100,000 items for each phase before it, itself included, and as many arrays.
 */
public final class Allotted {
    static class Item {
        long a, b;
    }

    static final int ITEMS = 100_000;
    static volatile Object sink, noise;
    static volatile boolean ended;

    static void allocate(int phase) {
        for (int i = 0; i < (phase + 1) * ITEMS; i++) {
            sink = new Item();
            sink = new byte[8 * phase];
        }
    }

    static void makeNoise() {
        while (!ended) {
            noise = new Item();
        }
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        int phases = Integer.parseInt(args[0]);
        String[] names = new String[phases];
        long[][] known = new long[phases][4];
        ThreadMXBean bean = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long self = Thread.currentThread().getId();
        for (int i = 0; i < phases; i++) {
            names[i] = "phase " + i;
        }
        // What these allocate when they are called for the first time; and a recorder finds the marks
        Mark.begin("first");
        Mark.end();
        sink = bean.getThreadAllocatedBytes(self);
        System.out.println("ready " + ProcessHandle.current().pid());
        System.in.read();
        Thread other = new Thread(Allotted::makeNoise, "noise");
        other.start();
        for (int i = 0; i < phases; i++) {
            System.gc();
            known[i][0] = bean.getThreadAllocatedBytes(self);
            known[i][2] = System.nanoTime();
            Mark.begin(names[i]);
            allocate(i);
            Mark.end();
            known[i][3] = System.nanoTime();
            known[i][1] = bean.getThreadAllocatedBytes(self);
        }
        System.gc();
        ended = true;
        other.join();
        for (int i = 0; i < phases; i++) {
            System.out.println(
                    "phase " + (known[i][1] - known[i][0]) + " " + known[i][2] + " " + known[i][3]);
        }
        System.out.println("done");
        System.in.read();
    }
}
