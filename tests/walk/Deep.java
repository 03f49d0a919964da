/** A stack with more frames than the walker follows: 3000 calls, at whose end it is busy without an end. */
public final class Deep {
    private static volatile int sink;

    private Deep() {
    }

    private static int busy(int x) {
        for (int i = 0; i < 1000; i++) {
            x = x * 31 + i;
        }
        return x;
    }

    private static int down(int n) {
        if (n == 0) {
            while (sink != 1) {
                sink = busy(sink) | 2;
            }
        }
        return n > 0 ? down(n - 1) + 1 : 0;
    }

    public static void main(String[] args) {
        sink = 1;
        for (int i = 0; i < 20_000; i++) {
            sink = 1;
            down(20);
        }
        sink = 0;
        down(3000);
    }
}
