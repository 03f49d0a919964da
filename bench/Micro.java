import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Small programs for the two JVMs of bench/jvm, one per way through a monitor, a lock or an
 * allocation. The last argument names it.
 *
 * stack: an uncontended stack lock; inflated: an uncontended ObjectMonitor; recursive: the same,
 * twice; contended: two threads at one monitor; juc: at one ReentrantLock; wait: ping-pong with
 * wait and notify; park: with park and unpark; allocate: small objects.
 */
final class Micro extends Slots {
	private static final int ROUND = 10_000;
	private static final int BARGING = 500;

	private interface Job {
		void round(int worker) throws Exception;
	}

	private final Object lock = new Object();
	private final ReentrantLock juc = new ReentrantLock();
	private final Thread[] partner = new Thread[2];
	private volatile int turn;
	private long balance;
	private Object kept;
	private final Job job;

	private Micro(String name) throws Exception {
		super(isPair(name) ? 2 : 1);
		switch (name) {
		case "stack": job = w -> locked(ROUND); break;
		case "inflated": inflate(); job = w -> locked(ROUND); break;
		case "recursive": inflate(); job = w -> recursive(ROUND); break;
		case "contended": job = w -> contended(BARGING); break;
		case "juc": job = w -> jucLocked(BARGING); break;
		case "wait": job = this::pingPongWait; break;
		case "park": job = this::pingPongPark; break;
		case "allocate": job = w -> allocate(ROUND); break;
		default: throw new IllegalArgumentException(name);
		}
	}

	private static boolean isPair(String name) {
		return name.equals("contended") || name.equals("juc") || name.equals("wait") || name.equals("park");
	}

	/* A thread that waits on it makes it an ObjectMonitor, and keeps it one. */
	private void inflate() throws Exception {
		Thread waiter = new Thread(() -> {
			synchronized (lock) {
				try {
					lock.wait();
				} catch (InterruptedException e) {
					Thread.currentThread().interrupt();
				}
			}
		});
		waiter.setDaemon(true);
		waiter.start();
		while (waiter.getState() != Thread.State.WAITING)
			Thread.onSpinWait();
	}

	private void locked(int n) {
		for (int i = 0; i < n; i++) {
			synchronized (lock) {
				balance += i;
			}
		}
	}

	private void recursive(int n) {
		for (int i = 0; i < n; i++) {
			synchronized (lock) {
				locked(1);
			}
		}
	}

	private void contended(int n) {
		for (int i = 0; i < n; i++) {
			synchronized (lock) {
				spend(100);
			}
			spend(100);
		}
	}

	private void jucLocked(int n) {
		for (int i = 0; i < n; i++) {
			juc.lock();
			try {
				spend(100);
			} finally {
				juc.unlock();
			}
			spend(100);
		}
	}

	private static int spend(int n) {
		int x = n;
		for (int i = 0; i < n; i++)
			x = x * 1_103_515_245 + 12_345;
		return x;
	}

	/* The timeouts let a partner that comes too late for the slot's end find that out. */
	private void pingPongWait(int worker) throws InterruptedException {
		synchronized (lock) {
			while (turn != worker && !stopped)
				lock.wait(10);
			turn = 1 - worker;
			lock.notify();
		}
	}

	private void pingPongPark(int worker) {
		partner[worker] = Thread.currentThread();
		while (turn != worker && !stopped)
			LockSupport.parkNanos(this, 10_000_000);
		turn = 1 - worker;
		LockSupport.unpark(partner[1 - worker]);
	}

	private void allocate(int n) {
		for (int i = 0; i < n; i++)
			kept = new int[i & 31];
	}

	@Override
	void work(int worker) throws Exception {
		while (!stopped) {
			job.round(worker);
			count(worker, 1);
		}
		if (balance == 42 || kept == this)
			System.err.println("unlikely");
	}

	public static void main(String[] args) throws Exception {
		new Micro(args[3]).run(args);
	}
}
