/** A way to call StacksAct.act, by the frames between a thread's first method and it. */
public interface StacksShape {
    void run(StacksAct a) throws Throwable;
}
