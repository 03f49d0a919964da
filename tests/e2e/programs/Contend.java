import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Many contentions of several lock classes, parks, and waits, for the comparison with JFR. Arguments:
 * rounds per thread, ms of a section [1]. Waits for a line on stdin, works, prints "done", and then for
 * how much of the time in which it computed it had no CPU, in parts of 1000; waits for the end of stdin.
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
    static final long GAP_NS = 50_000; // longer than an interrupt
    static final LongAdder computedNs = new LongAdder();
    static final LongAdder goneNs = new LongAdder();
    static volatile long sink;
    static int ms = 1;

    static void work(int us) {
        long begin = System.nanoTime();
        long now = begin;
        long gone = 0;
        while (now < begin + us * 1000L) {
            long last = now;
            now = System.nanoTime();
            gone += now - last > GAP_NS ? now - last : 0;
            sink++;
        }
        computedNs.add(now - begin);
        goneNs.add(gone);
    }

    static void sleep() {
        try {
            Thread.sleep(ms);
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
        if (args.length > 1) {
            ms = Integer.parseInt(args[1]);
        }
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
        System.out.println(goneNs.sum() * 1000 / computedNs.sum());
        while (in.hasNextLine()) {
            in.nextLine();
        }
    }
}
