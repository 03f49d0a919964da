import java.io.InputStream;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CountDownLatch;

/**
 * One thread holds a lock that another waits for, and does known things meanwhile: it computes, waits for a second
 * lock whose holder waits for a third, reads from a socket, sleeps, is stopped by collections. What each took, by its
 * own clock, from when the other one was blocked, goes to stdout.
 */
public class Holding {
    static final class Outer {}
    static final class Middle {}
    static final class Inner {}

    static final Outer outer = new Outer();
    static final Middle middle = new Middle();
    static final Inner inner = new Inner();
    static final long MS = 1_000_000;

    static void await(Thread t, Thread.State state) throws Exception {
        while (t.getState() != state)
            Thread.sleep(0, 100_000);
    }

    static long compute(long ms) {
        long begin = System.nanoTime();
        while (System.nanoTime() - begin < ms * MS) {}
        return System.nanoTime() - begin;
    }

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

    static long timed(Act act) throws Exception {
        long begin = System.nanoTime();
        act.run();
        return System.nanoTime() - begin;
    }

    static String round(long ms, InputStream in, OutputStream out) throws Exception {
        CountDownLatch innerHeld = new CountDownLatch(1), middleHeld = new CountDownLatch(1);
        Thread[] holder = new Thread[1], behind = new Thread[1];
        Thread third = start("third", () -> {
            synchronized (inner) {
                innerHeld.countDown();
                while (holder[0] == null || behind[0] == null)
                    Thread.sleep(1);
                await(behind[0], Thread.State.BLOCKED);
                await(holder[0], Thread.State.BLOCKED);
                Thread.sleep(ms);
            }
        });
        behind[0] = start("second", () -> {
            innerHeld.await();
            synchronized (middle) {
                middleHeld.countDown();
                synchronized (inner) {
                    compute(1);
                }
            }
        });
        long[] took = new long[6];
        CountDownLatch outerHeld = new CountDownLatch(1);
        Thread[] waiter = new Thread[1];
        holder[0] = start("first", () -> {
            middleHeld.await();
            synchronized (outer) {
                outerHeld.countDown();
                while (waiter[0] == null)
                    Thread.sleep(1);
                await(waiter[0], Thread.State.BLOCKED);
                took[0] = timed(() -> compute(ms));
                took[1] = timed(() -> {
                    synchronized (middle) {
                        compute(0);
                    }
                });
                Thread peer = start("peer", () -> {
                    Thread.sleep(ms);
                    out.write(1);
                    out.flush();
                });
                took[2] = timed(() -> in.read());
                took[3] = timed(() -> Thread.sleep(ms));
                took[4] = timed(() -> {
                    for (int i = 0; i < 3; i++)
                        System.gc();
                });
                peer.join();
            }
        });
        waiter[0] = start("waiter", () -> {
            outerHeld.await();
            took[5] = timed(() -> {
                synchronized (outer) {
                    compute(0);
                }
            });
        });
        for (Thread t : new Thread[] {third, behind[0], holder[0], waiter[0]})
            t.join();
        return String.format("{\"computed\":%d,\"behind\":%d,\"read\":%d,\"slept\":%d,\"collected\":%d,\"blocked\":%d}",
                             took[0], took[1], took[2], took[3], took[4], took[5]);
    }

    public static void main(String[] args) throws Exception {
        try (ServerSocket server = new ServerSocket(0);
             Socket one = new Socket("127.0.0.1", server.getLocalPort()); Socket two = server.accept()) {
            one.setTcpNoDelay(true);
            round(2, two.getInputStream(), one.getOutputStream());
            System.out.println("ready " + ProcessHandle.current().pid());
            System.out.flush();
            System.in.read();
            System.out.println(round(Long.parseLong(args[0]), two.getInputStream(), one.getOutputStream()));
            System.out.flush();
            while (System.in.read() >= 0) {}
        }
    }
}
