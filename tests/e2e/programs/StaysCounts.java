import java.util.concurrent.atomic.AtomicLongArray;

/** Plain fields under monitors: nothing is lost, with timed waits, notifications and interrupts in between. */
final class StaysCounts implements Stays.Scene {
    private static final int THREADS = 4;
    private static final int CELLS = 3;

    static final class Cell {
        long count;
        long other; // always as many
    }

    /** A semaphore that trusts in notify(): one that is lost leaves a thread waiting. */
    static final class Permits {
        private int left = 1;

        /** False if interrupted: then a notification that came, too, must have gone to somebody else. */
        synchronized boolean take() {
            try {
                while (left == 0) {
                    wait();
                }
            } catch (InterruptedException e) {
                return false;
            }
            left--;
            return true;
        }

        synchronized void give() {
            left++;
            notify();
        }

        synchronized int left() {
            return left;
        }
    }

    private final Cell[] cells = new Cell[CELLS];
    private final AtomicLongArray added = new AtomicLongArray(CELLS);
    private final Permits permits = new Permits();
    private final Thread[] workers = new Thread[THREADS];
    private long underPermit;
    private final AtomicLongArray taken = new AtomicLongArray(1);
    private volatile boolean settled;

    private void add(int i) {
        Cell cell = cells[i];
        StaysCrew.check(cell.count == cell.other, "somebody else was within the section");
        cell.count++;
        Thread.onSpinWait();
        cell.other++;
        added.incrementAndGet(i);
    }

    private void turn() {
        int i = StaysCrew.random(CELLS);
        Cell cell = cells[i];

        switch (StaysCrew.random(12)) {
            case 0:
            case 1:
                synchronized (cell) {
                    add(i);
                    try {
                        cell.wait(1);
                    } catch (InterruptedException e) {
                        // As good as a notification.
                    }
                    StaysCrew.check(Thread.holdsLock(cell), "wait() has come back without the monitor");
                    add(i);
                }
                break;
            case 2:
                synchronized (cell) {
                    cell.notifyAll();
                    add(i);
                    Thread.yield();
                }
                break;
            case 3:
                workers[StaysCrew.random(THREADS)].interrupt();
                break;
            case 4:
            case 5:
            case 6:
                if (permits.take()) {
                    underPermit++;
                    taken.incrementAndGet(0);
                    permits.give();
                }
                break;
            default:
                synchronized (cell) {
                    add(i);
                    cell.notify();
                }
                break;
        }
    }

    @Override
    public void begin(StaysCrew crew) {
        for (int i = 0; i < CELLS; i++) {
            cells[i] = new Cell();
        }
        for (int n = 0; n < THREADS; n++) {
            workers[n] = crew.thread("worker" + n, () -> {
                while (!crew.isOver()) {
                    turn();
                    crew.step();
                }
            });
        }
        crew.start("start", () -> {
            for (Thread t : workers) {
                t.start();
            }
            for (Thread t : workers) {
                t.join();
            }
            settled = true;
        });
    }

    @Override
    public void end(StaysCrew crew) {
        StaysCrew.check(settled, "the workers are not done");
        for (int i = 0; i < CELLS; i++) {
            synchronized (cells[i]) {
                String what = cells[i].count + ", " + cells[i].other + " instead of " + added.get(i);
                StaysCrew.check(cells[i].count == added.get(i) && cells[i].other == added.get(i), what);
            }
        }
        StaysCrew.check(permits.left() == 1, permits.left() + " permits instead of one");
        StaysCrew.check(underPermit == taken.get(0), underPermit + " under the permit instead of " + taken.get(0));
    }
}
