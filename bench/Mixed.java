import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A service in small: two clients hand batches of tasks to a pool of three threads and wait for them.
 * A task computes, allocates, counts words in a map behind a ReentrantLock, and now and then writes a
 * longer entry into a journal behind a monitor.
 */
final class Mixed extends Slots {
	private static final int CLIENTS = 2;
	private static final int POOL = 3;
	private static final int BATCH = 16;
	private static final int JOURNAL_EVERY = 8;
	private static final int JOURNAL_LINES = 3_000;

	private final ReentrantLock wordsLock = new ReentrantLock();
	private final Map<String, Integer> words = new HashMap<>();
	private final StringBuilder journal = new StringBuilder();
	private ExecutorService pool;

	Mixed() {
		super(CLIENTS);
	}

	@Override
	void begin() {
		pool = Executors.newFixedThreadPool(POOL);
	}

	@Override
	void end() {
		pool.shutdown();
	}

	private void write(int task) {
		synchronized (journal) {
			journal.setLength(0);
			for (int line = 0; line < JOURNAL_LINES; line++)
				journal.append(task).append(' ').append(line).append('\n');
		}
	}

	private int task(int task) {
		int sum = task;
		List<String> mine = new ArrayList<>();
		for (int i = 0; i < 40; i++) {
			for (int j = 0; j < 200; j++)
				sum = sum * 31 + j;
			mine.add("word" + (sum >>> 23));
		}
		wordsLock.lock();
		try {
			for (String word : mine)
				words.merge(word, 1, Integer::sum);
		} finally {
			wordsLock.unlock();
		}
		if (task % JOURNAL_EVERY == 0)
			write(task);
		return sum;
	}

	@Override
	void work(int client) throws Exception {
		List<Future<Integer>> batch = new ArrayList<>();
		for (int next = 0; !stopped; next += BATCH) {
			batch.clear();
			for (int i = 0; i < BATCH; i++) {
				int task = next + i;
				batch.add(pool.submit(() -> task(task)));
			}
			for (Future<Integer> result : batch)
				result.get();
			count(client, BATCH);
		}
	}

	public static void main(String[] args) throws Exception {
		new Mixed().run(args);
	}
}
