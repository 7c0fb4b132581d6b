/** How much one run moves. */
final class Workload {
    /** Producers of the topology that has several. */
    static final int PRODUCERS = 3;

    final String topology;
    final long events;
    final int ring;
    final Event.Maker maker;
    final int batch;
    final Placement placement;

    Workload(
            String topology,
            long events,
            int ring,
            Event.Maker maker,
            int batch,
            Placement placement) {
        this.topology = topology;
        this.events = events;
        this.ring = ring;
        this.maker = maker;
        this.batch = batch;
        this.placement = placement;
    }

    Workload of(long otherEvents) {
        return new Workload(topology, otherEvents, ring, maker, batch, placement);
    }

    /** How many events the producer numbered {@code origin} of several publishes. */
    long share(int origin) {
        return events / PRODUCERS + (origin < events % PRODUCERS ? 1 : 0);
    }

    RuntimeException unknownTopology() {
        return new IllegalArgumentException("unknown topology: " + topology);
    }
}
