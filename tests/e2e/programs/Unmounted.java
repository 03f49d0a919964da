import java.lang.StackWalker.StackFrame;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/**
 * Virtual threads (JDK 21 and later; by reflection, as JDK 17 compiles this) that go down along paths of their own, leave
 * their carriers there, and wait for a monitor on their way back: so most of their frames are in the heap meanwhile. Each
 * wait is in the line in which StackWalker is asked. Prints as JSON, a line each, frames when they are new, and waits.
 * Arguments: threads, rounds of each, depth at most, rounds before it is ready.
 */
public final class Unmounted {
    interface Step {
        long go(Unmounted u, int depth);
    }

    static final StackWalker WALKER = StackWalker.getInstance(Set.of(StackWalker.Option.SHOW_HIDDEN_FRAMES,
            StackWalker.Option.RETAIN_CLASS_REFERENCE));
    static final Map<String, Integer> KNOWN = new HashMap<>();
    static final Step[] STEPS = {Unmounted::plain, Unmounted::wide, Unmounted::held, (u, depth) -> u.down(depth) + 1,
            Unmounted::boxed};
    static final int WAIT_EVERY = 12;
    static volatile byte[][] garbage = new byte[256][];

    final Random random;
    final boolean tells;
    final Object lock = new Object();
    final List<String> acts = new ArrayList<>();
    Object[] boxes = new Object[4];

    Unmounted(long seed, boolean tells) {
        random = new Random(seed);
        this.tells = tells;
    }

    static String show(StackFrame f) {
        return String.format("{\"class\": \"%s\", \"method\": \"%s\", \"signature\": \"%s\", \"line\": %d, \"bci\": %d}",
                f.getClassName(), f.getMethodName(), f.getMethodType().toMethodDescriptorString(), f.getLineNumber(),
                f.isNativeMethod() ? 0 : f.getByteCodeIndex());
    }

    List<StackFrame> where() {
        return tells ? WALKER.walk(s -> s.skip(1).collect(Collectors.toList())) : List.of();
    }

    void block() {
        List<StackFrame> frames;
        long begin = System.nanoTime();
        synchronized (lock) {
            try {
                frames = where(); lock.wait(0, 300_000);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
        if (tells) {
            tell(begin, System.nanoTime(), frames);
        }
    }

    void tell(long begin, long end, List<StackFrame> frames) {
        StringBuilder line = new StringBuilder();
        synchronized (KNOWN) {
            for (StackFrame f : frames) {
                String text = show(f);
                Integer number = KNOWN.get(text);
                if (number == null) {
                    number = KNOWN.size();
                    KNOWN.put(text, number);
                }
                line.append(line.length() == 0 ? "" : ", ").append(number);
            }
        }
        acts.add(String.format("{\"thread\": \"%s\", \"begin\": %d, \"end\": %d, \"chain\": [%s]}",
                Thread.currentThread().getName(), begin, end, line));
    }

    static void pause() {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    long back(long sum) {
        garbage[random.nextInt(garbage.length)] = new byte[2048];
        int what = random.nextInt(WAIT_EVERY);
        if (what == 0) {
            block();
        } else if (what == 1) {
            pause();
        }
        return sum;
    }

    long plain(int depth) {
        long sum = down(depth);
        return back(sum);
    }

    long sum(long a, long b, long c, long d, long e, long f, long g, long h, int depth) {
        long sum = down(depth);
        return back(sum) + a + b + c + d + e + f + g + h;
    }

    long wide(int depth) {
        return sum(depth, 2, 3, 4, 5, 6, 7, 8, depth) + sum(1, 2, 3, 4, 5, 6, 7, 8, 0);
    }

    long held(int depth) {
        Object mine = new int[] {depth};
        long sum = down(depth);
        return back(sum) + ((int[]) mine)[0];
    }

    long boxed(int depth) {
        boxes[depth & 3] = depth;
        long sum = depth % 2 == 0 ? down(depth) : plain(depth - 1);
        return back(sum) + (Integer) boxes[depth & 3] % 2;
    }

    long down(int depth) {
        if (depth <= 0) {
            pause();
            block();
            return 1;
        }
        return STEPS[random.nextInt(STEPS.length)].go(this, depth - 1);
    }

    static Thread virtual(String name, Runnable what) throws ReflectiveOperationException {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder");

        type.getMethod("name", String.class).invoke(builder, name);
        return (Thread) type.getMethod("start", Runnable.class).invoke(builder, what);
    }

    /** Contends for their monitors, so that they block on them, too, and release them to somebody. */
    static Thread contender(List<Unmounted> all) {
        Thread t = new Thread(() -> {
            for (int i = 0; !Thread.interrupted(); i++) {
                synchronized (all.get(i % all.size()).lock) {
                    LockSupport.parkNanos(20_000);
                }
            }
        }, "contender");
        t.start();
        return t;
    }

    static List<Unmounted> run(int threads, int rounds, int depth, boolean tells) throws Exception {
        List<Unmounted> all = new ArrayList<>();
        List<Thread> running = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            Unmounted u = new Unmounted(i, tells);
            all.add(u);
            running.add(virtual((tells ? "unmounted-" : "warm-") + i, () -> {
                for (int n = 0; n < rounds; n++) {
                    u.down(u.random.nextInt(depth));
                }
            }));
        }
        Thread contender = contender(all);
        for (Thread t : running) {
            t.join();
        }
        contender.interrupt();
        contender.join();
        return all;
    }

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]), rounds = Integer.parseInt(args[1]), depth = Integer.parseInt(args[2]);
        run(threads, Integer.parseInt(args[3]), depth, false);
        System.out.println("ready " + ProcessHandle.current().pid());
        System.in.read();
        List<Unmounted> all = run(threads, rounds, depth, true);
        String[] frames = new String[KNOWN.size()];
        KNOWN.forEach((text, number) -> frames[number] = text);
        for (String frame : frames) {
            System.out.println(frame);
        }
        for (Unmounted u : all) {
            u.acts.forEach(System.out::println);
        }
        System.out.println("done");
        while (System.in.read() >= 0) {
            continue;
        }
    }
}
