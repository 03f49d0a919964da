import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Scanner;

/**
 * Generations of two threads with code of their own (Unload0000000), which is thrown away with them. Collections
 * come while the next ones run, and free its classes and what was compiled of them. Arguments: generations,
 * contended sections and parks of each thread, generations per collection.
 *
 * Says that it is ready, waits for a line on stdin, runs, prints how many classes were unloaded, and ends with stdin.
 */
public final class Unload {
    private static final String ZEROS = "0000000";

    /** One generation's classes; number 0 is the parent's. */
    private static final class Loader extends ClassLoader {
        private final String number;

        Loader(int number) {
            super(Unload.class.getClassLoader());
            this.number = String.format("%07d", number);
        }

        private byte[] read(String name) throws ClassNotFoundException {
            try (InputStream in = Unload.class.getResourceAsStream(name.replace(number, ZEROS) + ".class")) {
                String text = new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
                return text.replace(ZEROS, number).getBytes(StandardCharsets.ISO_8859_1);
            } catch (java.io.IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            byte[] file = read(name);
            return defineClass(name, file, 0, file.length);
        }

        UnloadCode code() throws ReflectiveOperationException {
            return (UnloadCode) loadClass("Unload" + number).getDeclaredConstructor().newInstance();
        }
    }

    private static final class Worker extends Thread {
        private final UnloadPair pair;
        private final UnloadCode code;
        private final int me;
        private final int sections;
        private final int parks;

        Worker(String name, UnloadPair pair, UnloadCode code, int me, int sections, int parks) {
            super(name);
            this.pair = pair;
            this.code = code;
            this.me = me;
            this.sections = sections;
            this.parks = parks;
            pair.set(me, this);
        }

        @Override
        public void run() {
            for (int i = 0; i < sections; i++) {
                pair.awaitTurn(me);
                code.enter(pair, me);
            }
            pair.finish(me);
            for (int i = 0; i < parks; i++) {
                code.park(pair, me);
            }
            pair.leave(me);
        }
    }

    private static Worker[] start(int generation, int sections, int parks) throws ReflectiveOperationException {
        Loader loader = new Loader(generation);
        UnloadCode code = loader.code();
        UnloadPair pair = new UnloadPair();
        Worker[] workers = new Worker[2];
        for (int me = 0; me < 2; me++) {
            workers[me] = new Worker("gen-" + loader.number + "-" + me, pair, code, me, sections, parks);
        }
        workers[0].start();
        workers[1].start();
        return workers;
    }

    public static void main(String[] args) throws Exception {
        int generations = Integer.parseInt(args[0]);
        int sections = Integer.parseInt(args[1]);
        int parks = Integer.parseInt(args[2]);
        int each = Integer.parseInt(args[3]);
        Scanner in = new Scanner(System.in);

        for (Worker w : start(1, sections, parks)) {
            w.join();
        }
        System.out.println("ready " + ProcessHandle.current().pid());
        in.nextLine();
        for (int g = 2; g <= generations + 1; g++) {
            Worker[] workers = start(g, sections, parks);
            if (g % each == 0) {
                System.gc();
            }
            for (Worker w : workers) {
                w.join();
            }
        }
        System.out.println(ManagementFactory.getClassLoadingMXBean().getUnloadedClassCount());
        while (in.hasNextLine()) {
            in.nextLine();
        }
    }
}
