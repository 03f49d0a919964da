import java.util.concurrent.locks.ReentrantLock;

/**
 * Two threads hand one fair ReentrantLock over, section by section. The program has two states: in one the
 * next thread is still on its way to park when the lock is free, and nobody sleeps; in the other both
 * really sleep each time, which takes several times as long. Which of them a slot is in is a matter of
 * microseconds, so that an observer may change it.
 */
final class HandOver extends Slots {
	private final ReentrantLock lock = new ReentrantLock(true);
	private int value;

	HandOver() {
		super(2);
	}

	@Override
	void work(int worker) {
		while (!stopped) {
			lock.lock();
			try {
				for (int i = 0; i < 100; i++)
					value = value * 1_103_515_245 + 12_345;
			} finally {
				lock.unlock();
			}
			count(worker, 1);
		}
	}

	public static void main(String[] args) throws Exception {
		new HandOver().run(args);
	}
}
