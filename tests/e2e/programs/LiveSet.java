import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** Threads that keep some of what they allocate, of all shapes; "go" lets them, and then the heap rests until the next line. */
public class LiveSet {
    static final class Node {
        final Node next;
        final int number;

        Node(Node next, int number) {
            this.next = next;
            this.number = number;
        }
    }

    static final List<List<Object>> KEPT = new ArrayList<>();

    static void work(List<Object> kept, int seed) {
        Map<String, Object> map = new HashMap<>();
        Node list = null;
        int random = seed;
        for (int i = 0; i < 60_000; i++) {
            random = random * 1103515245 + 12345;
            int length = (random >>> 16) % 70;
            Object made;
            switch (i % 8) {
            case 0: made = new byte[length]; break;
            case 1: made = new char[length]; break;
            case 2: made = new long[length]; break;
            case 3: made = new Object[length]; break;
            case 4: made = "key " + i; break;
            case 5: made = new int[length].clone(); break;
            case 6: made = new int[2][length % 5]; break;
            default: made = new boolean[length]; break;
            }
            list = new Node(i % 1000 == 0 ? null : list, i);
            if (random >>> 30 == 0) {
                kept.add(made);
                map.put("n" + i, list);
            }
            if (i % 6000 == 0) {
                kept.add(new byte[1_500_000 + i % 7]);
                kept.add((Supplier<Object>) () -> made);
                if (kept.size() > 3000) {
                    kept.subList(0, 1500).clear();
                }
            }
        }
        kept.add(map);
        kept.add(list);
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready " + ProcessHandle.current().pid());
        in.readLine();
        for (int round = 0; round < 2; round++) {
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                List<Object> kept = new ArrayList<>();
                KEPT.add(kept);
                int seed = i + 1;
                Thread thread = new Thread(() -> work(kept, seed));
                thread.start();
                threads.add(thread);
            }
            for (Thread thread : threads) {
                thread.join();
            }
            KEPT.remove(0);
            System.gc();
        }
        System.out.println("done");
        in.readLine();
    }
}
