import java.util.Scanner;

/**
 * The JVM stays a JVM: scenes that check what the Java language and its library promise, for a JVM whose monitors and
 * parks are told of, while somebody attaches and detaches. Arguments: ms of each scene, the library of native methods,
 * the scenes. Waits for a line on stdin; then prints "scene steps" for each, and "done". Whatever is wrong ends it,
 * see StaysCrew.
 */
public final class Stays {
    interface Scene {
        /** Starts its threads, which go on until the crew is over. */
        void begin(StaysCrew crew) throws Exception;

        /** Steps without which it has not shown anything: what is run a few times only is never compiled. */
        default int least() {
            return 1;
        }

        /** After their end. */
        default void end(StaysCrew crew) throws Exception {
        }
    }

    private static Scene scene(String name, String library) {
        switch (name) {
            case "recursion": return new StaysRecursion();
            case "counts": return new StaysCounts();
            case "hash": return new StaysHash();
            case "park": return new StaysPark();
            case "management": return new StaysManagement();
            case "native": return new StaysNative(library);
            case "loaders": return new StaysLoaders();
            default: throw new IllegalArgumentException(name);
        }
    }

    public static void main(String[] args) throws Exception {
        long ms = Long.parseLong(args[0]);
        Scanner in = new Scanner(System.in);

        System.out.println("ready " + ProcessHandle.current().pid());
        in.nextLine();
        for (int i = 2; i < args.length; i++) {
            Scene scene = scene(args[i], args[1]);
            StaysCrew crew = new StaysCrew(args[i], ms, scene.least());
            try {
                scene.begin(crew);
                crew.join();
                scene.end(crew);
            } catch (Throwable t) {
                StaysCrew.violated("the scene has thrown", t);
            }
            System.out.println(args[i] + " " + crew.end());
        }
        System.out.println("done");
        while (in.hasNextLine()) {
            in.nextLine();
        }
        System.exit(0);
    }
}
