import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** What LockSupport promises, and what rests on it. */
final class StaysPark implements Stays.Scene {
    private static final long BRIEF_NS = 2_000_000;

    static final class Blocker { }

    private final AtomicLong early = new AtomicLong();
    private final AtomicLong timed = new AtomicLong();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition condition = lock.newCondition();
    private final AtomicLong added = new AtomicLong();
    private final Thread[] pairs = new Thread[4];
    private final int[] turns = new int[2];
    private volatile Thread target;
    private volatile Blocker blocker;
    private volatile boolean release;
    private long plain;

    /** None of these parks comes back if the promise is broken. */
    private static void alone() {
        Thread me = Thread.currentThread();

        LockSupport.unpark(me);
        LockSupport.park();
        LockSupport.unpark(me);
        LockSupport.park(new Blocker());
        me.interrupt();
        LockSupport.park();
        LockSupport.parkNanos(Long.MAX_VALUE);
        StaysCrew.check(Thread.interrupted(), "park() has cleared the interrupt");
        LockSupport.parkNanos(0);
        LockSupport.parkNanos(-1);
        LockSupport.parkNanos(1);
        LockSupport.parkUntil(1);
        LockSupport.parkUntil(System.currentTimeMillis() + 1);
        LockSupport.unpark(null);
    }

    /** Of several permits one is left. park() may come back for no reason, but not each time. */
    private void accumulate() {
        Thread me = Thread.currentThread();

        LockSupport.unpark(me);
        LockSupport.unpark(me);
        LockSupport.unpark(me);
        LockSupport.park();
        long begin = System.nanoTime();
        LockSupport.parkNanos(BRIEF_NS);
        timed.incrementAndGet();
        early.addAndGet(System.nanoTime() - begin < BRIEF_NS ? 1 : 0);
    }

    private void notThere(StaysCrew crew) throws InterruptedException {
        Thread t = crew.thread("late", () -> LockSupport.parkNanos(BRIEF_NS));

        LockSupport.unpark(t);
        t.start();
        LockSupport.unpark(t);
        t.join();
        LockSupport.unpark(t);
    }

    /** Its blocker can be seen while it is parked, keeps its hash code, and is gone afterwards. */
    private void blockers(StaysCrew crew) throws InterruptedException {
        Blocker b = new Blocker();
        int before = StaysCrew.random(2) == 0 ? System.identityHashCode(b) : 0;
        release = false;
        Thread t = crew.thread("parked", () -> {
            while (!release) {
                LockSupport.park(b);
            }
        });

        t.start();
        while (LockSupport.getBlocker(t) != b) {
            Thread.onSpinWait();
        }
        int within = System.identityHashCode(b);
        StaysCrew.check(before == 0 || before == within, "the blocker had " + before + ", and has " + within);
        release = true;
        LockSupport.unpark(t);
        t.join();
        StaysCrew.check(LockSupport.getBlocker(t) == null, "the blocker stays");
        StaysCrew.check(System.identityHashCode(b) == within, "the blocker had " + within);
    }

    private void interruptEnds(StaysCrew crew) throws InterruptedException {
        Thread t = crew.thread("interrupted", () -> {
            while (!Thread.currentThread().isInterrupted()) {
                LockSupport.park();
            }
        });
        t.start();
        if (StaysCrew.random(2) == 0) {
            while (t.getState() != Thread.State.WAITING) {
                Thread.yield();
            }
        }
        t.interrupt();
        t.join();
    }

    private void stormed() {
        LockSupport.parkNanos(StaysCrew.random(200_000));
        LockSupport.parkUntil(System.currentTimeMillis() + StaysCrew.random(2));
        LockSupport.park(blocker = new Blocker());
    }

    private static int get(int[] turns, int pair) {
        synchronized (turns) {
            return turns[pair];
        }
    }

    private static void set(int[] turns, int pair, int turn) {
        synchronized (turns) {
            turns[pair] = turn;
        }
    }

    /** Takes turns with its partner. An unpark that is lost leaves both parked for good. */
    private void ping(StaysCrew crew, int who) {
        int pair = who / 2;
        Thread partner = pairs[who ^ 1];

        while (true) {
            int turn = get(turns, pair);
            while (turn >= 0 && turn % 2 != who % 2) {
                LockSupport.park(this);
                // Or the next park() would come back at once.
                Thread.interrupted();
                turn = get(turns, pair);
            }
            if (turn < 0 || crew.isOver()) {
                set(turns, pair, -1);
                LockSupport.unpark(partner);
                return;
            }
            crew.step();
            if (pair == 1 && turn % 4 == 0) {
                partner.interrupt();
            }
            set(turns, pair, (turn + 1) & Integer.MAX_VALUE);
            LockSupport.unpark(partner);
        }
    }

    private void locked() throws InterruptedException {
        lock.lock();
        try {
            plain++;
            added.incrementAndGet();
            if (StaysCrew.random(32) == 0) {
                condition.awaitNanos(BRIEF_NS);
            } else {
                condition.signal();
            }
            plain++;
            added.incrementAndGet();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void begin(StaysCrew crew) {
        crew.loop("alone", StaysPark::alone);
        crew.loop("accumulate", this::accumulate);
        crew.loop("absent", () -> {
            notThere(crew);
            blockers(crew);
            interruptEnds(crew);
        });
        target = crew.loop("target", this::stormed);
        for (int n = 0; n < 2; n++) {
            // Until the target has gone: it parks without a timeout, too.
            crew.start("storm" + n, () -> {
                while (target.isAlive()) {
                    LockSupport.unpark(target);
                    Thread.yield();
                }
            });
        }
        for (int n = 0; n < pairs.length; n++) {
            int who = n;
            pairs[n] = crew.thread("ping" + n, () -> ping(crew, who));
        }
        crew.start("start", () -> {
            for (Thread t : pairs) {
                t.start();
            }
            for (Thread t : pairs) {
                t.join();
            }
        });
        for (int n = 0; n < 2; n++) {
            crew.loop("locked" + n, this::locked);
        }
    }

    @Override
    public void end(StaysCrew crew) {
        StaysCrew.check(plain == added.get(), plain + " under the lock instead of " + added);
        StaysCrew.check(early.get() * 2 <= timed.get(), early + " of " + timed + " parks have used a permit twice");
    }
}
