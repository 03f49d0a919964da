/** Monitors that native code enters and leaves, synchronized native methods, and native threads that leave theirs. */
final class StaysNative implements Stays.Scene {
    private static final int THREADS = 3;

    static final class Cell {
        Thread owner;

        /** Calls back, and throws an IllegalStateException if told so. */
        synchronized native void within(boolean throwing);

        /** Called by native code. */
        void bottom() throws InterruptedException {
            StaysCrew.check(Thread.holdsLock(this), "native code has not entered the monitor");
            StaysCrew.check(owner == null, "somebody else has the monitor");
            owner = Thread.currentThread();
            int what = StaysCrew.random(16);
            if (what == 0) {
                owner = null;
                wait(1);
                StaysCrew.check(owner == null, "somebody else has the monitor after wait()");
            } else {
                StaysCrew.check(owner == Thread.currentThread(), "somebody else had the monitor");
                notify();
            }
            owner = null;
        }
    }

    /** Enters and leaves the monitor by JNI so often, calls back in between, and throws, if told so. */
    static native void enter(Cell cell, int depth, boolean throwing);

    /** Leaves a monitor that is not owned: what MonitorExit returns, with its exception. */
    static native int leave(Cell cell);

    /** A thread that is attached, enters the monitor twice, and is detached: false if there was no such thread. */
    static native boolean detach(Cell cell);

    static synchronized native void classWithin(Cell cell);

    private final Cell[] cells = {new Cell(), new Cell()};

    StaysNative(String library) {
        System.load(library);
    }

    private static void notOwned(Cell cell) {
        try {
            StaysCrew.check(leave(cell) != 0, "a monitor that is not owned can be left");
            StaysCrew.check(false, "MonitorExit has not thrown");
        } catch (IllegalMonitorStateException e) {
            StaysCrew.check(!Thread.holdsLock(cell), "MonitorExit has entered the monitor");
        }
    }

    private static void turn(Cell cell) throws Exception {
        boolean throwing = StaysCrew.random(8) == 0;
        boolean thrown = false;
        int way = StaysCrew.random(16);

        try {
            if (way == 0) {
                notOwned(cell);
            } else if (way == 1) {
                StaysCrew.check(detach(cell), "no native thread");
            } else if (way < 6) {
                classWithin(cell);
            } else if (way < 8) {
                synchronized (cell) {
                    enter(cell, 1 + StaysCrew.random(4), throwing);
                }
            } else if (way < 12) {
                cell.within(throwing);
            } else {
                enter(cell, 1 + StaysCrew.random(4), throwing);
            }
        } catch (IllegalStateException e) {
            thrown = true;
        }
        StaysCrew.check(thrown == (throwing && way >= 6), "thrown: " + thrown + ", way " + way);
        StaysCrew.check(!Thread.holdsLock(cell), "the monitor is owned after way " + way);
        StaysCrew.check(!Thread.holdsLock(StaysNative.class), "the class is owned after its method");
    }

    @Override
    public int least() {
        return 200;
    }

    @Override
    public void begin(StaysCrew crew) {
        for (int n = 0; n < THREADS; n++) {
            crew.loop("worker" + n, () -> turn(cells[StaysCrew.random(cells.length)]));
        }
        crew.loop("java", () -> {
            synchronized (cells[0]) {
                cells[0].bottom();
            }
        });
    }

    @Override
    public void end(StaysCrew crew) {
        for (Cell cell : cells) {
            synchronized (cell) {
                StaysCrew.check(cell.owner == null, "somebody is still there");
            }
        }
    }
}
