import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A leak, a cache that fills and stays, and churn, of sizes that are known. A line on standard input begins it. */
public class Growth {
	static final class Order {
		long a, b, c;
	}

	static final class Page {
		final byte[] bytes = new byte[1000];
	}

	static final class Request {
		final int[] numbers = new int[20];
	}

	static final List<Order> audit = new ArrayList<>();
	static final Map<Integer, Page> cache = new HashMap<>();
	static volatile Request last;

	static void leak(int count) {
		for (int i = 0; i < count; i++)
			audit.add(new Order());
	}

	static void look(int page) {
		cache.computeIfAbsent(page, p -> new Page());
	}

	static void serve(int count) {
		for (int i = 0; i < count; i++)
			last = new Request();
	}

	/** Rounds; each has a collection at its end, and then a pause. They are made anew for each line "go". */
	public static void main(String[] args) throws Exception {
		int rounds = Integer.parseInt(args[0]), leaked = Integer.parseInt(args[1]);
		int pauseMs = args.length > 2 ? Integer.parseInt(args[2]) : 0;

		System.out.println("ready " + ProcessHandle.current().pid());
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		in.readLine();
		do {
			for (int round = 0; round < rounds; round++) {
				leak(leaked);
				for (int page = 0; page < 500; page++)
					look(page);
				serve(50 * leaked);
				System.gc();
				Thread.sleep(pauseMs);
			}
			System.out.println("done");
		} while ("go".equals(in.readLine()));
	}
}
