import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Scanner;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Threads that block each other as a table says. Each waiter measures with nanoTime around the lock
 * operation how long it was blocked; at the end all of it is printed as JSON. Arguments: hold time in
 * ms, rounds. Waits for a line on stdin before it begins, and for the end of stdin when it is done.
 *
 * On a busy machine the waiter may lose its CPU between its stamps and the lock. How much of what it
 * measures this can be is measured, too: from the stamp before until somebody else has seen it
 * blocked, and from the owner's release until the stamp behind. Of the owner it is told for how long it
 * had the lock, and was neither running nor waiting for a CPU meanwhile, by the kernel's counts.
 */
public class Known {
    static final class LockA { }
    static final class LockB { }

    interface Section {
        void run(Runnable inside);
    }

    interface Phases {
        void run(int rounds, int ms);
    }

    static final LockA lockA = new LockA();
    static final LockB lockB = new LockB();
    static final ReentrantLock reentrant = new ReentrantLock();
    static final ReentrantReadWriteLock readWrite = new ReentrantReadWriteLock();

    static Section monitor(Object lock) {
        return inside -> {
            synchronized (lock) {
                inside.run();
            }
        };
    }

    static Section juc(Lock lock) {
        return inside -> {
            lock.lock();
            try {
                inside.run();
            } finally {
                lock.unlock();
            }
        };
    }

    /** A thread that runs what it is given, without any lock: it looks every ms. */
    static final class Worker extends Thread {
        volatile Runnable job;
        volatile KernelThread kernels;

        Worker(String name) {
            super(name);
            setDaemon(true);
            start();
        }

        void give(Runnable r) {
            job = r;
        }

        /** It sleeps for a time when it waits for a job. */
        boolean isBlocked() {
            State state = getState();
            return (state == State.BLOCKED || state == State.WAITING) && kernels.isAsleep();
        }

        void finish() {
            while (job != null) {
                pause(1);
            }
        }

        @Override
        public void run() {
            kernels = KernelThread.current();
            while (true) {
                Runnable r = job;
                if (r == null) {
                    pause(1);
                } else {
                    r.run();
                    job = null;
                }
            }
        }
    }

    static void pause(int ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** It sleeps at one go: at each of many ends it would wait for a CPU, and on a busy machine that is most of it. */
    static void spend(int ms, boolean busy) {
        if (!busy) {
            pause(ms);
            return;
        }
        long end = System.nanoTime() + ms * 1_000_000L;
        while (System.nanoTime() < end) {
        }
    }

    static final Queue<String> truth = new ConcurrentLinkedQueue<>(); // without a lock of its own
    static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
    static volatile boolean held, allBlocked;
    static volatile long released;
    static volatile long heldNs, ownerBlockedNs;

    /** Stolen time is in it. The three are read while the thread keeps its CPU. */
    static long blockedNs(Worker self) {
        long begin, ns;
        do {
            begin = System.nanoTime();
            ns = begin - CLOCK.getCurrentThreadCpuTime() - self.kernels.runnableNs();
        } while (System.nanoTime() - begin > 1_000_000);
        return ns;
    }

    /** One thread's blocking in a phase. */
    static final class Blocked {
        final Worker waiter;
        volatile long before, seen, after;

        Blocked(Worker waiter) {
            this.waiter = waiter;
        }

        void awaitBlocked() {
            while (before == 0 || !waiter.isBlocked()) {
                Thread.yield();
            }
            seen = System.nanoTime();
        }

        long noise() {
            return seen - before + after - released;
        }
    }

    /**
     * The owner holds the lock for ms; the waiters come as soon as it does. It holds it for as long again while there is a
     * waiter that has not been seen blocked: that may have waited for a CPU all the time, and would find the lock free.
     */
    static void phase(String lockClass, Section own, Section wait, int ms, boolean busy, Worker owner,
                      Worker... waiters) {
        held = false;
        allBlocked = false;
        owner.give(() -> own.run(() -> {
            long begin = System.nanoTime(), blocked = blockedNs(owner);
            held = true;
            do {
                spend(ms, busy);
            } while (!allBlocked);
            ownerBlockedNs = blockedNs(owner) - blocked;
            released = System.nanoTime();
            heldNs = released - begin;
        }));
        while (!held) {
            pause(1);
        }
        List<Blocked> all = new ArrayList<>();
        for (Worker w : waiters) {
            Blocked blocked = new Blocked(w);
            all.add(blocked);
            w.give(() -> {
                blocked.before = System.nanoTime();
                wait.run(() -> blocked.after = System.nanoTime());
            });
        }
        all.forEach(Blocked::awaitBlocked);
        allBlocked = true;
        owner.finish();
        for (Worker w : waiters) {
            w.finish();
        }
        for (Blocked b : all) {
            truth.add(String.format("{\"lock_class\":\"%s\",\"owner\":\"%s\",\"waiter\":\"%s\",\"blocked_ns\":%d,"
                    + "\"noise_ns\":%d,\"busy\":%b,\"held_ns\":%d,\"owner_blocked_ns\":%d}", lockClass, owner.getName(),
                    b.waiter.getName(), b.after - b.before, b.noise(), busy, heldNs, ownerBlockedNs));
        }
    }

    public static void main(String[] args) {
        int ms = Integer.parseInt(args[0]);
        int rounds = Integer.parseInt(args[1]);
        Scanner in = new Scanner(System.in);
        Worker alpha = new Worker("alpha");
        Worker beta = new Worker("beta");
        Worker gamma = new Worker("gamma");
        String sync = "java.util.concurrent.locks.ReentrantLock$NonfairSync";
        String rrwl = "java.util.concurrent.locks.ReentrantReadWriteLock$NonfairSync";
        Section a = monitor(lockA);
        Section b = monitor(lockB);
        Section r = juc(reentrant);
        Section read = juc(readWrite.readLock());
        Section write = juc(readWrite.writeLock());
        int hashB = System.identityHashCode(lockB);

        Phases phases = (n, hold) -> {
            for (int i = 0; i < n; i++) {
                phase("Known$LockA", a, a, hold, false, alpha, beta, gamma);
                phase("Known$LockA", a, a, hold, true, beta, alpha);
                phase("Known$LockB", b, b, hold, false, gamma, alpha, beta);
                phase(sync, r, r, hold, false, alpha, beta, gamma);
                phase(sync, r, r, hold, true, gamma, alpha);
                phase(rrwl, write, read, hold, false, alpha, beta, gamma);
                phase(rrwl, read, write, hold, false, beta, alpha);
            }
        };
        phases.run(1, 3); // loads and links what would otherwise be loaded on the way into a lock
        truth.clear();
        System.out.println("ready " + ProcessHandle.current().pid());
        in.nextLine();
        phases.run(rounds, ms);
        System.out.println("{\"hashB\":" + hashB + ",\"blocked\":[" + String.join(",", truth) + "]}");
        while (in.hasNextLine()) {
            in.nextLine();
        }
    }
}
