import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Many events in little time: pairs of threads that hand a turn to each other by park and unpark, by wait and notify,
 * or through a lock that is never free when the other one comes; and some that take and give back one lock over and
 * over. Arguments: how often each pair hands over. Waits for a line on stdin, works, prints "done", and waits for the
 * end of stdin.
 */
public final class Churn {
    private static final int RELAX = 256;

    private final long turns;
    private volatile boolean stopped;

    private Churn(long turns) {
        this.turns = turns;
    }

    private abstract static class Pair {
        volatile int turn;
        final Thread[] threads = new Thread[2];

        abstract void play(int me, long turns) throws InterruptedException;
    }

    private static final class Parking extends Pair {
        @Override
        void play(int me, long turns) {
            for (long i = 0; i < turns; i++) {
                while (turn != me) {
                    LockSupport.park(this);
                }
                turn = 1 - me;
                LockSupport.unpark(threads[1 - me]);
            }
        }
    }

    private static final class Waiting extends Pair {
        @Override
        void play(int me, long turns) throws InterruptedException {
            for (long i = 0; i < turns; i++) {
                synchronized (this) {
                    while (turn != me) {
                        wait();
                    }
                    turn = 1 - me;
                    notify();
                }
            }
        }
    }

    /** The one inside leaves when the other one is blocked. */
    private static final class Blocking extends Pair {
        private final boolean[] gone = new boolean[2];

        @Override
        void play(int me, long turns) {
            for (long i = 0; i < turns; i++) {
                synchronized (this) {
                    turn = me;
                    for (int n = 1; !gone[1 - me] && threads[1 - me].getState() != Thread.State.BLOCKED; n++) {
                        relax(n);
                    }
                }
                for (int n = 1; turn == me && !gone[1 - me]; n++) {
                    relax(n);
                }
            }
            synchronized (this) {
                gone[me] = true;
            }
        }
    }

    private static void relax(int n) {
        if (n % RELAX == 0) {
            Thread.yield();
        } else {
            Thread.onSpinWait();
        }
    }

    private static Thread start(List<Thread> all, String name, Job job) {
        Thread t = new Thread(() -> {
            try {
                job.run();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }, name);
        all.add(t);
        return t;
    }

    private interface Job {
        void run() throws InterruptedException;
    }

    private void run() throws InterruptedException {
        List<Thread> pairs = new ArrayList<>();
        List<Thread> storm = new ArrayList<>();
        Object hammered = new Object();
        ReentrantLock fought = new ReentrantLock();
        int number = 0;
        for (Pair p : new Pair[] {new Parking(), new Waiting(), new Blocking(), new Parking(), new Waiting()}) {
            for (int i = 0; i < 2; i++) {
                int me = i;
                p.threads[i] = start(pairs, "pair-" + number + "-" + i, () -> p.play(me, turns));
            }
            number++;
        }
        for (int i = 0; i < 3; i++) {
            start(storm, "storm-" + i, () -> {
                while (!stopped) {
                    for (int n = 0; n < 20_000; n++) {
                        synchronized (hammered) {
                            Thread.onSpinWait();
                        }
                    }
                    fought.lock();
                    try {
                        Thread.sleep(1);
                    } finally {
                        fought.unlock();
                    }
                }
            });
        }
        storm.forEach(Thread::start);
        pairs.forEach(Thread::start);
        for (Thread t : pairs) {
            t.join();
        }
        stopped = true;
        for (Thread t : storm) {
            t.join();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Scanner in = new Scanner(System.in);
        new Churn(1000).run();
        System.out.println("ready " + ProcessHandle.current().pid());
        in.nextLine();
        new Churn(Long.parseLong(args[0])).run();
        System.out.println("done");
        while (in.hasNextLine()) {
            in.nextLine();
        }
    }
}
