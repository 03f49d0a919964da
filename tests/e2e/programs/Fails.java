/**
 * Contends for a second, so that a recorder finds something, and often, so that a slow machine's does, too; and ends
 * with a status of its own.
 */
public class Fails {
    private static final int ROUNDS = 200;

    public static void main(String[] args) throws Exception {
        Object lock = new Object();
        long end = System.nanoTime() + 1_000_000_000L;

        for (int round = 0; round < ROUNDS || System.nanoTime() < end; round++) {
            Thread late;
            synchronized (lock) {
                late = new Thread(() -> {
                    synchronized (lock) {
                        lock.notifyAll();
                    }
                }, "late");
                late.start();
                while (late.getState() != Thread.State.BLOCKED) {
                    Thread.sleep(1);
                }
            }
            late.join();
        }
        System.exit(Integer.parseInt(args[0]));
    }
}
