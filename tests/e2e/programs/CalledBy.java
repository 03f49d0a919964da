import java.io.BufferedReader;
import java.io.InputStreamReader;

/** One method allocates for two callers, seven of ten for the one; each object takes as long as any other. */
public class CalledBy {
	static volatile Object last;
	static volatile boolean running = true;

	static void make(int count) {
		for (int i = 0; i < count; i++)
			last = new long[100];
	}

	static void often() {
		make(7000);
	}

	static void seldom() {
		make(3000);
	}

	public static void main(String[] args) throws Exception {
		System.out.println("ready " + ProcessHandle.current().pid());
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		in.readLine();
		Thread worker = new Thread(() -> {
			while (running) {
				often();
				seldom();
			}
		}, "worker");
		worker.start();
		in.readLine();
		running = false;
		worker.join();
		System.out.println("done");
		in.readLine();
	}
}
