import java.util.Scanner;

/**
 * Two threads that block on a monitor and contend for it, and a sum that tells whether anything has gone wrong in between. For each line
 * N on stdin, each thread does N rounds; then the sum is printed. Ends with stdin.
 */
public class Killed {
    static final Object lock = new Object();
    static long sum;

    static void rounds(int n, int factor) {
        for (int i = 0; i < n; i++) {
            synchronized (lock) {
                sum += (long) i * factor;
                if (i % 16 == 0)
                    Thread.yield();
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Scanner in = new Scanner(System.in);
        System.out.println("ready " + ProcessHandle.current().pid());
        while (in.hasNextInt()) {
            int n = in.nextInt();
            Thread one = new Thread(() -> rounds(n, 3));
            Thread two = new Thread(() -> rounds(n, 4));
            synchronized (lock) { // so that there is contention for certain
                one.start();
                two.start();
                while (one.getState() != Thread.State.BLOCKED || two.getState() != Thread.State.BLOCKED)
                    Thread.onSpinWait();
            }
            one.join();
            two.join();
            System.out.println(sum);
        }
    }
}
