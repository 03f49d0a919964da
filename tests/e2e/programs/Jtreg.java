import java.lang.reflect.InvocationTargetException;
import java.util.Scanner;

/**
 * Runs jtreg's own programs: main() methods that throw when something is wrong. Each line on stdin is the name of a
 * class; the answer is what System.nanoTime() was before and after its main(), and what that has thrown. What the programs
 * print goes to stderr.
 */
public class Jtreg {
    public static void main(String[] args) throws Throwable {
        var out = System.out;
        var in = new Scanner(System.in);
        System.setOut(System.err);
        out.println("ready " + ProcessHandle.current().pid());
        while (in.hasNextLine()) {
            var program = Class.forName(in.nextLine()).getMethod("main", String[].class);
            long begin = System.nanoTime();
            Object thrown = "";
            try {
                program.invoke(null, (Object) new String[0]);
            } catch (InvocationTargetException e) {
                thrown = e.getCause();
            }
            out.println(begin + " " + System.nanoTime() + " " + thrown);
        }
    }
}
