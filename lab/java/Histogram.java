/**
 * Counts of times, rounded down to three significant digits as HdrHistogram does: values below 2048
 * as they are, larger ones by their eleven highest bits.
 */
final class Histogram {
    private static final long MOST_NS = 100_000_000_000L;
    private static final int KEPT_BITS = 11;
    private static final int HALF = 1 << (KEPT_BITS - 1);
    /** A hundred seconds have 37 bits. */
    private static final int LENGTH = (37 - KEPT_BITS + 2) * HALF;

    private final long[] counts = new long[LENGTH];

    void record(long nanoseconds) {
        long value = Math.max(1, Math.min(nanoseconds, MOST_NS));
        int bits = 64 - Long.numberOfLeadingZeros(value);
        int shift = Math.max(0, bits - KEPT_BITS);
        counts[shift * HALF + (int) (value >>> shift)]++;
    }

    /** {@code value:count}, separated by commas, for every value that occurred. */
    void print(StringBuilder output) {
        String separator = "";
        for (int index = 0; index < LENGTH; index++) {
            if (counts[index] > 0) {
                output.append(separator).append(valueOf(index)).append(':').append(counts[index]);
                separator = ",";
            }
        }
    }

    private static long valueOf(int index) {
        int shift = Math.max(0, index / HALF - 1);
        return (long) (index - shift * HALF) << shift;
    }
}
