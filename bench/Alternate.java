/**
 * Two threads take turns in one monitor so that every section is contended: the one inside leaves only
 * when the other's state is BLOCKED, which HotSpot sets after its first spinning has failed and right
 * before the contended-enter event, and does not come again before the other was inside. The first
 * section of a slot alone is free.
 */
final class Alternate extends Slots {
	private static final int SPINS = 4_096;

	private final Object lock = new Object();
	private final Thread[] threads = new Thread[2];
	private final long[] sections = new long[2];
	private volatile int inside;
	private volatile int arrived;

	Alternate() {
		super(2);
	}

	@Override
	void begin() {
		inside = -1;
		arrived = 0;
		sections[0] = 0;
		sections[1] = 0;
	}

	private synchronized void arrive(int me) {
		threads[me] = Thread.currentThread();
		arrived++;
	}

	@Override
	void work(int me) {
		arrive(me);
		while (arrived < 2)
			Thread.onSpinWait();
		while (awaitTurn(me))
			section(me, threads[1 - me]);
	}

	/* Others need the processors too: who has waited for long lets them. */
	private static void relax(int spins) {
		if (spins % SPINS == 0)
			Thread.yield();
		else
			Thread.onSpinWait();
	}

	private boolean awaitTurn(int me) {
		for (int spins = 1; inside == me; spins++) {
			if (stopped)
				return false;
			relax(spins);
		}
		return true;
	}

	private void section(int me, Thread other) {
		synchronized (lock) {
			inside = me;
			sections[me]++;
			count(me, 1);
			for (int spins = 1; !gone(other.getState()); spins++)
				relax(spins);
		}
	}

	/* At the end of a slot one of the two comes no more. */
	private static boolean gone(Thread.State state) {
		return state == Thread.State.BLOCKED || state == Thread.State.TERMINATED;
	}

	@Override
	long contentions() {
		return sections[0] + sections[1] - 1;
	}

	public static void main(String[] args) throws Exception {
		new Alternate().run(args);
	}
}
