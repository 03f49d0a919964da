/**
 * Two threads take turns in one monitor so that every section is contended: the one inside leaves only
 * when the other's state is BLOCKED, which HotSpot sets after its first spinning has failed and right
 * before the contended-enter event, and does not come again before the other was inside. The first
 * section of a slot alone is free.
 *
 * A fourth argument is how many calls below work() the section is; by turns they take several ways.
 */
final class Alternate extends Slots {
	private static final int SPINS = 4_096;
	private static final int WAYS = 8;

	private final int depth;

	private final Object lock = new Object();
	private final Thread[] threads = new Thread[2];
	private final long[] sections = new long[2];
	private volatile int inside;
	private volatile int arrived;

	Alternate(int depth) {
		super(2);
		this.depth = depth;
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
		for (int way = 0; awaitTurn(me); way = (way + 1) % WAYS)
			even(me, depth, way);
	}

	private void even(int me, int left, int way) {
		if (left == 0)
			section(me, threads[1 - me]);
		else if ((way & 1) == 0)
			even(me, left - 1, way >> 1);
		else
			odd(me, left - 1, way >> 1);
	}

	private void odd(int me, int left, int way) {
		if (left == 0)
			section(me, threads[1 - me]);
		else if ((way & 1) == 0)
			even(me, left - 1, way >> 1);
		else
			odd(me, left - 1, way >> 1);
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
		new Alternate(args.length > 3 ? Integer.parseInt(args[3]) : 0).run(args);
	}
}
