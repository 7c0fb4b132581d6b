/**
 * What is moved: the fields and the digest of {@code lab/src/load/event.rs}. One process loads one size
 * only, so that every call of {@code write} and {@code digest} has one target.
 */
abstract class Event {
    int value;
    byte left;
    byte right;

    /**
     * Writes every word; the properties keep what is there, as whoever reads them comes after who
     * leaves them.
     */
    abstract void write(int number);

    /** Reads every word. */
    abstract long digest();

    final void writeAs(int number, byte origin) {
        write(number);
        left = origin;
    }

    final long unsignedValue() {
        return Integer.toUnsignedLong(value);
    }

    /** Makes events of one size. */
    interface Maker {
        Event make();
    }

    static Maker maker(int bytes) {
        switch (bytes) {
            case 8:
                return Event8::new;
            case 32:
                return Event32::new;
            case 64:
                return Event64::new;
            case 256:
                return Event256::new;
            default:
                throw new IllegalArgumentException("an event has 8, 32, 64 or 256 bytes");
        }
    }
}
