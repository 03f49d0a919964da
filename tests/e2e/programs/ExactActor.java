/** A thread that plays what it is given. It takes no lock while it has nothing to do. */
final class ExactActor extends Thread {
    private volatile ExactAct act;
    private volatile KernelThread kernels;

    ExactActor(String name) {
        super(name);
        setDaemon(true);
        start();
        while (kernels == null) {
            Thread.yield();
        }
    }

    void give(ExactAct a) {
        act = a;
    }

    boolean isIdle() {
        return act == null;
    }

    boolean isAsleep() {
        return kernels.isAsleep();
    }

    @Override
    public void run() {
        try {
            kernels = KernelThread.current();
            while (true) {
                ExactAct a = act;
                if (a == null) {
                    ExactHold.pause();
                } else {
                    a.run();
                    act = null;
                }
            }
        } catch (Throwable t) {
            t.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }
}
