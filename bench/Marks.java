import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

import spoor.Mark;

/**
 * What a mark costs. Arguments: rounds, ms of each. Prints for each round whether it was recorded ("on",
 * "off", "part"), and the ns of CPU time of an empty turn, of begin and end, and of a span in try.
 */
public final class Marks {
	private static final int TURNS = 1000;

	private static final ThreadMXBean threads = ManagementFactory.getThreadMXBean();

	private static int sink;

	private Marks() {
	}

	private static double nsOf(Runnable turns, long ms) {
		long begin = System.nanoTime(), ran = threads.getCurrentThreadCpuTime(), count = 0;

		do {
			turns.run();
			count += TURNS;
		} while (System.nanoTime() - begin < ms * 1_000_000);
		return (double) (threads.getCurrentThreadCpuTime() - ran) / count;
	}

	private static void empty() {
		for (int i = 0; i < TURNS; i++) {
			sink = 31 * sink + i;
		}
	}

	private static void pairs() {
		for (int i = 0; i < TURNS; i++) {
			Mark.begin("GET /cart");
			sink = 31 * sink + i;
			Mark.end();
		}
	}

	private static void spans() {
		for (int i = 0; i < TURNS; i++) {
			try (Mark.Span span = Mark.span("GET /cart")) {
				sink = 31 * sink + i;
			}
		}
	}

	public static void main(String[] args) {
		int rounds = Integer.parseInt(args[0]);
		long ms = Long.parseLong(args[1]) / 3;

		for (int i = 0; i < rounds; i++) {
			boolean before = Mark.isRecorded();
			double empty = nsOf(Marks::empty, ms), pair = nsOf(Marks::pairs, ms), span = nsOf(Marks::spans, ms);
			boolean after = Mark.isRecorded();

			System.out.printf("%s %.2f %.2f %.2f%n", before != after ? "part" : before ? "on" : "off", empty, pair,
					span);
		}
	}
}
