import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.zip.Deflater;

/**
 * A thread in native code of the JDK's, and in the kernel: "go MS" compresses for so long, by its CPU time, then reads
 * for so long.
 */
public class Native {
    static final ThreadMXBean threads = ManagementFactory.getThreadMXBean();

    static void compress(long end) {
        byte[] in = new byte[1 << 20], out = new byte[1 << 20];
        for (int i = 0; i < in.length; i++)
            in[i] = (byte) (i * i >> 7);
        Deflater deflater = new Deflater(Deflater.BEST_COMPRESSION);
        while (threads.getCurrentThreadCpuTime() < end) {
            deflater.reset();
            deflater.setInput(in);
            deflater.finish();
            deflater.deflate(out);
        }
        deflater.end();
    }

    static void read(long end) throws Exception {
        byte[] bytes = new byte[8 << 20];
        try (RandomAccessFile zero = new RandomAccessFile("/dev/zero", "r")) {
            while (threads.getCurrentThreadCpuTime() < end)
                zero.read(bytes);
        }
    }

    public static void main(String[] args) throws Exception {
        var in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
        System.out.println("ready " + ProcessHandle.current().pid());
        for (String line; (line = in.readLine()) != null;) {
            long ns = Long.parseLong(line.split(" ")[1]) * 1_000_000;
            compress(threads.getCurrentThreadCpuTime() + ns);
            read(threads.getCurrentThreadCpuTime() + ns);
            System.out.println("done");
        }
    }
}
