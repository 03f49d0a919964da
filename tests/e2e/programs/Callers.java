import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Objects of a class for each way in which a method can be called. At its end the program says by which methods each was
 * allocated, as its own stack traces had it: "trace CLASS a.b < c.d < ...".
 */
public class Callers {
	static final Map<String, TreeSet<String>> traces = new TreeMap<>();

	static synchronized void note(Object o) {
		StringBuilder text = new StringBuilder();
		StackTraceElement[] all = new Throwable().getStackTrace();

		for (int i = 1; i < all.length; i++)
			text.append(i > 1 ? " < " : "").append(all[i].getClassName()).append('.').append(all[i].getMethodName());
		traces.computeIfAbsent(o.getClass().getName(), name -> new TreeSet<>()).add(text.toString());
	}

	/* Unique: three callers up to main. */
	static final class Deep {}
	static void deep() { note(new Deep()); }
	static void middle() { deep(); }
	static void outer() { middle(); }

	/* Unique, from two places of one method. */
	static final class Twice {}
	static void twice() { note(new Twice()); }
	static void both() { twice(); twice(); }

	/* A constructor, and a private method of an object. */
	static final class Made {
		Made() { fill(); }
		private void fill() { note(new Part()); }
	}
	static final class Part {}
	static void make() { new Made(); }

	/* An interface of the program's own: each implementation has one caller. */
	interface Task { void work(); }
	static final class Small {}
	static final class SmallTask implements Task { public void work() { note(new Small()); } }
	static void task(Task t) { t.work(); }
	static void tasks() { task(new SmallTask()); }

	/* Two callers. */
	static final class Shared {}
	static void shared() { note(new Shared()); }
	static void left() { shared(); }
	static void right() { shared(); }

	/* An overridden method: the call names the class above. */
	static class Base { void run() { note(new OfBase()); } }
	static final class Below extends Base { void run() { note(new OfBelow()); } }
	static final class OfBase {}
	static final class OfBelow {}
	static void first(Base b) { b.run(); }
	static void second(Below b) { b.run(); }

	/* A lambda, a method handle's method, a thread's, one that reflection finds, one that calls itself. */
	static final class InLambda {}
	static final class ByHandle {}
	static void byHandle() { note(new ByHandle()); }
	static void handed(Runnable r) { r.run(); }
	static final class OnThread implements Runnable { public void run() { note(new InThread()); } }
	static final class InThread {}
	static final class Reflected {}
	static void reflected() { note(new Reflected()); }
	static void direct() { reflected(); }
	static final class Recursive {}
	static void recursive(int n) {
		if (n > 0)
			recursive(n - 1);
		else
			note(new Recursive());
	}

	/* A library calls back what stands for one of its own methods. */
	static final class Compared {}
	static final class Key implements Comparable<Key> {
		public int compareTo(Key other) { note(new Compared()); return 1; }
	}
	static void sort() {
		Key[] keys = {new Key(), new Key()};
		keys[0].compareTo(keys[1]);
		java.util.Arrays.sort(keys);
	}

	static void round() throws Exception {
		outer();
		both();
		make();
		tasks();
		left();
		right();
		first(new Base());
		first(new Below());
		second(new Below());
		handed(() -> note(new InLambda()));
		handed(Callers::byHandle);
		byHandle();
		new OnThread().run();
		Thread thread = new Thread(new OnThread());
		thread.start();
		thread.join();
		direct();
		Callers.class.getDeclaredMethod("reflected").invoke(null);
		recursive(3);
		sort();
	}

	public static void main(String[] args) throws Exception {
		System.out.println("ready " + ProcessHandle.current().pid());
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		in.readLine();
		for (int i = 0; i < 200; i++) {
			round();
			if (i % 50 == 49)
				System.gc();
		}
		for (Map.Entry<String, TreeSet<String>> e : traces.entrySet())
			for (String trace : e.getValue())
				System.out.println("trace " + e.getKey() + " " + trace);
		System.out.println("done");
		in.readLine();
	}
}
