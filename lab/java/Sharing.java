/** Work that is shared: the numbers of {@code lab/src/load/sharing.rs}. */
final class Sharing {
    private static final int NUMBER_BITS = 32;
    private static final long SPREAD = 0x9E3779B97F4A7C15L;

    final int producers;
    final int consumers;
    final long events;
    final int ring;
    final Placement placement;

    Sharing(int producers, int consumers, long events, int ring, Placement placement) {
        this.producers = producers;
        this.consumers = consumers;
        this.events = events;
        this.ring = ring;
        this.placement = placement;
    }

    Sharing of(long otherEvents) {
        return new Sharing(producers, consumers, otherEvents, ring, placement);
    }

    /** How many events the producer numbered {@code origin} publishes. */
    long share(int origin) {
        return events / producers + (origin < events % producers ? 1 : 0);
    }

    /** The event of this number by the producer numbered {@code origin}. */
    static long event(int origin, long number) {
        return (long) origin << NUMBER_BITS | number;
    }

    /** What an event adds to the sum. */
    static long spread(long event) {
        long product = (event + 1) * SPREAD;
        return product ^ (product >>> 32);
    }
}
