import java.lang.instrument.Instrumentation;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * An agent that puts a leak, a cache and a churn into any program, and says at its end how large each was: what
 * docs/heap.md looks for. An audit that forgets nothing, pages that are read once, and requests that are gone at once;
 * or, with the argument N, that wait for N tenths of a second in a queue before they are gone.
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
    static final ArrayDeque<List<Request>> PENDING = new ArrayDeque<>();
    static int ticksPending;
    static long requests, sum;

    static void audit() {
        AUDIT.add(new Entry(AUDIT.isEmpty() ? null : AUDIT.get(AUDIT.size() - 1), System.nanoTime()));
    }

    static Request serve() {
        Request request = new Request();
        request.body[(int) (requests % 250)] = 1;
        sum += request.body[7];
        requests++;
        return request;
    }

    /** The requests of a tick, and of those before it that still wait. */
    static void tick() {
        List<Request> mine = new ArrayList<>();
        for (int i = 0; i < REQUESTS_A_TICK; i++) {
            Request request = serve();
            if (ticksPending > 0) {
                mine.add(request);
            }
        }
        PENDING.add(mine);
        while (PENDING.size() > ticksPending) {
            PENDING.remove();
        }
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
                tick();
                Thread.sleep(100);
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void premain(String arguments, Instrumentation instrumentation) {
        ticksPending = arguments == null || arguments.isEmpty() ? 0 : Integer.parseInt(arguments);
        Thread thread = new Thread(Inject::run, "inject");
        thread.setDaemon(true);
        thread.start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.err.println("injected: a leak of " + AUDIT.size()
            + " entries, a cache of " + CACHE.size() + " pages, a churn of " + requests + " requests")));
    }
}
