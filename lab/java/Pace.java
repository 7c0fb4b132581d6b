/** The load of a paced run. */
final class Pace {
    /** From the release of the producer to its first event: the stages are in place by then. */
    private static final long LEAD_NS = 1_000_000;
    /** The producer and three stages. */
    private static final int THREADS = 4;

    private final double intervalNs;
    final long events;
    final int ring;
    final Placement placement;
    private final boolean yields = Runtime.getRuntime().availableProcessors() < THREADS;

    Pace(double intervalNs, long events, int ring, Placement placement) {
        this.intervalNs = intervalNs;
        this.events = events;
        this.ring = ring;
        this.placement = placement;
    }

    /** As many events as fast as they go, to warm up. */
    Pace burst(long otherEvents) {
        return new Pace(1, otherEvents, ring, placement);
    }

    /** When the first event is due. */
    long start() {
        return System.nanoTime() + LEAD_NS;
    }

    /** When the event of this number is due, however late others were. */
    long due(long start, long number) {
        return start + (long) (number * intervalNs);
    }

    /** Waits for the time {@code due}: spins, or yields if there are more threads than CPUs. */
    void awaitTime(long due) {
        while (System.nanoTime() - due < 0) {
            if (yields) {
                Thread.yield();
            } else {
                Thread.onSpinWait();
            }
        }
    }
}
