import java.util.concurrent.Callable;

/** Loaded anew by each loader of StaysLoaders, with threads that contend for what goes with it. */
public final class StaysFresh implements Callable<Integer> {
    private static final Object LOCK = new StaysFresh();
    private static int count;

    private static synchronized void add() {
        count++;
    }

    @Override
    public Integer call() throws Exception {
        for (int i = 0; i < 50; i++) {
            add();
            synchronized (LOCK) {
                add();
                if (i % 25 == 0) {
                    LOCK.wait(1);
                } else if (i % 5 == 0) {
                    Thread.yield();
                }
                LOCK.notify();
            }
        }
        synchronized (StaysFresh.class) {
            return count;
        }
    }
}
