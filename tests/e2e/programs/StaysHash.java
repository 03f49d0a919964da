import java.lang.ref.Reference;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Identity hash codes: of objects that were asked before they were locked, while they are, and not until they are
 * fought over, which gives them one. Once told it stays, whether they are inflated or deflated, moved, or locked again.
 */
final class StaysHash implements Stays.Scene {
    private static final int THREADS = 4;
    private static final int OBJECTS = 48;
    private static final int KEPT = 8;
    private static final int TURNS = 400;

    static final class Batch {
        final Object[] objects = new Object[OBJECTS];
        final AtomicIntegerArray known = new AtomicIntegerArray(OBJECTS);

        Batch() {
            for (int i = 0; i < OBJECTS; i++) {
                objects[i] = new Object();
                if (i % 3 == 0) {
                    ask(i);
                }
            }
        }

        void ask(int i) {
            int hash = System.identityHashCode(objects[i]);
            int was = known.compareAndExchange(i, 0, hash);
            StaysCrew.check(hash != 0, "an object has no hash code");
            StaysCrew.check(was == 0 || was == hash, "an object had " + was + ", and has " + hash);
        }

        void askAll() {
            for (int i = 0; i < OBJECTS; i++) {
                ask(i);
            }
        }

        /** Some are not asked until the batch is old. */
        void turn() throws InterruptedException {
            int i = StaysCrew.random(OBJECTS);
            synchronized (objects[i]) {
                if (i % 3 == 1) {
                    ask(i);
                }
                switch (StaysCrew.random(64)) {
                    case 0: objects[i].wait(1); break;
                    case 1: objects[i].notifyAll(); break;
                    case 2:
                    case 3: Thread.yield(); break;
                    default: break;
                }
            }
            if (known.get(i) != 0) {
                ask(i);
            }
        }
    }

    private final AtomicReferenceArray<Batch> batches = new AtomicReferenceArray<>(KEPT);
    private final Set<Integer> hashes = new HashSet<>();
    private long retired;

    private void work() throws InterruptedException {
        Batch batch = batches.get(StaysCrew.random(2));
        for (int i = 0; i < TURNS; i++) {
            batch.turn();
        }
        batches.get(StaysCrew.random(KEPT)).askAll();
    }

    private void retire(Batch batch) {
        batch.askAll();
        for (int i = 0; i < OBJECTS; i++) {
            hashes.add(batch.known.get(i));
        }
        retired += OBJECTS;
        // So that none of those that are counted was dead, and moved away, before.
        Reference.reachabilityFence(batch);
    }

    /** The first two are those that are fought over. */
    private void renew(int turn) {
        int at = turn % 2;
        Batch old = batches.getAndSet(at, new Batch());
        retire(batches.getAndSet(2 + turn % (KEPT - 2), old));
        if (turn % 8 == 0) {
            System.gc();
        }
    }

    @Override
    public void begin(StaysCrew crew) {
        for (int i = 0; i < KEPT; i++) {
            batches.set(i, new Batch());
        }
        for (int n = 0; n < THREADS; n++) {
            crew.loop("worker" + n, this::work);
        }
        int[] turn = {0};
        crew.loop("renewer", () -> {
            Thread.sleep(10);
            renew(turn[0]++);
        });
    }

    @Override
    public void end(StaysCrew crew) {
        StaysCrew.check(hashes.size() > retired * 99 / 100, hashes.size() + " hash codes of " + retired + " objects");
    }
}
