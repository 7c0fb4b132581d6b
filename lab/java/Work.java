/**
 * What the stages compute: the numbers of {@code lab/src/load/fold.rs} and {@code lab/src/load/topologies}.
 */
final class Work {
    /** A fold over no digests. */
    static final long EMPTY = 0x9E3779B97F4A7C15L;

    private static final int SPREAD = 0x9E3779B1;

    private Work() {}

    /** {@code fold} with one digest more. */
    static long add(long fold, long digest) {
        return Long.rotateLeft(fold, 5) ^ digest;
    }

    /** The first step of a pipeline. */
    static void stepOne(Event event) {
        event.value = Integer.rotateLeft(event.value, 7) ^ (int) event.digest();
    }

    /** The second step. */
    static void stepTwo(Event event) {
        event.value = event.value * SPREAD + (int) event.digest();
    }

    /** A digest is a sum of a few numbers of 32 bits, so its sign does not matter here. */
    static byte fizz(Event event) {
        return (byte) (event.digest() % 3 == 0 ? 1 : 0);
    }

    static byte buzz(Event event) {
        return (byte) (event.digest() % 5 == 0 ? 1 : 0);
    }

    /** The digest of a diamond's event with its two properties. */
    static long withProperties(long digest, byte fizz, byte buzz) {
        return digest ^ ((long) fizz << 62 | (long) buzz << 63);
    }
}
