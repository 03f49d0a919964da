import java.util.concurrent.locks.LockSupport;

/**
 * Threads that park on objects of four classes by turns, while a collector moves these and the threads' own objects all
 * the time: each thread is young, and ends after LIFE turns, when another takes its place. Prints as JSON, by class, how
 * often a thread was seen parked there. Arguments: threads, seconds.
 */
public class Moved {
    static class North { }
    static class East { }
    static class South { }
    static class West { }

    static final int LIFE = 400;
    static volatile boolean over;
    static volatile Object garbage;

    static final class Parker extends Thread {
        final long[] parked = new long[4];
        volatile int turn;
        volatile int let;

        Parker(int i) {
            super("parker-" + i);
        }

        static Object of(int kind) {
            return kind == 0 ? new North() : kind == 1 ? new East() : kind == 2 ? new South() : new West();
        }

        @Override
        public void run() {
            Object[] blockers = {of(0), of(1), of(2), of(3)};
            for (int i = 0; i < LIFE && !over; i++) {
                int kind = i % 4;
                if (i % 64 == 63) {
                    blockers[kind] = of(kind);
                }
                turn = i + 1;
                while (let <= i && !over) {
                    LockSupport.park(blockers[kind]);
                }
                parked[kind]++;
            }
        }
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        long ms = 1000L * Integer.parseInt(args[1]);
        System.out.println("ready " + ProcessHandle.current().pid());
        System.in.read();
        Parker[] parkers = new Parker[count];
        for (int i = 0; i < count; i++) {
            parkers[i] = new Parker(i);
            parkers[i].start();
        }
        Thread collector = new Thread(() -> {
            while (!over) {
                Object[] some = new Object[4000];
                for (int i = 0; i < some.length; i++) {
                    some[i] = new byte[200];
                }
                garbage = some;
            }
        }, "collector");
        collector.start();
        long until = System.nanoTime() + ms * 1_000_000L;
        long[] seen = new long[4];
        while (System.nanoTime() < until) {
            for (int i = 0; i < count; i++) {
                Parker p = parkers[i];
                if (!p.isAlive()) {
                    parkers[i] = new Parker(i);
                    parkers[i].start();
                    continue;
                }
                int turn = p.turn;
                if (turn == 0 || p.let >= turn || p.getState() != Thread.State.WAITING) {
                    continue;
                }
                seen[(turn - 1) % 4]++;
                p.let = turn;
                LockSupport.unpark(p);
            }
            LockSupport.parkNanos(20_000);
        }
        over = true;
        for (Parker p : parkers) {
            while (p.isAlive()) {
                LockSupport.unpark(p);
                Thread.sleep(1);
            }
        }
        collector.join();
        System.out.println(String.format("{\"North\":%d,\"East\":%d,\"South\":%d,\"West\":%d}", seen[0], seen[1], seen[2],
                                         seen[3]));
        while (System.in.read() >= 0) {
        }
    }
}
