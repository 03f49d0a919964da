/** Ends with a status of its own, after a contention. */
public class Fails {
    public static void main(String[] args) throws Exception {
        Object lock = new Object();
        Thread t;
        synchronized (lock) {
            t = new Thread(() -> {
                synchronized (lock) {
                    lock.notifyAll();
                }
            }, "late");
            t.start();
            while (t.getState() != Thread.State.BLOCKED) {
                Thread.onSpinWait();
            }
        }
        t.join();
        System.exit(Integer.parseInt(args[0]));
    }
}
