import java.util.ArrayList;

/** Threads that allocate, keep what they have, and end, again and again: Mortal FOUNDERS SECONDS. */
public class Mortal {
    static class Node {
        final Node next;

        Node(Node next) {
            this.next = next;
        }
    }

    static final int NODES = 400, KEPT = 64;
    static final Node[][] kept = new Node[16][KEPT];

    static void live(int founder, int turn) {
        Node first = null;
        for (int i = 0; i < NODES; i++) {
            first = new Node(first);
        }
        kept[founder][turn % KEPT] = first;
    }

    static void found(int founder, long end) {
        for (int turn = 0; System.nanoTime() < end; turn++) {
            int now = turn;
            Thread mortal = new Thread(() -> live(founder, now));
            mortal.start();
            try {
                mortal.join();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        System.out.println("ready " + ProcessHandle.current().pid());
        System.in.read();
        long end = System.nanoTime() + Long.parseLong(args[1]) * 1_000_000_000L;
        ArrayList<Thread> founders = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            int founder = i;
            founders.add(new Thread(() -> found(founder, end)));
        }
        for (Thread founder : founders) {
            founder.start();
        }
        for (Thread founder : founders) {
            founder.join();
        }
        System.out.println("done");
    }
}
