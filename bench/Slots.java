import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * What the programs of the side-by-side measurement have in common. They work in slots, so that a
 * recorder can come and go between two slots of one JVM while nothing happens: after a warm-up slot
 * the program prints "ready", and then runs one slot for each line that it reads, and prints what was
 * done in it as one JSON object, with the context switches and the CPU time meanwhile. The workers of
 * a slot are new threads.
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

	/* Switches that the live threads of this process have asked for, and others, until now. */
	private static long[] switches() throws IOException {
		long[] sum = new long[2];
		try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
			for (Path task : tasks)
				addSwitches(task.resolve("status"), sum);
		}
		return sum;
	}

	private static void addSwitches(Path status, long[] sum) throws IOException {
		try {
			for (String line : Files.readAllLines(status)) {
				String[] words = line.split("\\s+");
				if (words[0].equals("voluntary_ctxt_switches:"))
					sum[0] += Long.parseLong(words[1]);
				else if (words[0].equals("nonvoluntary_ctxt_switches:"))
					sum[1] += Long.parseLong(words[1]);
			}
		} catch (NoSuchFileException e) {
			return; /* the thread has ended meanwhile */
		}
	}

	private static long cpuNs() {
		return ((com.sun.management.OperatingSystemMXBean)
			ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
	}

	private String slot(double settle, double seconds) throws InterruptedException, IOException {
		List<Thread> threads = new ArrayList<>();
		stopped = false;
		begin();
		for (int i = 0; i < workers; i++) {
			int worker = i;
			threads.add(new Thread(() -> workOrDie(worker), "worker-" + worker));
		}
		threads.forEach(Thread::start);
		TimeUnit.NANOSECONDS.sleep((long) (settle * 1e9));
		long[] switchedBefore = switches();
		long cpuBefore = cpuNs();
		long startNs = System.nanoTime();
		long start = total();
		TimeUnit.NANOSECONDS.sleep((long) (seconds * 1e9));
		long work = total() - start;
		long ns = System.nanoTime() - startNs;
		long cpu = cpuNs() - cpuBefore;
		long[] switched = switches();
		stopped = true;
		for (Thread thread : threads)
			thread.join();
		end();
		return String.format("{\"work\": %d, \"ns\": %d, \"cpu_ns\": %d, \"voluntary\": %d, \"involuntary\": %d,"
			+ " \"contentions\": %d}", work, ns, cpu, switched[0] - switchedBefore[0],
			switched[1] - switchedBefore[1], contentions());
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
