import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Scenes with monitors; those with java.util.concurrent are in ExactJucScenes. */
final class ExactScenes {
    interface Scene {
        void play(ExactStage s);
    }

    static final Map<String, Scene> ALL = new TreeMap<>();

    static {
        for (int threads : new int[] {2, 3, 5, 8}) {
            ALL.put("block_" + threads, s -> turns(s, ExactLock.monitor(), threads, 1, ExactOps.Op.BLOCK));
        }
        for (int chains : new int[] {2, 4, 6}) {
            ALL.put("chains_" + chains, s -> turns(s, ExactLock.monitor(), 4, chains, ExactOps.Op.BLOCK));
        }
        ALL.put("method", s -> turns(s, ExactLock.monitor(), 3, 2, ExactOps.Op.METHOD));
        ALL.put("static", s -> turns(s, ExactLock.ofClass(), 3, 2, ExactOps.Op.STATIC));
        ALL.put("throwing", s -> turns(s, ExactLock.monitor(), 4, 3, ExactOps.Op.THROW, ExactOps.Op.THROW_DEEP,
                ExactOps.Op.METHOD_THROW, ExactOps.Op.BLOCK));
        ALL.put("recursive", s -> turns(s, ExactLock.monitor(), 3, 2, ExactOps.Op.RECURSIVE, ExactOps.Op.BLOCK));
        ALL.put("many_locks", ExactScenes::manyLocks);
        ALL.put("interrupted_in_vain", ExactScenes::interruptedInVain);
        ALL.put("storm", s -> storm(s, ExactLock.monitor(), ExactOps.Op.STORM, ExactOps.Op.BLOCK, 1, 12, 0.025));
        ALL.put("storm_short", s -> storm(s, ExactLock.monitor(), ExactOps.Op.STORM, ExactOps.Op.BLOCK, 1, 3, 0));
        ALL.put("storm_of_many", s -> storm(s, ExactLock.monitor(), ExactOps.Op.STORM, ExactOps.Op.BLOCK, 4,
                2, 0));
        ALL.put("notify", ExactScenes::notifyOne);
        ALL.put("notify_all", ExactScenes::notifyAllOfThem);
        ALL.put("wait_timeout", s -> waitEnds(s, false));
        ALL.put("wait_interrupt", s -> waitEnds(s, true));
        ALL.put("wait_releases", s -> waitReleases(s, ExactOps.Op.WAIT));
        ALL.put("wait_releases_nested", s -> waitReleases(s, ExactOps.Op.WAIT_NESTED));
        ALL.put("wait_releases_recursive", s -> waitReleases(s, ExactOps.Op.WAIT_RECURSIVE));
        ExactJucScenes.add(ALL);
    }

    private ExactScenes() {
    }

    static ExactAct act(ExactOps.Op op, int path, ExactLock lock) {
        return new ExactAct(op, ExactPaths.of(path), lock);
    }

    /**
     * One has the lock until all others are blocked on it; then they have it one after the other, for one to three
     * units each. So each of them is kept waiting by several. Twice, with others in front and on other ways.
     */
    static void turns(ExactStage s, ExactLock lock, int threads, int chains, ExactOps.Op... ops) {
        for (int round = 0; round < 2; round++) {
            ExactAct first = act(ops[round % ops.length], round, lock);
            first.shared = isShared(first.op);
            first.hold = s.untilGo();
            s.giveInside(round, first);
            for (int i = 1; i < threads; i++) {
                ExactAct next = act(ops[(i + round) % ops.length], (i + round) % chains, lock);
                next.shared = isShared(next.op);
                next.hold = s.units(1 + i % 3);
                s.giveBlocked((i + round) % threads, next);
            }
            s.pass(2);
            first.go = true;
            s.finish();
        }
    }

    static boolean isShared(ExactOps.Op op) {
        return op == ExactOps.Op.READ || op == ExactOps.Op.STAMPED_READ;
    }

    private static void manyLocks(ExactStage s) {
        List<ExactLock> locks = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            locks.add(ExactLock.monitor());
        }
        for (int i = 0; i < locks.size(); i++) {
            ExactAct holder = act(ExactOps.Op.BLOCK, i, locks.get(i));
            holder.hold = s.untilGo();
            s.giveInside(i % 2, holder);
            s.giveBlocked(2 + i % 3, act(ExactOps.Op.BLOCK, i + 1, locks.get(i)));
            s.pass(0.5);
            holder.go = true;
            s.finish();
        }
    }

    /** An interrupt changes nothing for one that is blocked on a monitor. */
    private static void interruptedInVain(ExactStage s) {
        ExactLock lock = ExactLock.monitor();
        ExactAct holder = act(ExactOps.Op.BLOCK, 0, lock);
        ExactAct blocked = act(ExactOps.Op.BLOCK, 1, lock);
        holder.hold = s.untilGo();
        s.giveInside(0, holder);
        s.giveBlocked(1, blocked);
        s.pass(1);
        s.interrupt(blocked);
        s.pass(1);
        holder.go = true;
        s.finish();
    }

    /** Some take and give back the lock over and over, while others come and want to have it. */
    static void storm(ExactStage s, ExactLock lock, ExactOps.Op storm, ExactOps.Op op, int hammers, double length,
                      double hold) {
        ExactAct hammer = null;
        for (int i = 0; i < hammers; i++) {
            hammer = act(storm, i, lock);
            hammer.stormNs = (long) (hold * s.unitNs);
            hammer.stormEnd = System.nanoTime() + (long) (length * s.unitNs);
            s.giveInside(3 + i, hammer);
        }
        for (int i = 0; i < 8 && hammer.more(); i++) {
            ExactAct a = act(op, i % 3, lock);
            a.hold = s.units(0.5);
            s.giveOrMiss(1 + i % 2, a);
            if (i % 2 == 1) {
                s.finish(1, 2);
            }
        }
        s.finish();
    }

    // --- wait and notify ---

    private static ExactAct waiter(ExactStage s, int actor, int path, ExactLock lock, double again) {
        ExactAct a = act(ExactOps.Op.WAIT, path, lock);
        a.holdAgain = s.units(again);
        s.giveInside(actor, a);
        s.awaitWaiting(a);
        return a;
    }

    /** The notified thread is blocked by the one that has notified it; another one was there before it. */
    private static void notifyOne(ExactStage s) {
        ExactLock lock = ExactLock.monitor();
        ExactAct waiter = waiter(s, 0, 1, lock, 1);
        ExactAct notifier = act(ExactOps.Op.NOTIFY, 2, lock);
        notifier.hold = s.untilGo();
        notifier.holdAgain = s.units(3);
        s.giveInside(1, notifier);
        ExactAct blocked = act(ExactOps.Op.BLOCK, 3, lock);
        blocked.hold = s.units(2);
        s.giveBlocked(2, blocked);
        s.pass(1);
        waiter.mayReturn = true;
        notifier.go = true;
        s.finish();
        s.notifiedBy(waiter, notifier);
    }

    private static void notifyAllOfThem(ExactStage s) {
        ExactLock lock = ExactLock.monitor();
        List<ExactAct> waiters = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            waiters.add(waiter(s, i, i % 3, lock, 1 + i % 2));
        }
        ExactAct notifier = act(ExactOps.Op.NOTIFY_ALL, 4, lock);
        notifier.hold = s.units(1);
        notifier.holdAgain = s.units(2);
        waiters.forEach(w -> w.mayReturn = true);
        s.give(4, notifier);
        s.finish();
        waiters.forEach(w -> s.notifiedBy(w, notifier));
    }

    /** Its time is over, or it is interrupted, while another one has the lock. */
    private static void waitEnds(ExactStage s, boolean interrupt) {
        ExactLock lock = ExactLock.monitor();
        ExactAct waiter = act(ExactOps.Op.WAIT, 1, lock);
        waiter.timeoutMs = interrupt ? 0 : 2 * s.unitMs();
        waiter.holdAgain = s.units(1);
        s.giveInside(0, waiter);
        s.awaitWaiting(waiter);
        ExactAct holder = act(ExactOps.Op.BLOCK, 0, lock);
        holder.hold = s.untilGo();
        s.giveInside(1, holder);
        if (interrupt) {
            s.interrupt(waiter);
        }
        s.awaitBlockedAgain(waiter);
        s.pass(3);
        holder.go = true;
        s.finish();
    }

    /** One that others are blocked by waits: they are let in, and then it is blocked by them. */
    private static void waitReleases(ExactStage s, ExactOps.Op op) {
        ExactLock lock = ExactLock.monitor();
        ExactAct waiter = act(op, 2, lock);
        ExactAct blocked = act(ExactOps.Op.NOTIFY, 1, lock);
        waiter.hold = s.untilGo();
        waiter.holdAgain = s.units(2);
        s.giveInside(0, waiter);
        blocked.hold = s.untilGo();
        blocked.holdAgain = s.units(3);
        s.giveBlocked(1, blocked);
        s.pass(2);
        waiter.go = true;
        s.awaitWaiting(waiter);
        waiter.mayReturn = true;
        ExactAct late = act(ExactOps.Op.BLOCK, 3, lock);
        late.hold = s.units(1);
        s.giveBlocked(2, late);
        s.pass(1);
        blocked.go = true;
        s.finish();
        s.notifiedBy(waiter, blocked);
    }
}
