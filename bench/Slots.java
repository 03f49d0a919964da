import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * What the programs of the side-by-side measurement have in common. They work in slots, so that a
 * recorder can come and go between two slots of one JVM while nothing happens: after a warm-up slot
 * the program prints "ready", and then runs one slot for each line that it reads, and prints what was
 * done in it as one JSON object. The workers of a slot are new threads.
 *
 * Arguments: seconds of warm-up, seconds to settle at the begin of a slot, seconds measured.
 */
abstract class Slots {
	/* A cache line and its neighbour, so that the workers do not share counters. */
	private static final int STRIDE = 16;

	private final int workers;
	private final AtomicLongArray done;
	volatile boolean stopped;

	Slots(int workers) {
		this.workers = workers;
		this.done = new AtomicLongArray((workers + 2) * STRIDE);
	}

	/** Works until stopped; worker counts from 0. */
	abstract void work(int worker) throws Exception;

	/** Sections that were contended since the slot began; negative: the program cannot tell. */
	long contentions() {
		return -1;
	}

	void begin() {
	}

	void end() throws InterruptedException {
	}

	final void count(int worker, long n) {
		int at = (worker + 1) * STRIDE;
		done.lazySet(at, done.getPlain(at) + n);
	}

	private long total() {
		long sum = 0;
		for (int worker = 0; worker < workers; worker++)
			sum += done.get((worker + 1) * STRIDE);
		return sum;
	}

	private void workOrDie(int worker) {
		try {
			work(worker);
		} catch (Exception e) {
			e.printStackTrace();
			Runtime.getRuntime().halt(1);
		}
	}

	private String slot(double settle, double seconds) throws InterruptedException {
		List<Thread> threads = new ArrayList<>();
		stopped = false;
		begin();
		for (int i = 0; i < workers; i++) {
			int worker = i;
			threads.add(new Thread(() -> workOrDie(worker), "worker-" + worker));
		}
		threads.forEach(Thread::start);
		TimeUnit.NANOSECONDS.sleep((long) (settle * 1e9));
		long startNs = System.nanoTime();
		long start = total();
		TimeUnit.NANOSECONDS.sleep((long) (seconds * 1e9));
		long work = total() - start;
		long ns = System.nanoTime() - startNs;
		stopped = true;
		for (Thread thread : threads)
			thread.join();
		end();
		return String.format("{\"work\": %d, \"ns\": %d, \"contentions\": %d}", work, ns, contentions());
	}

	final void run(String[] args) throws InterruptedException, IOException {
		double warmUp = Double.parseDouble(args[0]);
		double settle = Double.parseDouble(args[1]);
		double seconds = Double.parseDouble(args[2]);
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		slot(0, warmUp);
		System.out.println("ready");
		while (in.readLine() != null)
			System.out.println(slot(settle, seconds));
	}
}
