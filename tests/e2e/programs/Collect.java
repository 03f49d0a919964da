import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;

/**
 * Makes the collector work: young collections, System.gc(), and a heap that fills up until only a full
 * collection helps. Waits for a line on stdin, works, prints "done", and waits for the end of stdin.
 */
public class Collect {
    static volatile Object sink;

    static void young(int megabytes) {
        for (int i = 0; i < megabytes * 16; i++) {
            sink = new byte[64 * 1024];
        }
    }

    /** Keeps more and more until there is no room left, then lets go of it: once an OutOfMemoryError, too. */
    static void fill() {
        List<byte[]> kept = new ArrayList<>();
        try {
            while (true) {
                kept.add(new byte[100 * 1024]);
            }
        } catch (OutOfMemoryError e) {
            kept = null;
        }
    }

    public static void main(String[] args) {
        Scanner in = new Scanner(System.in);

        System.out.println("ready " + ProcessHandle.current().pid());
        in.nextLine();
        young(300);
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        fill();
        young(100);
        System.out.println("done");
        while (in.hasNextLine()) {
            in.nextLine();
        }
    }
}
