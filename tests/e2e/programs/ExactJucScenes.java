import java.util.Map;

/** Scenes with what java.util.concurrent has. */
final class ExactJucScenes {
    private ExactJucScenes() {
    }

    static void add(Map<String, ExactScenes.Scene> all) {
        for (boolean fair : new boolean[] {false, true}) {
            String how = fair ? "_fair" : "";
            all.put("reentrant" + how, s -> ExactScenes.turns(s, ExactLock.reentrant(fair), 4, 3, ExactOps.Op.LOCK));
            all.put("semaphore" + how, s -> ExactScenes.turns(s, ExactLock.semaphore(fair), 3, 2,
                    ExactOps.Op.SEMAPHORE));
            all.put("write" + how, s -> ExactScenes.turns(s, ExactLock.readWrite(fair), 4, 3, ExactOps.Op.LOCK));
            all.put("write_read" + how, s -> writeRead(s, fair));
            all.put("read_write" + how, s -> readWrite(s, fair));
        }
        all.put("reentrant_throwing", s -> ExactScenes.turns(s, ExactLock.reentrant(false), 3, 2,
                ExactOps.Op.LOCK_THROW));
        all.put("reentrant_twice", s -> ExactScenes.turns(s, ExactLock.reentrant(false), 3, 2,
                ExactOps.Op.LOCK_TWICE));
        all.put("reentrant_many", s -> ExactScenes.turns(s, ExactLock.reentrant(false), 8, 4, ExactOps.Op.LOCK));
        all.put("downgrade", s -> ExactScenes.turns(s, ExactLock.readWrite(false), 3, 2, ExactOps.Op.DOWNGRADE,
                ExactOps.Op.LOCK));
        all.put("stamped", s -> ExactScenes.turns(s, ExactLock.stamped(), 4, 3, ExactOps.Op.STAMPED_WRITE));
        all.put("stamped_read", s -> ExactScenes.turns(s, ExactLock.stamped(), 2, 2, ExactOps.Op.STAMPED_WRITE,
                ExactOps.Op.STAMPED_READ));
        all.put("try_timeout", s -> givesUp(s, false));
        all.put("interruptibly", s -> givesUp(s, true));
        all.put("storm_lock", s -> ExactScenes.storm(s, ExactLock.reentrant(false), ExactOps.Op.STORM_LOCK,
                ExactOps.Op.LOCK, 1, 12, 0.4));
        all.put("readers", ExactJucScenes::readers);
        all.put("permit_before", ExactJucScenes::permitBefore);
        all.put("latch", ExactJucScenes::latch);
        all.put("condition", s -> condition(s, false, false));
        all.put("condition_all", s -> condition(s, true, false));
        all.put("condition_behind", s -> condition(s, true, true));
        all.put("park", ExactJucScenes::park);
    }

    private static void writeRead(ExactStage s, boolean fair) {
        ExactScenes.turns(s, ExactLock.readWrite(fair), 2, 2, ExactOps.Op.LOCK, ExactOps.Op.READ);
    }

    /** One reader, and writers behind it: there is never more than one that has it. */
    private static void readWrite(ExactStage s, boolean fair) {
        ExactLock lock = ExactLock.readWrite(fair);
        ExactAct reader = ExactScenes.act(ExactOps.Op.READ, 1, lock);
        reader.shared = true;
        reader.hold = s.untilGo();
        s.giveInside(0, reader);
        for (int i = 1; i < 4; i++) {
            ExactAct writer = ExactScenes.act(ExactOps.Op.LOCK, i, lock);
            writer.hold = s.units(i);
            s.giveBlocked(i, writer);
        }
        s.pass(2);
        reader.go = true;
        s.finish();
    }

    /** Two readers keep a writer waiting: which of them it is charged to is not said. */
    private static void readers(ExactStage s) {
        ExactLock lock = ExactLock.readWrite(false);
        ExactAct[] readers = new ExactAct[2];
        for (int i = 0; i < 2; i++) {
            readers[i] = ExactScenes.act(ExactOps.Op.READ, i, lock);
            readers[i].shared = true;
            readers[i].hold = s.untilGo();
            s.giveInside(i, readers[i]);
        }
        ExactAct writer = ExactScenes.act(ExactOps.Op.LOCK, 2, lock);
        writer.hold = s.units(1);
        s.giveBlocked(2, writer);
        s.pass(2);
        readers[0].go = true;
        s.pass(3);
        readers[1].go = true;
        s.finish();
    }

    /** Two wait for the lock with a timeout, or until they are interrupted; a third one gets it. */
    private static void givesUp(ExactStage s, boolean interrupt) {
        ExactLock lock = ExactLock.reentrant(false);
        ExactAct holder = ExactScenes.act(ExactOps.Op.LOCK, 0, lock);
        ExactAct[] waiters = new ExactAct[3];
        holder.hold = s.untilGo();
        s.giveInside(0, holder);
        for (int i = 0; i < waiters.length; i++) {
            waiters[i] = ExactScenes.act(interrupt ? ExactOps.Op.INTERRUPTIBLY : ExactOps.Op.TRY, 1 + i, lock);
            waiters[i].timeoutMs = interrupt ? 0 : (2 + i) * s.unitMs();
            if (i == 2) {
                waiters[i].timeoutMs *= 10;
            }
            s.giveBlocked(1 + i, waiters[i]);
        }
        s.pass(2);
        if (interrupt) {
            s.interrupt(waiters[0]);
            s.interrupt(waiters[1]);
        }
        s.pass(4);
        holder.go = true;
        s.finish();
    }

    /** Its first park ends at once. */
    private static void permitBefore(ExactStage s) {
        ExactLock lock = ExactLock.reentrant(false);
        ExactAct holder = ExactScenes.act(ExactOps.Op.LOCK, 0, lock);
        ExactAct blocked = ExactScenes.act(ExactOps.Op.LOCK, 1, lock);
        holder.hold = s.untilGo();
        s.giveInside(0, holder);
        s.unpark(1);
        s.giveBlocked(1, blocked);
        s.pass(2);
        holder.go = true;
        s.finish();
    }

    private static void latch(ExactStage s) {
        ExactLock latch = ExactLock.latch(2);
        for (int i = 0; i < 3; i++) {
            s.giveBlocked(i, ExactScenes.act(ExactOps.Op.LATCH_AWAIT, i, latch));
        }
        for (int i = 0; i < 2; i++) {
            ExactAct down = ExactScenes.act(ExactOps.Op.LATCH_DOWN, 2 + i, latch);
            down.hold = s.units(2);
            s.give(3 + i, down);
            s.finish(3, 4);
        }
        s.finish();
    }

    /**
     * Those that await are signalled, and go for the lock again; somebody else is blocked on it before that, or behind
     * them: then he is the only one of whom it is known which lock it is, when they all have handed it on.
     */
    private static void condition(ExactStage s, boolean all, boolean behind) {
        ExactLock lock = ExactLock.reentrant(false);
        ExactLock condition = ExactLock.condition(lock);
        int count = all ? 3 : 1;
        ExactAct[] waiters = new ExactAct[count];
        for (int i = 0; i < count; i++) {
            waiters[i] = ExactScenes.act(ExactOps.Op.AWAIT, i, lock);
            waiters[i].condition = condition;
            waiters[i].hold = s.units(1);
            waiters[i].holdAgain = s.units(1 + i);
            s.giveInside(i, waiters[i]);
            s.awaitWaiting(waiters[i]);
            s.awaitBlocked(waiters[i], 1);
        }
        ExactAct signal = ExactScenes.act(all ? ExactOps.Op.SIGNAL_ALL : ExactOps.Op.SIGNAL, 4, lock);
        signal.condition = condition;
        signal.hold = s.units(1);
        signal.holdAgain = s.units(behind ? 4 : 2);
        for (ExactAct w : waiters) {
            w.mayReturn = true;
        }
        s.giveInside(4, signal);
        if (behind) {
            s.pass(2);
        }
        ExactAct blocked = ExactScenes.act(ExactOps.Op.LOCK, 5, lock);
        blocked.hold = s.units(1);
        s.giveBlocked(5, blocked);
        s.finish();
    }

    private static void park(ExactStage s) {
        ExactAct parked = ExactScenes.act(ExactOps.Op.PARK, 1, ExactLock.unknown());
        s.giveBlocked(0, parked);
        s.pass(2);
        parked.go = true;
        s.unpark(0);
        s.finish();
    }
}
