import java.util.concurrent.TimeUnit;

/**
 * THREADS threads that sleep TIMES times for MS, by turns in even() and odd(), at the first line of input. Says {THREAD: ns}:
 * for how long each of them has been in these calls.
 */
public class Sleeps {
    static void sleep(int ms) {
        try {
            TimeUnit.MILLISECONDS.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void even(int ms) {
        sleep(ms);
    }

    static void odd(int ms) {
        sleep(ms);
    }

    public static void main(String[] args) throws Exception {
        int times = Integer.parseInt(args[1]), ms = Integer.parseInt(args[2]);
        Thread[] threads = new Thread[Integer.parseInt(args[0])];
        long[] spent = new long[threads.length];
        System.out.println("ready " + ProcessHandle.current().pid());
        System.in.read();
        for (int i = 0; i < threads.length; i++) {
            int own = i;
            threads[i] = new Thread(() -> {
                for (int k = 0; k < times; k++) {
                    long begin = System.nanoTime();
                    if (k % 2 == 0)
                        even(ms);
                    else
                        odd(ms);
                    spent[own] += System.nanoTime() - begin;
                }
            }, "sleeper-" + i);
            threads[i].start();
        }
        StringBuilder said = new StringBuilder();
        for (int i = 0; i < threads.length; i++) {
            threads[i].join();
            said.append(i > 0 ? ", " : "{").append("\"sleeper-" + i + "\": " + spent[i]);
        }
        System.out.println(said.append("}"));
        while (System.in.read() >= 0) {
        }
    }
}
