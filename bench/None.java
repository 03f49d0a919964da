import java.util.concurrent.locks.ReentrantLock;

/**
 * Two threads that compute, allocate, and take locks of their own only: nothing is ever contended, so
 * whatever a recorder costs here is the price of its being there.
 */
final class None extends Slots {
	private static final int ROUND = 1_000;

	static final class Account {
		private final ReentrantLock lock = new ReentrantLock();
		private long balance;
		private int[] history = new int[0];

		synchronized void deposit(int amount) {
			balance += amount;
		}

		void remember(int amount) {
			lock.lock();
			try {
				int[] next = new int[history.length % 32 + 1];
				next[0] = amount;
				history = next;
			} finally {
				lock.unlock();
			}
		}
	}

	None() {
		super(2);
	}

	@Override
	void work(int worker) {
		Account account = new Account();
		int amount = worker;
		while (!stopped) {
			for (int i = 0; i < ROUND; i++) {
				for (int j = 0; j < 50; j++)
					amount = amount * 1_103_515_245 + 12_345;
				account.deposit(amount);
				account.remember(amount);
			}
			count(worker, ROUND);
		}
		if (account.balance == 42)
			System.err.println("unlikely");
	}

	public static void main(String[] args) throws Exception {
		new None().run(args);
	}
}
