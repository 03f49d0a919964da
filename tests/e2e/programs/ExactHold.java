/** How long an act holds its lock, and what it does meanwhile. */
final class ExactHold {
    static final ExactHold NOTHING = new ExactHold(0, false, false);

    private final long ns;
    private final boolean busy;
    private final boolean untilGo;

    private ExactHold(long ns, boolean busy, boolean untilGo) {
        this.ns = ns;
        this.busy = busy;
        this.untilGo = untilGo;
    }

    static ExactHold of(long ns, boolean busy) {
        return new ExactHold(ns, busy, false);
    }

    static ExactHold untilGo(boolean busy) {
        return new ExactHold(0, busy, true);
    }

    void run(ExactAct a) {
        long end = System.nanoTime() + ns;
        while (untilGo ? !a.go : System.nanoTime() < end) {
            if (busy) {
                Thread.onSpinWait();
            } else {
                pause();
            }
        }
    }

    /** Interrupts are for locks: they are kept. */
    static void pause() {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            Thread.onSpinWait();
        }
    }
}
