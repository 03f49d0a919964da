import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Random;

/**
 * Stacks that are mixed from parts of each other: Forked SECONDS DEPTH goes down by r0 to r15, one of which decides all
 * calls below: which of m0 and m1, at the same places of the stack, calls which. Four parts of the outermost four calls
 * (r / 4) meet four of the innermost ones (r % 4); what is between is always the same. So a chain is right if it is what
 * its outermost method of these says: wrong() of test_profile_forked.py has the same rule. Begins at the first line of
 * input, runs for SECONDS of its own CPU time, changes its stack each 10 to 150 us, and says how many times.
 */
public class Forked {
    static final int OUTER = 4, INNER = 24;
    static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
    static int depth;
    static volatile long sink;

    static int mix(int x) {
        x *= 0x9e3779b1;
        x ^= x >>> 15;
        x *= 0x85ebca6b;
        return x ^ x >>> 13;
    }

    static boolean bit(int root, int at) {
        if (at < OUTER) {
            return (mix(at + 100 * (root >> 2)) & 1) != 0;
        }
        if (at < depth - INNER) {
            return (mix(at + 7777) & 1) != 0;
        }
        return (mix(at + 100_000 * (1 + (root & 3))) & 1) != 0;
    }

    static long m0(int root, int at) {
        if (at >= depth) {
            return leaf(root);
        }
        return bit(root, at) ? m1(root, at + 1) : m0(root, at + 1);
    }

    static long m1(int root, int at) {
        if (at >= depth) {
            return leaf(root);
        }
        return bit(root, at) ? m1(root, at + 1) : m0(root, at + 1);
    }

    static long leaf(int x) {
        for (int i = 0; i < 8000; i++) {
            x = x * 1103515245 + 12345;
        }
        return x;
    }

    static long r0() {
        return bit(0, 0) ? m1(0, 1) : m0(0, 1);
    }

    static long r1() {
        return bit(1, 0) ? m1(1, 1) : m0(1, 1);
    }

    static long r2() {
        return bit(2, 0) ? m1(2, 1) : m0(2, 1);
    }

    static long r3() {
        return bit(3, 0) ? m1(3, 1) : m0(3, 1);
    }

    static long r4() {
        return bit(4, 0) ? m1(4, 1) : m0(4, 1);
    }

    static long r5() {
        return bit(5, 0) ? m1(5, 1) : m0(5, 1);
    }

    static long r6() {
        return bit(6, 0) ? m1(6, 1) : m0(6, 1);
    }

    static long r7() {
        return bit(7, 0) ? m1(7, 1) : m0(7, 1);
    }

    static long r8() {
        return bit(8, 0) ? m1(8, 1) : m0(8, 1);
    }

    static long r9() {
        return bit(9, 0) ? m1(9, 1) : m0(9, 1);
    }

    static long r10() {
        return bit(10, 0) ? m1(10, 1) : m0(10, 1);
    }

    static long r11() {
        return bit(11, 0) ? m1(11, 1) : m0(11, 1);
    }

    static long r12() {
        return bit(12, 0) ? m1(12, 1) : m0(12, 1);
    }

    static long r13() {
        return bit(13, 0) ? m1(13, 1) : m0(13, 1);
    }

    static long r14() {
        return bit(14, 0) ? m1(14, 1) : m0(14, 1);
    }

    static long r15() {
        return bit(15, 0) ? m1(15, 1) : m0(15, 1);
    }

    static long down(int root) {
        switch (root) {
        case 0:
            return r0();
        case 1:
            return r1();
        case 2:
            return r2();
        case 3:
            return r3();
        case 4:
            return r4();
        case 5:
            return r5();
        case 6:
            return r6();
        case 7:
            return r7();
        case 8:
            return r8();
        case 9:
            return r9();
        case 10:
            return r10();
        case 11:
            return r11();
        case 12:
            return r12();
        case 13:
            return r13();
        case 14:
            return r14();
        default:
            return r15();
        }
    }

    static void run(long seconds) {
        Random random = new Random(17);
        long end = CLOCK.getCurrentThreadCpuTime() + seconds * 1_000_000_000L, times = 0;
        while (CLOCK.getCurrentThreadCpuTime() < end) {
            sink += down(random.nextInt(16));
            times++;
        }
        System.out.println(times);
    }

    public static void main(String[] args) throws Exception {
        depth = Integer.parseInt(args[1]);
        System.out.println("ready " + ProcessHandle.current().pid());
        System.in.read();
        Thread t = new Thread(null, () -> run(Long.parseLong(args[0])), "forked", 64 << 20);
        t.start();
        t.join();
        while (System.in.read() >= 0) {
        }
    }
}
