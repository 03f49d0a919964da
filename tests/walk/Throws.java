/** Exceptions through compiled frames of the same size, each of which hands them on to its caller. */
public final class Throws {
    private static int sink;

    private Throws() {
    }

    static final class Thrown extends RuntimeException {
        Thrown() {
            super(null, null, false, false);
        }
    }

    private static final Thrown THROWN = new Thrown();

    private static int first(int depth) {
        return depth > 0 ? second(depth - 1) + 1 : thrower(sink);
    }

    private static int second(int depth) {
        return depth > 0 ? first(depth - 1) + 1 : thrower(sink + 1);
    }

    private static int thrower(int x) {
        if (x != -1) {
            throw THROWN;
        }
        return x;
    }

    public static void main(String[] args) {
        for (;;) {
            try {
                sink += first(8);
            } catch (Thrown e) {
                sink++;
            }
        }
    }
}
