import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Threads that take turns in waiting for new work (in accept() of one channel, at a queue within a monitor), beside
 * two locks that delay work: one held by a thread that sleeps, one held by a thread that waits for new work while
 * another thread wants something else of the same lock. How long each was waited for goes to stdout, by the waiters'
 * own clocks.
 */
public class Turns {
    static final class Turn {}
    static final class Gate {}
    static final class Ledger {}

    static final Turn turn = new Turn();
    static final Gate gate = new Gate();
    static final Ledger ledger = new Ledger();
    static final long MS = 1_000_000;
    static final int ROUNDS = 40;
    static final String END = "end";

    static final LinkedBlockingQueue<String> tasks = new LinkedBlockingQueue<>(), orders = new LinkedBlockingQueue<>();
    static final AtomicLong turnNs = new AtomicLong(), gateNs = new AtomicLong(), ledgerNs = new AtomicLong();
    static volatile int done;
    /** For how long the channel was there, and for how long of that all acceptors were at it. */
    static long open, accepting;

    interface Act {
        void run() throws Exception;
    }

    static Thread start(String name, Act act) {
        Thread t = new Thread(() -> {
            try {
                act.run();
            } catch (Exception e) {
                e.printStackTrace();
            }
        }, name);
        t.start();
        return t;
    }

    static void serve(ServerSocketChannel server) throws Exception {
        try {
            for (;;)
                server.accept().close();
        } catch (ClosedChannelException e) {
            // The end.
        }
    }

    static String next() throws Exception {
        long begin = System.nanoTime();
        synchronized (turn) {
            turnNs.addAndGet(System.nanoTime() - begin);
            return tasks.take();
        }
    }

    static void work() throws Exception {
        while (next() != END)
            done++;
        tasks.put(END);
    }

    static boolean order() throws Exception {
        synchronized (gate) {
            return orders.take() != END;
        }
    }

    /** Wants the lock of those that wait for orders, for something else. */
    static void count() throws Exception {
        long begin = System.nanoTime();
        synchronized (gate) {
            gateNs.addAndGet(System.nanoTime() - begin);
        }
        Thread.sleep(1);
    }

    static void book() throws Exception {
        long begin = System.nanoTime();
        synchronized (ledger) {
            ledgerNs.addAndGet(System.nanoTime() - begin);
            Thread.sleep(10);
        }
    }

    static void round() throws Exception {
        List<Thread> threads = new ArrayList<>();
        long begin, started;
        try (ServerSocketChannel server = ServerSocketChannel.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            begin = System.nanoTime();
            for (int i = 0; i < 3; i++) {
                threads.add(start("acceptor-" + i, () -> serve(server)));
                threads.add(start("worker-" + i, Turns::work));
            }
            started = System.nanoTime();
            for (int i = 0; i < 2; i++)
                threads.add(start("clerk-" + i, () -> {
                    for (int k = 0; k < ROUNDS / 2; k++)
                        book();
                }));
            Thread orderer = start("orderer", () -> {
                while (order())
                    Thread.sleep(1);
            });
            Thread counter = start("counter", () -> {
                while (orderer.isAlive())
                    count();
            });
            for (int i = 0; i < ROUNDS; i++) {
                Thread.sleep(25);
                SocketChannel.open(server.getLocalAddress()).close();
                tasks.put("task");
                orders.put("order");
            }
            orders.put(END);
            tasks.put(END);
            orderer.join();
            counter.join();
            accepting = System.nanoTime() - started;
        }
        open = System.nanoTime() - begin;
        for (Thread t : threads)
            t.join();
    }

    public static void main(String[] args) throws Exception {
        System.out.println("ready " + ProcessHandle.current().pid());
        System.out.flush();
        System.in.read();
        round();
        System.out.printf("{\"turn\":%d,\"gate\":%d,\"ledger\":%d,\"open\":%d,\"accepting\":%d}%n", turnNs.get(),
                          gateNs.get(), ledgerNs.get(), open, accepting);
        System.out.flush();
        while (System.in.read() >= 0) {}
    }
}
