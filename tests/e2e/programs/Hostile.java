/** A thread whose name a terminal would obey; until the end of stdin. */
public class Hostile {
    public static void main(String[] args) throws Exception {
        Thread t = new Thread(() -> {
            try {
                Thread.sleep(Long.MAX_VALUE);
            } catch (InterruptedException e) {
                return;
            }
        }, "\u001b]0;owned\u0007\u001b[2J\u202egnp.exe");
        t.setDaemon(true);
        t.start();
        System.out.println("ready " + ProcessHandle.current().pid());
        System.in.read();
    }
}
