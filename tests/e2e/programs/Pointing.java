import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Objects of which each is kept by one root that is known, while threads run compiled code that allocates now and then. */
public class Pointing {
    static class Kept {
        final Object to;

        Kept(Object to) {
            this.to = to;
        }
    }

    static final class ByStatic extends Kept {
        private final Object to; // Of the same name as the superclass's

        ByStatic(Object to, Object other) {
            super(other);
            this.to = to;
        }
    }

    static final class ByLocal extends Kept {
        ByLocal(Object to) {
            super(to);
        }
    }

    static final class Leaf {
        int number;
    }

    static final Kept STATIC = new ByStatic(new Leaf(), new Leaf[] {null, new Leaf(), null, null, new Leaf()});
    static WeakReference<Leaf> weak = new WeakReference<>(new Leaf());
    static SoftReference<Leaf> soft = new SoftReference<>(new Leaf());
    static volatile boolean run = true;
    static volatile long sum;

    /** The frame that is known; what it calls is compiled after a while. */
    static void keep(int depth, CountDownLatch ready) {
        ByLocal local = new ByLocal(new Leaf());
        if (depth > 0) {
            keep(depth - 1, ready);
        } else {
            spin(local, ready);
        }
        sum += ((Leaf) local.to).number;
    }

    static void spin(ByLocal local, CountDownLatch ready) {
        int rounds = 0;
        while (run) {
            long numbers = 0;
            for (int i = 0; i < 4000; i++) {
                numbers += i * 7L + ((Leaf) local.to).number;
            }
            sum += numbers;
            if (++rounds % 64 == 0) {
                Leaf[] some = new Leaf[] {null, new Leaf(), null};
                sum += some.length;
            }
            if (rounds == 5000) {
                ready.countDown();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        int threads = Integer.parseInt(args[0]);
        CountDownLatch ready = new CountDownLatch(threads);
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            Thread thread = new Thread(() -> keep(3, ready), "keeper " + i);
            thread.start();
            all.add(thread);
        }
        ready.await();
        System.out.println("ready " + ProcessHandle.current().pid());
        for (String line = in.readLine(); line != null && !line.isEmpty(); line = in.readLine()) {
            System.gc();
            System.out.println("collected");
        }
        run = false;
        for (Thread thread : all) {
            thread.join();
        }
        System.out.println("done");
        in.readLine();
    }
}
