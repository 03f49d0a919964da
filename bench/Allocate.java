import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntConsumer;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/**
 * What an object costs: CPU time of this thread, in ns, in three loops, the best of five each; or, with files, the CPU
 * time of a compilation of them in ms, in the second half of eight. Prints "name value" lines.
 */
public final class Allocate {
    static final class Small {
        Object a;
        int b;
    }

    static final int OBJECTS = 4_000_000;
    static final Object[] kept = new Object[1024];
    static final ThreadMXBean bean = ManagementFactory.getThreadMXBean();

    static void small(int n) {
        for (int i = 0; i < n; i++) {
            kept[i & 1023] = new Small();
        }
    }

    static void bytes(int n) {
        for (int i = 0; i < n; i++) {
            kept[i & 1023] = new byte[40];
        }
    }

    static void lengths(int n) {
        for (int i = 0; i < n; i++) {
            kept[i & 1023] = new byte[i & 63];
        }
    }

    static void loop(String name, IntConsumer loop) {
        double best = Double.MAX_VALUE;
        for (int i = 0; i < 3; i++) {
            loop.accept(OBJECTS / 5);
        }
        for (int i = 0; i < 5; i++) {
            long begin = bean.getCurrentThreadCpuTime();
            loop.accept(OBJECTS);
            best = Math.min(best, (bean.getCurrentThreadCpuTime() - begin) / (double) OBJECTS);
        }
        System.out.println(name + " " + best);
    }

    static void compile(String folder, List<String> files) {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        List<String> arguments = new ArrayList<>(List.of("-proc:none", "-nowarn", "-d", folder));
        long warm = 0;
        arguments.addAll(files);
        for (int i = 0; i < 8; i++) {
            long begin = bean.getCurrentThreadCpuTime();
            compiler.run(null, System.err, System.err, arguments.toArray(new String[0]));
            warm += i < 4 ? 0 : bean.getCurrentThreadCpuTime() - begin;
        }
        System.out.println("javac_ms " + warm / 4e6);
    }

    public static void main(String[] args) throws InterruptedException {
        Thread.sleep(Integer.parseInt(args[0])); // until a recorder is there
        if (args.length > 2) {
            compile(args[1], Arrays.asList(args).subList(2, args.length));
            return;
        }
        loop("small_ns", Allocate::small);
        loop("bytes_ns", Allocate::bytes);
        loop("lengths_ns", Allocate::lengths);
    }
}
