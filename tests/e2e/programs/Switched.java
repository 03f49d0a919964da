import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

/**
 * Allocates before, while and after somebody switches object events on and off, and checks what it has allocated.
 *
 * <p>Arguments: threads; "rested", if they begin as after a line of 0. Each allocates for ever, in chains of objects that
 * say who and how many they are; a chain that is not what it should be ends the program. On each line of input the threads
 * stop, do a number of rounds that is in the line (0: none; another one than before), and rest; then it prints how many
 * objects of each class they have made in these rounds and what the JVM says of each thread's bytes since the line before.
 * Then they go on as before, until the next line.
 */
public final class Switched {
    static class Link {
        final Link next;
        final int number;

        Link(Link next, int number) {
            this.next = next;
            this.number = number;
        }
    }

    static class Counted {
        final long a;

        Counted(long a) {
            this.a = a;
        }
    }

    static class Row {
        final int[] numbers;

        Row(int length) {
            numbers = new int[length];
        }
    }

    static final int CHAIN = 1000;
    static volatile Object sink;

    static final class Worker extends Thread {
        volatile int wanted = -1; // rounds to count; -1: allocate for ever
        volatile int rested = -1; // after so many rounds
        private final Object[] kept = new Object[2000];
        private int at;

        Worker() {
            setDaemon(true);
        }

        private void chain() {
            Link last = null;
            for (int i = 0; i < CHAIN; i++) {
                last = new Link(last, i);
            }
            kept[at++ % kept.length] = last;
            int n = CHAIN;
            for (Link link = (Link) kept[at * 7 % Math.min(at, kept.length)]; link != null; link = link.next) {
                if (link.number != --n) {
                    fail("a chain is broken: " + link.number + ", not " + n);
                }
            }
            if (n != 0) {
                fail("a chain is short of " + n);
            }
        }

        private void counted(int i) {
            sink = new Counted(i);
            Row row = new Row(i % 300);
            if (row.numbers.length != i % 300) {
                fail("a row has another length");
            }
            sink = row;
        }

        @Override
        public void run() {
            while (true) {
                int rounds = wanted;
                if (rounds < 0) {
                    chain();
                    continue;
                }
                for (int i = 0; i < rounds; i++) {
                    counted(i);
                }
                rested = rounds;
                while (wanted == rounds) {
                    Thread.onSpinWait();
                    java.util.concurrent.locks.LockSupport.parkNanos(1_000_000);
                }
            }
        }
    }

    static void fail(String what) {
        System.out.println("wrong: " + what);
        Runtime.getRuntime().halt(3);
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        var bean = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        int threads = Integer.parseInt(args[0]);
        List<Worker> workers = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            Worker worker = new Worker();
            worker.wanted = args.length > 1 && args[1].equals("rested") ? 0 : -1;
            workers.add(worker);
        }
        workers.forEach(Thread::start);
        System.out.println("ready " + ProcessHandle.current().pid());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            int rounds = Integer.parseInt(line);
            for (Worker worker : workers) {
                worker.wanted = rounds;
            }
            for (Worker worker : workers) {
                while (rounds >= 0 && worker.rested != rounds) {
                    Thread.sleep(1);
                }
            }
            StringBuilder text = new StringBuilder("rested " + threads * (long) rounds);
            for (Worker worker : workers) {
                text.append(' ').append(worker.getId()).append(' ').append(bean.getThreadAllocatedBytes(worker.getId()));
            }
            System.out.println(text);
        }
        System.out.println("right");
        System.exit(0);
    }
}
