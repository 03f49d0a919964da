/** Asks objects by turns for two of their many interfaces, so that the VM looks through all each time. */
public final class Supers {
    private static int sink;

    private Supers() {
    }

    interface A { }
    interface B { }
    interface C { }
    interface D { }
    interface E { }
    interface F { }
    interface G { }
    interface H { }
    interface First { }
    interface Second { }

    static final class Of implements A, B, C, D, First, E, F, G, H, Second { }

    private static int first(Object o) {
        return o instanceof First ? 1 : 0;
    }

    private static int second(Object o) {
        return ((Second) o) != null ? first(o) : 0;
    }

    private static int ask(Object[] of, int i) {
        int n = first(of[i & 7]);
        return n + second(of[i + 1 & 7]);
    }

    public static void main(String[] args) {
        Object[] of = new Object[8];
        for (int i = 0; i < of.length; i++) {
            of[i] = new Of();
        }
        for (int i = 0;; i++) {
            sink += ask(of, i);
        }
    }
}
