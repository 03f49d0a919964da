import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Many contentions of several lock classes, parks, and waits, for the comparison with JFR. Arguments:
 * rounds per thread. Waits for a line on stdin, works, prints "done", and waits for the end of stdin.
 */
public class Contend {
    static final class Hot { }
    static final class Warm { }
    static final class Bell { }

    static final Hot hot = new Hot();
    static final Warm[] warm = {new Warm(), new Warm(), new Warm()};
    static final Bell bell = new Bell();
    static final ReentrantLock lock = new ReentrantLock();
    static final Condition condition = lock.newCondition();
    static volatile long sink;

    static void work(int us) {
        long end = System.nanoTime() + us * 1000L;
        while (System.nanoTime() < end) {
            sink++;
        }
    }

    static void sleep() {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void round(int i, int id) throws InterruptedException {
        synchronized (hot) {
            sleep();
        }
        synchronized (warm[i % warm.length]) {
            work(200);
            sleep();
        }
        lock.lock();
        try {
            sleep();
            if (i % 16 == id) {
                condition.awaitNanos(2_000_000);
            }
        } finally {
            lock.unlock();
        }
        if (i % 16 == 8 + id) {
            synchronized (bell) {
                bell.wait(2);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[0]);
        Scanner in = new Scanner(System.in);
        List<Thread> threads = new ArrayList<>();

        System.out.println("ready " + ProcessHandle.current().pid());
        in.nextLine();
        for (int n = 0; n < 5; n++) {
            int id = n;
            Thread t = new Thread(() -> {
                try {
                    for (int i = 0; i < rounds; i++) {
                        round(i, id);
                    }
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }, "contender-" + id);
            threads.add(t);
            t.start();
        }
        for (Thread t : threads) {
            t.join();
        }
        System.out.println("done");
        while (in.hasNextLine()) {
            in.nextLine();
        }
    }
}
