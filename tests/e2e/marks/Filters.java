import java.io.File;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Map;
import java.util.Scanner;

/**
 * The filter of an API ("javax" or "jakarta") with the real classes of that API, from a jar. Each line
 * on stdin is a request: its method, its path, and "fail" if the servlet is to throw. Answers with what
 * the servlet was asked, and what became of it.
 */
public class Filters {
    static Object proxy(Class<?> type, Map<String, Object> answers) {
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
            Object answer = answers.get(method.getName());
            if (answer instanceof Runnable) {
                ((Runnable) answer).run();
                return null;
            }
            return answer;
        });
    }

    public static void main(String[] args) throws Exception {
        String api = args[0] + ".servlet.";
        String mark = System.getProperty("java.class.path").split(File.pathSeparator)[1];
        ClassLoader loader = new URLClassLoader(new URL[] {new File(args[1]).toURI().toURL(),
                new File(mark).toURI().toURL()}, null);
        String name = "spoor." + (args[0].equals("javax") ? "Javax" : "Jakarta") + "MarkFilter";
        Class<?> type = loader.loadClass(api + "Filter");
        Object filter = loader.loadClass(name).getConstructor().newInstance();
        Class<?> chain = loader.loadClass(api + "FilterChain"), config = loader.loadClass(api + "FilterConfig"),
                request = loader.loadClass(api + "http.HttpServletRequest"),
                response = loader.loadClass(api + "http.HttpServletResponse");
        type.getMethod("init", config).invoke(filter, proxy(config, args.length > 2
                ? Map.of("getInitParameter", args[2]) : Map.of()));
        Method doFilter = type.getMethod("doFilter", loader.loadClass(api + "ServletRequest"),
                loader.loadClass(api + "ServletResponse"), chain);
        Method isRecorded = loader.loadClass("spoor.Mark").getMethod("isRecorded");

        System.out.println("ready " + ProcessHandle.current().pid());
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            String[] words = in.nextLine().split(" ");
            if (words[0].equals("await")) {
                long until = System.nanoTime() + 30_000_000_000L;
                while (!(boolean) isRecorded.invoke(null) && System.nanoTime() < until) {
                    Thread.sleep(1);
                }
                System.out.println(isRecorded.invoke(null));
                continue;
            }
            Runnable servlet = () -> {
                System.out.println("asked for " + words[1]);
                if (words.length > 2) {
                    throw new IllegalStateException("on purpose");
                }
            };
            try {
                doFilter.invoke(filter, proxy(request, Map.of("getMethod", words[0], "getRequestURI", words[1])),
                        proxy(response, Map.of()), proxy(chain, Map.of("doFilter", servlet)));
                System.out.println("returned");
            } catch (InvocationTargetException e) {
                System.out.println("thrown " + e.getCause().getMessage());
            }
        }
        type.getMethod("destroy").invoke(filter);
    }
}
