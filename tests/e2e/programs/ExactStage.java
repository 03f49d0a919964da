import java.lang.StackWalker.StackFrame;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/** Where a scene is played: says who does what and when, sees when threads are blocked, and tells what was done. */
final class ExactStage {
    final long unitNs;
    private final List<ExactActor> actors;
    private final List<ExactAct> acts = new ArrayList<>();
    private final Map<ExactAct, ExactActor> actorOf = new HashMap<>();
    private final List<ExactAct> interrupted = new ArrayList<>();
    private boolean missed; // somebody was fast enough not to be blocked

    ExactStage(List<ExactActor> actors, long unitNs) {
        this.actors = actors;
        this.unitNs = unitNs;
    }

    long unitMs() {
        return unitNs / 1_000_000;
    }

    /** So many units long; the odd ones compute, the others sleep. */
    ExactHold units(double n) {
        return ExactHold.of((long) (n * unitNs), acts.size() % 2 == 1);
    }

    ExactHold untilGo() {
        return ExactHold.untilGo(acts.size() % 2 == 1);
    }

    // --- how a scene goes on ---

    ExactAct give(int actor, ExactAct a) {
        acts.add(a);
        actorOf.put(a, actors.get(actor));
        actors.get(actor).give(a);
        return a;
    }

    ExactAct giveInside(int actor, ExactAct a) {
        give(actor, a);
        while (a.held == null && !actors.get(actor).isIdle()) {
            Thread.yield();
        }
        missed |= a.held == null;
        return a;
    }

    /** Until it is blocked. */
    ExactAct giveBlocked(int actor, ExactAct a) {
        give(actor, a);
        awaitBlocked(a, 0);
        return a;
    }

    /** Until it is blocked; or it was fast enough not to be, as may be. */
    void giveOrMiss(int actor, ExactAct a) {
        boolean was = missed;
        giveBlocked(actor, a);
        missed = was;
    }

    /** The block with this number. */
    void awaitBlocked(ExactAct a, int number) {
        ExactActor actor = actorOf.get(a);
        while (!actor.isIdle()) {
            ExactAct.Block b = a.block;
            if (b != null && a.blockCount > number && isBlocked(actor, b)) {
                b.beginHigh = System.nanoTime();
                return;
            }
            Thread.yield();
        }
        missed = true;
    }

    private static boolean isBlocked(ExactActor actor, ExactAct.Block b) {
        if (b.beginLow == 0 || b.endHigh != 0 || actor.getState() == Thread.State.RUNNABLE) {
            return false;
        }
        return actor.isAsleep() && b.endHigh == 0;
    }

    /** Until it is in wait(), and has released the lock. */
    void awaitWaiting(ExactAct a) {
        ExactActor actor = actorOf.get(a);
        while (!a.isWaiting && !actor.isIdle()) {
            Thread.yield();
        }
        while (a.isWaiting && (actor.getState() == Thread.State.RUNNABLE || !actor.isAsleep())) {
            Thread.yield();
        }
        a.holds.get(0).releasedHigh = System.nanoTime();
    }

    /** It is not waiting any more, but blocked. */
    void awaitBlockedAgain(ExactAct a) {
        ExactActor actor = actorOf.get(a);
        while (a.isWaiting) {
            if (actor.getState() == Thread.State.BLOCKED && actor.isAsleep() && a.isWaiting) {
                a.block.beginHigh = System.nanoTime();
                return;
            }
            Thread.yield();
        }
        missed = true;
    }

    /** An interrupt leaves a permit behind, which would end the next park: finish() takes it away. */
    void interrupt(ExactAct a) {
        interrupted.add(a);
        a.interruptedLow = System.nanoTime();
        actorOf.get(a).interrupt();
    }

    void unpark(int actor) {
        LockSupport.unpark(actors.get(actor));
    }

    /** Only behind finish: it was blocked since then. */
    void notifiedBy(ExactAct waiter, ExactAct notifier) {
        waiter.block.beginLow = notifier.notifyLow;
        waiter.block.beginHigh = notifier.notifyHigh;
    }

    void pass(double units) {
        long end = System.nanoTime() + (long) (units * unitNs);
        while (System.nanoTime() < end) {
            ExactHold.pause();
        }
    }

    void finish(int... some) {
        for (int actor : some) {
            while (!actors.get(actor).isIdle()) {
                ExactHold.pause();
            }
        }
    }

    void finish() {
        awaitAll();
        for (ExactAct a : interrupted) {
            actorOf.get(a).give(new ExactAct(ExactOps.Op.CLEAR, ExactPaths.of(0), a.lock));
        }
        interrupted.clear();
        awaitAll();
    }

    private void awaitAll() {
        for (ExactAct a : acts) {
            while (!actorOf.get(a).isIdle()) {
                ExactHold.pause();
            }
        }
    }

    // --- what has become of it ---

    private static final class Told {
        final Map<ExactLock, Integer> locks = new LinkedHashMap<>();
        final Map<List<String>, Integer> chains = new LinkedHashMap<>();
        final Map<List<StackFrame>, Integer> numbers = new IdentityHashMap<>(); // a storm has one a million times
        final Map<ExactAct.Hold, Integer> holds = new HashMap<>();

        int lock(ExactLock l) {
            return locks.computeIfAbsent(l, k -> locks.size());
        }

        int chain(List<StackFrame> frames) {
            return numbers.computeIfAbsent(frames, this::newChain);
        }

        private int newChain(List<StackFrame> frames) {
            List<String> chain = new ArrayList<>();
            for (StackFrame f : frames) {
                chain.add("[\"" + f.getClassName() + "\",\"" + f.getMethodName() + "\"," + f.getLineNumber() + "]");
            }
            return chains.computeIfAbsent(chain, k -> chains.size());
        }

        String hold(ExactAct.Hold h) {
            holds.put(h, holds.size());
            return "[" + lock(h.lock) + ",\"" + h.thread.getName() + "\"," + chain(h.frames) + "," + h.shared + ","
                    + h.acquiredLow + "," + h.acquiredHigh + "," + h.releasedLow + "," + h.releasedHigh + "]";
        }

        String block(ExactAct.Block b) {
            return "[" + lock(b.lock) + ",\"" + b.thread.getName() + "\"," + chain(b.frames) + "," + b.shared + ","
                    + b.beginLow + "," + b.beginHigh + "," + b.endLow + "," + b.endHigh + ","
                    + (b.until == null ? -1 : holds.get(b.until)) + "]";
        }
    }

    String tell() {
        Told told = new Told();
        List<String> holds = new ArrayList<>();
        List<String> blocks = new ArrayList<>();
        List<String> locks = new ArrayList<>();
        for (ExactAct a : acts) {
            a.holds.forEach(h -> holds.add(told.hold(h)));
        }
        for (ExactAct a : acts) {
            a.blocks.stream().filter(b -> b.endHigh != 0).forEach(b -> blocks.add(told.block(b)));
        }
        told.locks.forEach((l, n) -> locks.add(String.format("{\"hash\":%d,\"family\":\"%s\"}", l.hash(),
                l.family.name().toLowerCase())));
        List<String> chains = new ArrayList<>();
        told.chains.forEach((chain, n) -> chains.add("[" + String.join(",", chain) + "]"));
        return "{\"missed\":" + missed + ",\"locks\":[" + String.join(",", locks) + "],\"chains\":[" + String.join(",", chains)
                + "],\"holds\":[" + String.join(",", holds) + "],\"blocks\":[" + String.join(",", blocks) + "]}";
    }
}
