import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;

/**
 * Two threads that do nothing but give the CPU to each other, through two pipes of the kernel's: no
 * lock, no park, nothing for a recorder but the switches. With the JVM bound to one CPU each hand-over
 * is a switch; what is counted is hand-overs.
 */
final class Switches extends Slots {
	private final Pipe[] pipes = new Pipe[2];

	Switches() {
		super(2);
	}

	@Override
	void begin() {
		try {
			for (int i = 0; i < 2; i++)
				pipes[i] = Pipe.open();
			pipes[0].sink().write(ByteBuffer.wrap(new byte[1]));
		} catch (IOException e) {
			throw new IllegalStateException(e);
		}
	}

	@Override
	void work(int worker) throws Exception {
		Pipe.SourceChannel from = pipes[worker].source();
		Pipe.SinkChannel to = pipes[1 - worker].sink();
		ByteBuffer token = ByteBuffer.allocateDirect(1);
		while (!stopped) {
			token.clear();
			if (from.read(token) < 0)
				break;
			token.flip();
			to.write(token);
			count(worker, 1);
		}
		to.close();
	}

	@Override
	void end() {
		try {
			for (Pipe pipe : pipes) {
				pipe.source().close();
				pipe.sink().close();
			}
		} catch (IOException e) {
			throw new IllegalStateException(e);
		}
	}

	public static void main(String[] args) throws Exception {
		new Switches().run(args);
	}
}
