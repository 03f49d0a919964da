import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread that parks, is seen parked, and is unparked a moment later, over and over; another one likewise in
 * Object.wait(), and one that parks on a new object each time. Prints as JSON how often each waited, and for how long by its own clock. Argument: rounds.
 */
public class Parks {
    static final class Blocker { }
    static final class Monitor { }
    static final class Task { }

    /** Waits until it is let go; its time in that is ns. */
    abstract static class Waiter extends Thread {
        final AtomicInteger turns = new AtomicInteger();
        final int rounds;
        volatile long ns;
        volatile int count;

        Waiter(String name, int rounds) {
            super(name);
            this.rounds = rounds;
        }

        abstract void await(int turn) throws InterruptedException;

        abstract void wake(int turn);

        @Override
        public void run() {
            try {
                for (int turn = 1; turn <= rounds; turn++) {
                    long before = System.nanoTime();
                    await(turn);
                    ns += System.nanoTime() - before;
                    count++;
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        /** Wakes it so often, each time when it has really gone to sleep. */
        void drive() throws InterruptedException {
            for (int turn = 1; turn <= rounds; turn++) {
                while (count != turn - 1 || getState() != State.WAITING) {
                    Thread.onSpinWait();
                }
                LockSupport.parkNanos(50_000);
                wake(turn);
            }
            join();
        }
    }

    static class Parker extends Waiter {
        final Object blocker;

        Parker(String name, int rounds, Object blocker) {
            super(name, rounds);
            this.blocker = blocker;
        }

        @Override
        void await(int turn) {
            while (turns.get() < turn) {
                LockSupport.park(blocker != null ? blocker : new Task());
            }
        }

        @Override
        void wake(int turn) {
            turns.set(turn);
            LockSupport.unpark(this);
        }
    }

    static final class InWait extends Waiter {
        final Monitor monitor = new Monitor();

        InWait(int rounds) {
            super("in wait", rounds);
        }

        @Override
        void await(int turn) throws InterruptedException {
            synchronized (monitor) {
                while (turns.get() < turn) {
                    monitor.wait();
                }
            }
        }

        @Override
        void wake(int turn) {
            synchronized (monitor) {
                turns.set(turn);
                monitor.notify();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[0]);
        System.out.println("ready " + ProcessHandle.current().pid());
        System.in.read();
        StringBuilder said = new StringBuilder("{");
        for (Waiter w : new Waiter[] {new Parker("parker", rounds, new Blocker()), new InWait(rounds),
                                       new Parker("on tasks", rounds, null)}) {
            w.start();
            w.drive();
            said.append(String.format("%s\"%s\":{\"count\":%d,\"ns\":%d}", said.length() > 1 ? "," : "", w.getName(),
                                      w.count, w.ns));
        }
        System.out.println(said.append("}"));
        while (System.in.read() >= 0) {
        }
    }
}
