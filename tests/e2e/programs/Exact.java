import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.locks.LockSupport;

/**
 * Plays scenes in which threads block each other in a way that is known, and tells with its own stamps who had which
 * lock when, by which call chain, and who was blocked. Arguments: how often each op runs alone on each path before.
 *
 * Says that it is ready; then for each line of stdin, a scene's name and the microseconds of its unit of time, plays it
 * and prints one line of JSON: locks; chains (lists of frames, innermost first); holds (lock, thread, chain, shared, two
 * times between which the lock was acquired, two between which it was released); and blocks (lock, thread, chain,
 * shared, two times between which it was blocked first, two for last, and the hold that it has led to). Times are those
 * of nanoTime; 0: not known. "scenes" prints their names.
 */
public final class Exact {
    private static final int ACTORS = 8;

    private Exact() {
    }

    /** Each op alone, so that it is compiled: nobody is blocked. */
    private static void warmUp(ExactActor actor, int times) {
        for (int i = 0; i < times; i++) {
            for (ExactOps.Op op : ExactOps.Op.values()) {
                for (ExactPaths.Path path : ExactPaths.ALL) {
                    ExactLock lock = ExactLock.of(op);
                    ExactAct a = new ExactAct(op, path, lock);
                    a.timeoutMs = 1;
                    a.go = true;
                    a.stormEnd = System.nanoTime() + 20_000;
                    if (op == ExactOps.Op.AWAIT || op == ExactOps.Op.SIGNAL || op == ExactOps.Op.SIGNAL_ALL) {
                        a.condition = ExactLock.condition(lock);
                    }
                    if (op == ExactOps.Op.LATCH_AWAIT) {
                        lock.latch.countDown();
                    }
                    if (op == ExactOps.Op.PARK) {
                        LockSupport.unpark(actor);
                    }
                    actor.give(a);
                    while (!actor.isIdle()) {
                        Thread.yield();
                    }
                }
            }
        }
    }

    public static void main(String[] args) {
        List<ExactActor> actors = new ArrayList<>();
        Scanner in = new Scanner(System.in);

        for (int i = 0; i < ACTORS; i++) {
            actors.add(new ExactActor("actor-" + i));
        }
        warmUp(actors.get(0), Integer.parseInt(args[0]));
        ExactScenes.ALL.get("block_3").play(new ExactStage(actors, 1_000_000)); // the slow ways, too
        ExactScenes.ALL.get("reentrant").play(new ExactStage(actors, 1_000_000));
        ExactScenes.ALL.get("notify").play(new ExactStage(actors, 1_000_000));
        System.out.println("ready " + ProcessHandle.current().pid());
        while (in.hasNextLine()) {
            String[] words = in.nextLine().split(" ");
            if (words[0].equals("scenes")) {
                System.out.println(String.join(" ", ExactScenes.ALL.keySet()));
                continue;
            }
            ExactStage stage = new ExactStage(actors, Long.parseLong(words[1]) * 1000);
            ExactScenes.ALL.get(words[0]).play(stage);
            System.out.println(stage.tell());
        }
    }
}
