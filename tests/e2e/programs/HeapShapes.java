import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A heap of which the structure is known. Says "ready", then waits for lines: "leak N" adds N sessions to a map that
 * nobody empties; all else ends the program.
 */
public class HeapShapes {
    static class Base { int a; long b; byte c; Object d; }
    static class Derived extends Base { short e; byte f; int g; Object h; }
    static class Session { long id; byte[] state = new byte[100]; Session(long id) { this.id = id; } }
    static class Registry { final Map<Long, Session> sessions = new ConcurrentHashMap<>(); }

    static final Registry REGISTRY = new Registry();
    static final List<Object> OBJECTS = new ArrayList<>();
    static final Map<String, byte[]> CACHE = new LinkedHashMap<>();

    static void shapes() {
        for (int i = 0; i < 300; i++) {
            OBJECTS.add(new Base());
            OBJECTS.add(new Derived());
            OBJECTS.add(new int[i]);
            OBJECTS.add(new long[i]);
            OBJECTS.add(new byte[i]);
            OBJECTS.add(new Object[i]);
            CACHE.put("key " + i, new byte[i]);
        }
    }

    public static void main(String[] args) throws Exception {
        shapes();
        System.out.println("ready " + ProcessHandle.current().pid());
        var in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && line.startsWith("leak "); line = in.readLine()) {
            for (int i = Integer.parseInt(line.substring(5)); i > 0; i--) {
                REGISTRY.sessions.put((long) REGISTRY.sessions.size(), new Session(i));
            }
            System.out.println("done");
        }
    }
}
