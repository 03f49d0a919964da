import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A thread that knows the CPU time of each of its calling contexts: CallTree SECONDS. Eight methods call each other along a
 * tree of 48 nodes that is the same in each run; a node's time is heavy or light as Zipf has it, and differs each time, so
 * that no clock of a profiler can beat against it. Where one node ends and the next one begins, the thread's own clock is
 * read. Begins at the first line of input, and answers {PATH: ns}, as "m1/m4/m0".
 */
public class CallTree {
    static final int NODES = 48, METHODS = 8, DEEPEST = 8;
    static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
    static volatile long sink;

    static class Node {
        final List<Node> calls = new ArrayList<>();
        final String path;
        final int method, depth;
        int rounds;
        long ns;

        Node(Node caller, int method) {
            this.method = method;
            depth = caller == null ? 1 : caller.depth + 1;
            path = (caller == null ? "" : caller.path + "/") + "m" + method;
            if (caller != null)
                caller.calls.add(this);
        }
    }

    static final Random chance = new Random(19);
    static Node current;
    static long since;

    /** All that the thread has run since the last call was the current node's. */
    static void account(Node next) {
        long now = CLOCK.getCurrentThreadCpuTime();
        current.ns += now - since;
        since = now;
        current = next;
    }

    static long arithmetic(int rounds) {
        long x = rounds;
        for (int i = 0; i < rounds * 100; i++)
            x = x * 6364136223846793005L + 1442695040888963407L;
        return x;
    }

    static long copies(int rounds) {
        byte[] from = new byte[4096], to = new byte[4096];
        for (int i = 0; i < rounds * 2; i++) {
            from[i & 4095]++;
            System.arraycopy(from, i & 15, to, 0, 4000);
        }
        return to[17];
    }

    static long lists(int rounds) {
        List<Integer> list = new ArrayList<>();
        for (int i = 0; i < rounds; i++)
            list.add(i * 7919 % 1009);
        list.sort(null);
        return list.get(list.size() / 2);
    }

    static void called(Node n) {
        for (Node call : n.calls) {
            account(call);
            call(call);
            account(n);
        }
    }

    static void m0(Node n, int rounds) {
        sink += arithmetic(rounds);
        called(n);
    }

    static void m1(Node n, int rounds) {
        called(n);
        sink += copies(rounds);
    }

    static void m2(Node n, int rounds) {
        sink += lists(rounds);
        called(n);
    }

    static void m3(Node n, int rounds) {
        sink += arithmetic(rounds / 2) + copies(rounds / 2);
        called(n);
    }

    static void m4(Node n, int rounds) {
        for (int i = 0; i < rounds * 50; i++)
            sink += i;
        called(n);
    }

    static void m5(Node n, int rounds) {
        called(n);
        sink += lists(rounds / 2) + arithmetic(rounds / 2);
    }

    static void m6(Node n, int rounds) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < rounds * 4; i++)
            text.append(i);
        sink += text.length();
        called(n);
    }

    static void m7(Node n, int rounds) {
        called(n);
        sink += arithmetic(rounds);
    }

    static void call(Node n) {
        int rounds = n.rounds / 2 + chance.nextInt(n.rounds);
        switch (n.method) {
        case 0:
            m0(n, rounds);
            break;
        case 1:
            m1(n, rounds);
            break;
        case 2:
            m2(n, rounds);
            break;
        case 3:
            m3(n, rounds);
            break;
        case 4:
            m4(n, rounds);
            break;
        case 5:
            m5(n, rounds);
            break;
        case 6:
            m6(n, rounds);
            break;
        default:
            m7(n, rounds);
        }
    }

    static List<Node> grow() {
        List<Node> all = new ArrayList<>();
        all.add(new Node(null, 0));
        while (all.size() < NODES) {
            Node caller = all.get(chance.nextInt(all.size()));
            int method = chance.nextInt(METHODS);
            boolean is_there = false;
            for (Node call : caller.calls)
                is_there |= call.method == method;
            if (!is_there && caller.depth < DEEPEST)
                all.add(new Node(caller, method));
        }
        List<Node> heaviest = new ArrayList<>(all);
        java.util.Collections.shuffle(heaviest, chance);
        for (int i = 0; i < NODES; i++)
            heaviest.get(i).rounds = 20000 / (i + 2);
        return all;
    }

    static void run(List<Node> all, long seconds) {
        Node nobody = new Node(null, 0);
        long begin = CLOCK.getCurrentThreadCpuTime();
        current = nobody;
        since = begin;
        while (since - begin < seconds * 1_000_000_000L) {
            account(all.get(0));
            call(all.get(0));
            account(nobody);
        }
    }

    public static void main(String[] args) throws Exception {
        List<Node> all = grow();
        System.out.println("ready " + ProcessHandle.current().pid());
        System.in.read();
        Thread thread = new Thread(() -> run(all, Long.parseLong(args[0])), "call-tree");
        thread.start();
        thread.join();
        StringBuilder said = new StringBuilder();
        for (Node n : all)
            said.append(said.length() > 0 ? ", " : "{").append("\"" + n.path + "\": " + n.ns);
        System.out.println(said.append("}"));
        while (System.in.read() >= 0) {
        }
    }
}
