import java.io.PrintStream;
import java.lang.StackWalker.StackFrame;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Two threads meet again and again: one blocks on what the other one holds, or waits for it. How each of them gets
 * there is a shape (StacksShapes), what it does there an op (StacksAct). Arguments: the native library, how often
 * each op is run alone in each shape before anything is measured, rounds.
 *
 * Says that it is ready, waits for a line on stdin, lets them meet, and prints as JSON where StackWalker has seen
 * them: one line per frame (its number is its place), then one per act, then "done". Ends with stdin.
 */
public final class Stacks {
    /** In meetings of the first kind the first one holds a lock until the second one is blocked on it. */
    private static final StacksAct.Op[][] MEETINGS = {
        {StacksAct.Op.SLEEP_IN, StacksAct.Op.ENTER},
        {StacksAct.Op.THROW_IN, StacksAct.Op.ENTER},
        {StacksAct.Op.SYNCHRONIZED, StacksAct.Op.ENTER_SYNCHRONIZED},
        {StacksAct.Op.STATIC, StacksAct.Op.ENTER_STATIC},
        {StacksAct.Op.PARK_IN, StacksAct.Op.LOCK},
        {StacksAct.Op.SPIN_IN, StacksAct.Op.ENTER},
        {StacksAct.Op.SPIN_LOCK, StacksAct.Op.LOCK},
        {StacksAct.Op.WAIT, StacksAct.Op.NOTIFY},
        {StacksAct.Op.PARK, StacksAct.Op.UNPARK},
    };
    private static final long SPIN_MS = 3; // several periods of the recorder's sampler
    private static final int WALK_EVERY = 8;

    private static final Map<String, StacksShape> SHAPES = new HashMap<>();
    private static final List<String> NAMES = new ArrayList<>();
    private static final Set<String> FRESH = new HashSet<>(); // warm themselves up

    private static void shape(String name, StacksShape shape) {
        NAMES.add(name);
        SHAPES.put(name, shape);
    }

    private static void fresh(String name, StacksShape shape) {
        shape(name, shape);
        FRESH.add(name);
    }

    static {
        shape("plain", StacksShapes::plain);
        shape("inlined", StacksShapes::inlined);
        shape("recursion", StacksShapes::recursion);
        shape("lambda", StacksShapes::lambda);
        shape("method_reference", StacksShapes::methodReference);
        shape("stream", StacksShapes::stream);
        shape("flat_stream", StacksShapes::flatStream);
        shape("comparator", StacksShapes::comparator);
        shape("caught", StacksShapes::caught);
        shape("finally", StacksShapes::finallyBlock);
        shape("synchronized", StacksShapes::synchronizedFrames);
        shape("native", StacksShapes::nativeCall);
        shape("native_twice", StacksShapes::nativeTwice);
        shape("constructor", StacksShapes::constructor);
        fresh("initializer", StacksShapes::initializer);
        shape("reflection", StacksShapes::reflection);
        fresh("fresh_reflection", StacksShapes::freshReflection);
        shape("constant_handle", StacksShapes::constantHandle);
        shape("handles", StacksShapes::handles);
        shape("megamorphic", StacksShapes::megamorphic);
        shape("many_arguments", StacksShapes::manyArguments);
        shape("adapters", StacksShapes::adapters);
        shape("lambda_thread", StacksShapes::lambdaThread);
        fresh("osr", StacksShapes::osr);
        fresh("deoptimized", StacksShapes::deoptimized);
        fresh("uncommon_trap", StacksShapes::uncommonTrap);
        shape("mixture", StacksShapes::mixture);
    }

    /** A thread that runs what it is given. */
    private static final class Worker extends Thread {
        private volatile StacksShape shape;
        private volatile KernelThread kernels;
        private StacksAct act;

        Worker(String name) {
            super(name);
            setDaemon(true);
            start();
            while (kernels == null) {
                Thread.yield();
            }
        }

        void give(StacksShape s, StacksAct a) {
            act = a;
            shape = s;
            LockSupport.unpark(this);
        }

        void finish() {
            while (shape != null) {
                Thread.yield();
            }
        }

        @Override
        public void run() {
            kernels = KernelThread.current();
            while (true) {
                if (shape == null) {
                    LockSupport.park();
                } else {
                    runShape(shape, act);
                    shape = null;
                }
            }
        }
    }

    private static void runShape(StacksShape shape, StacksAct act) {
        act.prepare();
        try {
            shape.run(act);
        } catch (StacksAct.Unwound e) {
            // As it should be.
        } catch (Throwable t) {
            t.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    private final List<StacksAct> acts = new ArrayList<>();
    private final List<String> shapeOf = new ArrayList<>();
    private final List<String> frameLines = new ArrayList<>();
    private final Map<Object, Integer> frameNumbers = new HashMap<>();

    private static void awaitSettled(StacksAct a) {
        while (!a.isSettled()) {
            Thread.yield();
        }
        if (a.op.settled == StacksAct.Settled.SPINNING) {
            return;
        }
        if (a.thread instanceof Worker) {
            awaitAsleep(((Worker) a.thread).kernels);
            return;
        }
        try (KernelThread asleep = KernelThread.named(a.thread.getName())) {
            awaitAsleep(asleep);
        }
    }

    private static void awaitAsleep(KernelThread thread) {
        while (!thread.isAsleep()) {
            Thread.yield();
        }
    }

    private static void spinOn(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void meet(String name, StacksAct.Op[] ops, Worker one, Worker other) {
        StacksAct.Lock lock = new StacksAct.Lock();
        ReentrantLock juc = new ReentrantLock();
        StacksAct first = StacksAct.withPartner(ops[0], lock, juc);
        StacksAct second = StacksAct.withPartner(ops[1], lock, juc);
        StacksShape shape = SHAPES.get(name);

        one.give(shape, first);
        awaitSettled(first);
        second.target = first.thread;
        if (second.op.settled == StacksAct.Settled.DONE) {
            first.go = true;
        }
        other.give(shape, second);
        if (second.op.settled != StacksAct.Settled.DONE) {
            awaitSettled(second);
            if (first.op.settled == StacksAct.Settled.SPINNING) {
                spinOn(SPIN_MS);
            }
            first.release();
        }
        one.finish();
        other.finish();
        acts.add(first);
        acts.add(second);
        shapeOf.add(name);
        shapeOf.add(name);
    }

    private void round(Worker one, Worker other) {
        for (String name : NAMES) {
            for (int i = 0; i < MEETINGS.length; i++) {
                meet(name, MEETINGS[i], i % 2 == 0 ? one : other, i % 2 == 0 ? other : one);
            }
        }
    }

    private static void warmUp(int times) {
        StacksAct.Op[] ops = StacksAct.Op.values();
        for (int i = 0; i < times; i++) {
            for (String name : NAMES) {
                if (i > 0 && FRESH.contains(name)) {
                    continue;
                }
                for (StacksAct.Op op : ops) {
                    runShape(SHAPES.get(name), StacksAct.alone(op, i % WALK_EVERY == 0));
                }
            }
        }
    }

    // --- what StackWalker has seen ---

    private int frameNumber(StackFrame f) {
        List<Object> key = List.of(f.getDeclaringClass(), f.getMethodName(), f.getDescriptor(), f.getByteCodeIndex());
        Integer known = frameNumbers.get(key);
        if (known != null) {
            return known;
        }
        frameLines.add("{\"class\":\"" + f.getClassName() + "\",\"method\":\"" + f.getMethodName()
                + "\",\"signature\":\"" + f.getDescriptor() + "\",\"line\":" + f.getLineNumber()
                + ",\"bci\":" + f.getByteCodeIndex() + ",\"native\":" + f.isNativeMethod() + "}");
        frameNumbers.put(key, frameLines.size() - 1);
        return frameLines.size() - 1;
    }

    private String describe(int i) {
        StacksAct a = acts.get(i);
        StringBuilder s = new StringBuilder();
        s.append("{\"seq\":").append(i).append(",\"shape\":\"").append(shapeOf.get(i)).append("\",\"op\":\"")
                .append(a.op).append("\",\"partner\":").append(i ^ 1).append(",\"thread\":\"")
                .append(a.thread.getName()).append("\",\"begin\":").append(a.begin).append(",\"end\":").append(a.end)
                .append(",\"settled_begin\":").append(a.settledBegin).append(",\"settled_end\":")
                .append(a.settledEnd).append(",\"inner\":")
                .append(a.inner == null ? "null" : Integer.toString(frameNumber(a.inner))).append(",\"frames\":[");
        for (int n = 0; n < a.frames.size(); n++) {
            s.append(n == 0 ? "" : ",").append(frameNumber(a.frames.get(n)));
        }
        return s.append("]}").toString();
    }

    private void print(PrintStream out) {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < acts.size(); i++) {
            lines.add(describe(i));
        }
        StringBuilder all = new StringBuilder();
        for (String line : frameLines) {
            all.append(line).append('\n');
        }
        for (String line : lines) {
            all.append(line).append('\n');
        }
        out.print(all.append("done\n"));
        out.flush();
    }

    public static void main(String[] args) {
        Scanner in = new Scanner(System.in);
        Stacks stacks = new Stacks();
        int rounds = Integer.parseInt(args[2]);

        System.load(args[0]);
        Worker one = new Worker("one");
        Worker other = new Worker("other");
        warmUp(Integer.parseInt(args[1]));
        new Stacks().round(one, other); // the slow ways have never been taken before
        System.out.println("ready " + ProcessHandle.current().pid());
        in.nextLine();
        for (int i = 0; i < rounds; i++) {
            stacks.round(one, other);
        }
        stacks.print(System.out);
        while (in.hasNextLine()) {
            in.nextLine();
        }
    }
}
