/** What a generation of code does: see Unload0000000. */
public interface UnloadCode {
    /** One section of a monitor, contended. */
    void enter(UnloadPair p, int me);

    /** Lets the other one go on, and parks until it lets this one. */
    void park(UnloadPair p, int me);
}
