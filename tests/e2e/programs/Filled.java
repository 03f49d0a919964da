import java.util.Scanner;

/** Allocates so many objects that most slots of a ring are full, has a collection, allocates some more, and rests. */
public final class Filled {
    static final class Thing {
        long a;
    }

    static Object sink;

    static void make(int count) {
        for (int i = 0; i < count; i++) {
            sink = new Thing();
        }
    }

    public static void main(String[] args) {
        make(Integer.parseInt(args[0]));
        System.gc();
        make(Integer.parseInt(args[1]));
        System.out.println("ready " + ProcessHandle.current().pid());
        new Scanner(System.in).nextLine();
    }
}
