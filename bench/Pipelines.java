import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Pipelines over small bounded queues: in each, one thread makes numbers, one changes them, one adds
 * them up. A queue holds four, so that its threads park over and over, a little work apart.
 */
final class Pipelines extends Slots {
	private static final int PIPELINES = 3;
	private static final int STAGES = 3;
	private static final int QUEUE = 4;
	private static final long PATIENCE_MS = 20;

	private BlockingQueue<Integer>[][] queues;

	Pipelines() {
		super(PIPELINES * STAGES);
	}

	@Override
	@SuppressWarnings("unchecked")
	void begin() {
		queues = new BlockingQueue[PIPELINES][STAGES - 1];
		for (BlockingQueue<Integer>[] pipeline : queues)
			for (int i = 0; i < pipeline.length; i++)
				pipeline[i] = new ArrayBlockingQueue<>(QUEUE);
	}

	private static int compute(int value) {
		for (int i = 0; i < 200; i++)
			value = value * 1_103_515_245 + 12_345;
		return value;
	}

	/* Waits at most so long, so that all stages end when one does. */
	private void put(BlockingQueue<Integer> queue, int value) throws InterruptedException {
		while (!queue.offer(value, PATIENCE_MS, TimeUnit.MILLISECONDS) && !stopped)
			;
	}

	@Override
	void work(int worker) throws Exception {
		BlockingQueue<Integer>[] pipeline = queues[worker / STAGES];
		int stage = worker % STAGES;
		int sum = 0;

		while (!stopped) {
			Integer value = stage == 0 ? Integer.valueOf(sum + 1) :
				pipeline[stage - 1].poll(PATIENCE_MS, TimeUnit.MILLISECONDS);
			if (value == null)
				continue;
			sum = compute(value);
			if (stage < STAGES - 1)
				put(pipeline[stage], sum);
			else
				count(worker, 1);
		}
	}

	public static void main(String[] args) throws Exception {
		new Pipelines().run(args);
	}
}
