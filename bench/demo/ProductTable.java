import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A table of products behind one lock, its own monitor. Customers look products up by number, which
 * is one hash look-up; one request in a hundred searches by name, which walks the whole table with the
 * lock held, and is handed to the catalogue's threads. A profiler that shows who waits points at the
 * cheap look-up; only who holds the lock meanwhile shows the cause. (The example of Hofer's thesis on
 * profiling inside the Java VM, 4.3.3.)
 *
 * Usage: ProductTable [SECONDS [reentrant]]. Prints one line when all threads run, and its own measurements
 * at the end, or when it is told to terminate. reentrant: the lock is a ReentrantLock, as in the thesis's
 * Figure 4.9, and the table a ReentrantTable.
 */
public class ProductTable {
	private static final int PRODUCTS = 150_000;
	private static final int BY_NUMBER_THREADS = 3;
	private static final int BY_NAME_THREADS = 1;
	private static final int REQUESTS_PER_SEARCH = 100;
	private static final int MONTHS_DESCRIBED = 24;
	private static final double NS_PER_S = 1e9;
	private static final double NS_PER_MS = 1e6;
	private static final double NS_PER_US = 1e3;

	private static volatile boolean stopped;

	final Map<Integer, Product> products = new HashMap<>();
	private final BlockingQueue<String> searches = new LinkedBlockingQueue<>();

	static final class Product {
		final int number;
		final String name;
		final int cents;

		Product(int number, String name, int cents) {
			this.number = number;
			this.name = name;
			this.cents = cents;
		}
	}

	/** What one thread did; read by others only after the thread has ended. */
	static final class Tally {
		long lookUps;
		long waitNs;
		long maxWaitNs;
		long holdNs;
		long revenue;

		void add(Tally other) {
			lookUps += other.lookUps;
			waitNs += other.waitNs;
			maxWaitNs = Math.max(maxWaitNs, other.maxWaitNs);
			holdNs += other.holdNs;
			revenue += other.revenue;
		}

		void count(long asked, long locked, long released) {
			lookUps++;
			waitNs += locked - asked;
			maxWaitNs = Math.max(maxWaitNs, locked - asked);
			holdNs += released - locked;
		}
	}

	abstract static class Client extends Thread {
		final Tally tally = new Tally();

		Client(String name) {
			super(name);
			setDaemon(true);
		}
	}

	final class Customer extends Client {
		private int seed;

		Customer(int index) {
			super("by-number-" + index);
			seed = index;
		}

		@Override
		public void run() {
			for (int i = 1; !stopped; i++) {
				seed = seed * 1_103_515_245 + 12_345;
				int number = (seed >>> 8) % PRODUCTS;
				if (i % REQUESTS_PER_SEARCH == 0)
					searches.add(nameOf(number));
				else
					tally.revenue += price(lookUpByNumber(number, tally));
			}
		}
	}

	final class Catalogue extends Client {
		Catalogue(int index) {
			super("by-name-" + index);
		}

		@Override
		public void run() {
			try {
				while (!stopped)
					tally.revenue += describe(lookUpByName(searches.take(), tally));
			} catch (InterruptedException e) {
				Thread.currentThread().interrupt();
			}
		}
	}

	ProductTable() {
		for (int number = 0; number < PRODUCTS; number++)
			products.put(number, new Product(number, nameOf(number), 100 + number % 900));
	}

	private static String nameOf(int number) {
		return "Product no. " + number;
	}

	/** The work outside the lock: some microseconds, and some garbage. */
	private static long price(Product product) {
		long cents = 0;
		for (int day = 0; day < 5_000; day++)
			cents += (product.cents * 31L + day) % 97;
		return cents + new StringBuilder(product.name).append(": ").append(cents).length();
	}

	/** A search is answered with a page about the product, also made outside the lock. */
	private static long describe(Product product) {
		long revenue = 0;
		for (int month = 0; month < MONTHS_DESCRIBED; month++)
			revenue += price(product);
		return revenue;
	}

	Product lookUpByNumber(int number, Tally tally) {
		long asked = System.nanoTime();
		synchronized (this) {
			long locked = System.nanoTime();
			Product found = products.get(number);
			tally.count(asked, locked, System.nanoTime());
			return found;
		}
	}

	Product lookUpByName(String name, Tally tally) {
		long asked = System.nanoTime();
		synchronized (this) {
			long locked = System.nanoTime();
			Product found = null;
			for (Product product : products.values()) {
				if (product.name.equalsIgnoreCase(name)) {
					found = product;
					break;
				}
			}
			tally.count(asked, locked, System.nanoTime());
			return found;
		}
	}

	/** The same table behind a ReentrantLock. */
	static final class ReentrantTable extends ProductTable {
		private final ReentrantLock lock = new ReentrantLock();

		@Override
		Product lookUpByNumber(int number, Tally tally) {
			long asked = System.nanoTime();
			lock.lock();
			try {
				long locked = System.nanoTime();
				Product found = products.get(number);
				tally.count(asked, locked, System.nanoTime());
				return found;
			} finally {
				lock.unlock();
			}
		}

		@Override
		Product lookUpByName(String name, Tally tally) {
			long asked = System.nanoTime();
			lock.lock();
			try {
				long locked = System.nanoTime();
				Product found = null;
				for (Product product : products.values()) {
					if (product.name.equalsIgnoreCase(name)) {
						found = product;
						break;
					}
				}
				tally.count(asked, locked, System.nanoTime());
				return found;
			} finally {
				lock.unlock();
			}
		}
	}

	private static void print(String what, List<Client> clients, double seconds) throws InterruptedException {
		Tally sum = new Tally();
		for (Client client : clients) {
			client.join();
			sum.add(client.tally);
		}
		double lookUps = Math.max(1, sum.lookUps);
		System.out.printf("  %-14s %,10d  %11.1f %11.1f  %11.1f %11.1f %12.1f%n", what, sum.lookUps,
				sum.waitNs / NS_PER_MS / seconds, sum.holdNs / NS_PER_MS / seconds,
				sum.waitNs / NS_PER_US / lookUps, sum.holdNs / NS_PER_US / lookUps, sum.maxWaitNs / NS_PER_US);
	}

	public static void main(String[] args) throws InterruptedException {
		long seconds = args.length > 0 ? Long.parseLong(args[0]) : 10;
		boolean reentrant = args.length > 1 && args[1].equals("reentrant");
		ProductTable table = reentrant ? new ReentrantTable() : new ProductTable();
		// As in a server that has run for long: the table is old, and no collection moves its lock any more.
		System.gc();
		List<Client> byNumber = new ArrayList<>();
		List<Client> byName = new ArrayList<>();
		for (int i = 1; i <= BY_NUMBER_THREADS; i++)
			byNumber.add(table.new Customer(i));
		for (int i = 1; i <= BY_NAME_THREADS; i++)
			byName.add(table.new Catalogue(i));
		long start = System.nanoTime();
		Runtime.getRuntime().addShutdownHook(new Thread(() -> {
			stopped = true;
			double elapsed = (System.nanoTime() - start) / NS_PER_S;
			byName.forEach(Thread::interrupt);
			try {
				System.out.printf("The program's own measurements, over %.1f s:%n", elapsed);
				System.out.printf("  %-14s %10s  %23s  %36s%n", "", "", "ms a second, all threads", "us a look-up");
				System.out.printf("  %-14s %10s  %11s %11s  %11s %11s %12s%n", "look-up", "count", "waiting",
						"holding", "waiting", "holding", "longest wait");
				print("by number", byNumber, elapsed);
				print("by name", byName, elapsed);
			} catch (InterruptedException e) {
				Thread.currentThread().interrupt();
			}
		}, "summary"));
		byNumber.forEach(Thread::start);
		byName.forEach(Thread::start);
		System.out.printf("ProductTable: process %d, %d products, %d threads look up by number, %d by name%n",
				ProcessHandle.current().pid(), PRODUCTS, byNumber.size(), byName.size());
		Thread.sleep(seconds * 1000);
	}
}
