import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Allocates known numbers of objects of its own classes in some threads, keeps some of them alive for a while, and
 * prints how many there were, and what the JVM counts of each thread's bytes.
 *
 * <p>Arguments: threads, rounds, full collections. The threads rest when they are done, so that their sums stand.
 */
public final class Births {
    static class Plain {
        Object next;
    }

    static class Wide {
        long a, b, c, d;
        Object next;
    }

    static class Cloned implements Cloneable {
        int a;

        Cloned copy() throws CloneNotSupportedException {
            return (Cloned) clone();
        }
    }

    static class Reflected {}

    static class Finalized {
        @Override
        @SuppressWarnings({"deprecation", "removal"})
        protected void finalize() {}
    }

    static class Element {}

    static final int KEPT = 4096;
    static final int[] LENGTHS = {0, 1, 2, 253, 254, 255, 256, 1000};
    static final int HUGE = 700_000;
    static volatile Object sink;


    static final class Worker extends Thread {
        final int rounds;
        final CountDownLatch done;
        final Object[] kept = new Object[KEPT];
        private long seed;

        Worker(int rounds, CountDownLatch done, int number) {
            this.rounds = rounds;
            this.done = done;
            this.seed = number + 1;
            setDaemon(true);
        }

        private void keep(Object object) {
            seed = seed * 6364136223846793005L + 1442695040888963407L;
            kept[(int) (seed >>> 40) % KEPT] = object;
        }

        private void round(int i) throws ReflectiveOperationException, CloneNotSupportedException {
            Plain p = new Plain();
            sink = p;
            keep(p);
            if (i % 2 == 0) {
                Wide w = new Wide();
                w.next = p;
                keep(w);
            }
            if (i % 4 == 0) {
                keep(new Element[LENGTHS[i / 4 % LENGTHS.length]]);
                sink = new Element[2][3];
            }
            if (i % 8 == 0) {
                Cloned c = new Cloned();
                sink = c;
                keep(c.copy());
            }
            if (i % 16 == 0) {
                keep(Reflected.class.getDeclaredConstructor().newInstance());
                sink = Array.newInstance(Reflected.class, i % 512);
            }
            if (i % 64 == 0) {
                sink = new Finalized();
            }
            if (i % 65536 == 0) {
                sink = new Cloned[HUGE];
            }
        }

        @Override
        public void run() {
            try {
                for (int i = 0; i < rounds; i++) {
                    round(i);
                }
            } catch (ReflectiveOperationException | CloneNotSupportedException e) {
                throw new AssertionError(e);
            }
            done.countDown();
            while (true) {
                java.util.concurrent.locks.LockSupport.park(this);
            }
        }
    }

    static long each(int rounds, int step) {
        return (rounds + step - 1) / step;
    }

    static void count(Class<?> type, long number) {
        System.out.println("count\t" + type.getName().replace('.', '/') + "\t" + number);
    }

    public static void main(String[] args) throws InterruptedException, IOException {
        System.in.read(); // until a reader is there
        int threads = Integer.parseInt(args[0]), rounds = Integer.parseInt(args[1]);
        CountDownLatch done = new CountDownLatch(threads);
        List<Worker> workers = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            workers.add(new Worker(rounds, done, i));
        }
        workers.forEach(Thread::start);
        for (int i = 0; i < Integer.parseInt(args[2]); i++) {
            Thread.sleep(200);
            System.gc();
        }
        done.await();
        for (Worker worker : workers) {
            while (worker.getState() != Thread.State.WAITING) {
                Thread.sleep(1);
            }
        }
        count(Plain.class, (long) threads * rounds);
        count(Wide.class, threads * each(rounds, 2));
        count(Element[].class, threads * 3 * each(rounds, 4));
        count(Element[][].class, threads * each(rounds, 4));
        count(Cloned.class, threads * 2 * each(rounds, 8));
        count(Reflected.class, threads * each(rounds, 16));
        count(Reflected[].class, threads * each(rounds, 16));
        count(Finalized.class, threads * each(rounds, 64));
        count(Cloned[].class, threads * each(rounds, 65536));
        var bean = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        for (Worker worker : workers) {
            System.out.println("thread\t" + worker.getId() + "\t" + bean.getThreadAllocatedBytes(worker.getId()));
        }
        System.exit(0);
    }
}
