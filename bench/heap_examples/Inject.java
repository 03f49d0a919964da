import java.lang.instrument.Instrumentation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * An agent that puts a leak, a cache and a churn into any program, and says at its end how large each was: what
 * docs/heap.md looks for. An audit that forgets nothing, pages that are read once, and requests that are gone at once.
 */
public final class Inject {
    static final class Entry {
        final Entry before;
        final long at;

        Entry(Entry before, long at) {
            this.before = before;
            this.at = at;
        }
    }

    static final class Page {
        final byte[] text = new byte[200];
    }

    static final class Request {
        final int[] body = new int[250];
    }

    static final int PAGES = 40_000, ENTRIES_A_TICK = 500, REQUESTS_A_TICK = 2_000;
    static final Map<Integer, Page> CACHE = new HashMap<>();
    static final List<Entry> AUDIT = new ArrayList<>();
    static long requests, sum;

    static void audit() {
        AUDIT.add(new Entry(AUDIT.isEmpty() ? null : AUDIT.get(AUDIT.size() - 1), System.nanoTime()));
    }

    static void serve() {
        Request request = new Request();
        request.body[(int) (requests % 250)] = 1;
        sum += request.body[7];
        requests++;
    }

    static void fill() {
        for (int i = 0; i < PAGES; i++) {
            CACHE.put(i, new Page());
        }
    }

    static void run() {
        fill();
        try {
            for (;;) {
                for (int i = 0; i < ENTRIES_A_TICK; i++) {
                    audit();
                }
                for (int i = 0; i < REQUESTS_A_TICK; i++) {
                    serve();
                }
                Thread.sleep(100);
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void premain(String arguments, Instrumentation instrumentation) {
        Thread thread = new Thread(Inject::run, "inject");
        thread.setDaemon(true);
        thread.start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.err.println("injected: a leak of " + AUDIT.size()
            + " entries, a cache of " + CACHE.size() + " pages, a churn of " + requests + " requests")));
    }
}
