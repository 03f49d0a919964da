import java.io.OutputStream;
import java.io.PrintStream;

/**
 * Monitors that are locked again by those who have them, while others want them, with wait() in the middle, and left
 * by exceptions. The same methods lock objects that nobody else knows, just before: their frames then leave behind what
 * a recursive stack lock leaves there. C2 code that takes it for that of the monitor, which is locked at the same
 * depth, does not unlock it as often as it has locked it.
 */
final class StaysRecursion implements Stays.Scene {
    private static final int THREADS = 4;
    private static final int DEPTH = 8;
    private static final int WAYS = 5; // the last is that of the class

    static final class Left extends Exception {
        private static final long serialVersionUID = 1;
    }

    /** What only the owner of its monitor touches. */
    static class Cell {
        Thread owner;

        synchronized void again(int depth) throws Exception {
            if (depth == 0) {
                bottom(this);
            } else {
                again(depth - 1);
            }
            StaysCrew.check(owner == null || owner == Thread.currentThread(), "the method is somebody else's");
        }
    }

    private static final Cell classCell = new Cell();

    private final Cell[] cells = {new Cell(), new Cell()};
    private final PrintStream print = new PrintStream(OutputStream.nullOutputStream());

    static void nested(Cell cell, int depth) throws Exception {
        synchronized (cell) {
            if (depth == 0) {
                bottom(cell);
            } else {
                nested(cell, depth - 1);
            }
            StaysCrew.check(Thread.holdsLock(cell), "the lock is lost by the inner unlock");
        }
    }

    /** As nested(), on a stack that nobody else has written to since it held stack locks. */
    static void again(Cell cell, int depth) throws Exception {
        synchronized (cell) {
            nested(new Cell(), depth);
            nested(cell, depth);
        }
    }

    /** In one frame, with calls in between that are not compiled into it. */
    static void three(Cell cell) throws Exception {
        synchronized (cell) {
            nested(cell, 1);
            synchronized (cell) {
                nested(cell, 0);
                synchronized (cell) {
                    nested(cell, 2);
                }
                StaysCrew.check(Thread.holdsLock(cell), "the lock is lost by the third unlock");
            }
            StaysCrew.check(Thread.holdsLock(cell), "the lock is lost by the second unlock");
        }
    }

    static synchronized void classNested(int depth) throws Exception {
        if (depth == 0) {
            synchronized (classCell) {
                bottom(classCell);
            }
        } else {
            classNested(depth - 1);
        }
    }

    /** Under the cell's monitor, locked several times. */
    static void bottom(Cell cell) throws Exception {
        take(cell);
        switch (StaysCrew.random(40)) {
            case 0:
                give(cell);
                cell.wait(1);
                take(cell);
                break;
            case 1:
                cell.notify();
                break;
            case 2:
                cell.notifyAll();
                break;
            case 3:
                Thread.yield();
                break;
            case 4:
                give(cell);
                throw new Left();
            default:
                break;
        }
        give(cell);
    }

    private static void take(Cell cell) {
        StaysCrew.check(Thread.holdsLock(cell), "the monitor is not owned at the bottom");
        StaysCrew.check(cell.owner == null, "somebody else has the monitor");
        cell.owner = Thread.currentThread();
    }

    private static void give(Cell cell) {
        StaysCrew.check(cell.owner == Thread.currentThread(), "somebody else had the monitor meanwhile");
        cell.owner = null;
    }

    private static void turn(Cell cell, int way, int depth) throws Exception {
        try {
            switch (way) {
                case 0: nested(cell, depth); break;
                case 1: cell.again(depth); break;
                case 2: three(cell); break;
                case 3: again(cell, depth); break;
                default: classNested(depth); break;
            }
        } catch (Left e) {
            // As if it had returned.
        }
        StaysCrew.check(!Thread.holdsLock(cell), "the monitor is owned after way " + way + " at depth " + depth);
        StaysCrew.check(!Thread.holdsLock(StaysRecursion.class), "the class is owned after its method");
    }

    private void all(int i) throws Exception {
        int way = StaysCrew.random(WAYS);
        int depth = StaysCrew.random(DEPTH);
        turn(new Cell(), way == WAYS - 1 ? 0 : way, depth);
        turn(cells[i % cells.length], way, depth);
        if (i % 8 == 0) {
            new PrintStream(OutputStream.nullOutputStream()).println("nobody else knows this one");
            print.println("everybody prints here");
            StaysCrew.check(!Thread.holdsLock(print), "the stream is owned after println");
        }
    }

    @Override
    public int least() {
        return 10_000;
    }

    @Override
    public void begin(StaysCrew crew) {
        for (int n = 0; n < THREADS; n++) {
            int[] turn = {n};
            crew.loop("worker" + n, () -> all(turn[0]++));
        }
        // Nobody may be left behind that owns something: threads that end at once, and one that comes after them.
        crew.loop("brief", () -> {
            Thread t = crew.thread("visitor", () -> all(StaysCrew.random(64) * 8));
            t.start();
            t.join();
        });
    }

    @Override
    public void end(StaysCrew crew) {
        for (Cell cell : cells) {
            synchronized (cell) {
                StaysCrew.check(cell.owner == null, "an owner is left");
            }
        }
        synchronized (print) {
            StaysCrew.check(Thread.holdsLock(print), "the stream is not owned");
        }
    }
}
