import java.io.InputStream;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import java.util.Arrays;

/**
 * Allocates in methods of a class that is redefined meanwhile, again and again: between the code of two classes that are
 * alike but for what they allocate, and where. Threads of its own call the methods, and count by what they get. It is
 * its own agent. Arguments: threads, redefinitions.
 */
public class Redefined {
    static final class Left { }

    static final class Right {
        long value;
    }

    /** What runs at first. */
    static final class Former {
        static Object made(int length) {
            return length < 0 ? null : new Left();
        }

        static int[] numbers(int length) {
            return new int[length];
        }
    }

    /** Of the same shape, and with a name of the same length: its bytes are Former's after a redefinition. */
    static final class Latter {
        static Object made(int length) {
            long value = length;
            value = value * 31 + 7;
            Right right = new Right();
            right.value = value;
            return right;
        }

        static int[] numbers(int length) {
            int[] other = Arrays.copyOf(new int[3], 4);
            return new int[length + other[3]];
        }
    }

    static final class Worker extends Thread {
        long left, right, numbers;
        Object kept, keptNumbers; // Compiled code does not make what nobody can see

        @Override public void run() {
            for (int i = 0; !ended; i = (i + 1) % 100) {
                Object object = Former.made(i);
                int[] array = Former.numbers(i);
                kept = object;
                keptNumbers = array;
                left += object instanceof Left ? 1 : 0;
                right += object instanceof Right ? 1 : 0;
                numbers += array.length == i ? 1 : 0;
            }
        }
    }

    static volatile boolean ended;
    static Instrumentation agent;

    public static void premain(String arguments, Instrumentation given) {
        agent = given;
    }

    static byte[] bytes(String name) throws Exception {
        try (InputStream in = Redefined.class.getResourceAsStream(name + ".class")) {
            return new String(in.readAllBytes(), "ISO-8859-1").replace("Latter", "Former").getBytes("ISO-8859-1");
        }
    }

    public static void main(String[] arguments) throws Exception {
        byte[][] versions = {bytes("Redefined$Latter"), bytes("Redefined$Former")};
        Worker[] workers = new Worker[Integer.parseInt(arguments[0])];
        long left = 0, right = 0, numbers = 0;

        System.out.println("ready " + ProcessHandle.current().pid());
        System.in.read();
        for (int i = 0; i < workers.length; i++) {
            workers[i] = new Worker();
            workers[i].start();
        }
        for (int i = 0; i < Integer.parseInt(arguments[1]); i++) {
            Thread.sleep(10);
            agent.redefineClasses(new ClassDefinition(Former.class, versions[i % 2]));
            if (i % 8 == 7) {
                System.gc();
            }
        }
        ended = true;
        for (Worker worker : workers) {
            worker.join();
            left += worker.left;
            right += worker.right;
            numbers += worker.numbers;
        }
        System.out.println(left + " " + right + " " + numbers);
        System.in.read();
    }
}
