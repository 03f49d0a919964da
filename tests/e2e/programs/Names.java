import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.CountDownLatch;

/**
 * Threads with names: some before a line comes on stdin, some after it. For each it prints "thread
 * ID DAEMON NAME"; "next" ends each part. It goes on with each line, and ends with the end of stdin.
 */
public class Names {
    static final List<Thread> threads = new ArrayList<>();

    static Thread start(String name, boolean daemon) throws InterruptedException {
        CountDownLatch running = new CountDownLatch(1);
        Thread t = new Thread(() -> {
            running.countDown();
            synchronized (Names.class) {
                try {
                    Names.class.wait();
                } catch (InterruptedException e) {
                    return;
                }
            }
        }, name);
        t.setDaemon(daemon);
        t.start();
        running.await();
        threads.add(t);
        return t;
    }

    static void tell() {
        for (Thread t : threads) {
            System.out.println("thread " + t.getId() + " " + t.isDaemon() + " " + t.getName());
        }
        System.out.println("next");
    }

    public static void main(String[] args) throws Exception {
        Scanner in = new Scanner(System.in);
        threads.add(Thread.currentThread());
        Thread old = start("before-1", true);
        start("before \u00fc \u4f60\u597d", true);
        System.out.println("ready " + ProcessHandle.current().pid());
        in.nextLine();
        start("after-1", true);
        start("after-2 \ud83d\ude00", true);
        old.setName("renamed");
        tell();
        in.nextLine();
        Thread shortLived = new Thread(() -> { }, "short-lived");
        shortLived.start();
        shortLived.join();
        tell();
        while (in.hasNextLine()) {
            in.nextLine();
        }
        System.exit(args.length > 0 ? Integer.parseInt(args[0]) : 0);
    }
}
