import java.util.HashMap;
import java.util.Map;

/**
 * Runs that do not count, before the first that does: enough for both compilers. In growing parts
 * and with an end in time, as more busy threads than CPUs may take a second for a few thousand
 * events.
 */
final class WarmUp {
    private static final long EVENTS = 400_000;
    /**
     * A run of few events measures nothing, and is not made to wait: so many times its events at
     * most.
     */
    private static final long TIMES = 40;
    private static final long FIRST_PART = 1_000;
    private static final long GROWTH = 4;
    private static final long MOST_NS = 1_000_000_000L;

    /** Events that have warmed up each shape: another topology or another size is other code. */
    private final Map<String, Long> warm = new HashMap<>();

    /** A run of so many events. */
    interface Part {
        Object run(long events) throws Exception;
    }

    /** Warms up for a run of {@code events} of this shape. */
    void before(String shape, long events, Part part) throws Exception {
        long enough = Math.min(EVENTS, TIMES * events);
        long left = enough - warm.getOrDefault(shape, 0L);
        long start = System.nanoTime();
        for (long size = FIRST_PART; left > 0; size *= GROWTH) {
            part.run(Math.min(size, left));
            left -= size;
            if (System.nanoTime() - start > MOST_NS) {
                break;
            }
        }
        warm.merge(shape, enough, Math::max);
        // What earlier runs left behind is collected now, not within the next one.
        System.gc();
    }
}
