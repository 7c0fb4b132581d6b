import com.lmax.disruptor.EventHandler;
import com.lmax.disruptor.RingBuffer;
import com.lmax.disruptor.WaitStrategy;
import com.lmax.disruptor.dsl.ProducerType;

/** The three stage pipeline under a load, over one ring. */
final class LmaxLatency {
    private final Pace pace;
    private final long events;
    private final Histogram endToEnd = new Histogram();

    LmaxLatency(Pace pace) {
        this.pace = pace;
        this.events = pace.events;
    }

    String run(WaitStrategy wait) throws InterruptedException {
        LmaxGraph<Stamped> graph =
                new LmaxGraph<>(Stamped::new, pace.ring, ProducerType.SINGLE, wait);
        graph.place(pace.placement, 1);
        Hop first = new Hop(events, null);
        Hop second = new Hop(events, null);
        Hop third = new Hop(events, endToEnd);
        graph.disruptor.handleEventsWith(first).then(second).then(third);
        RingBuffer<Stamped> ring = graph.start(first, second, third);

        Crew crew = new Crew(pace.placement);
        crew.enlist("producer", () -> publish(ring));
        Clock clock = crew.release();
        Finish finish = clock.stop(third.awaitEnd(), third.batches, third.fold);
        crew.join();
        graph.halt();
        return finish.reply(first.times, second.times, third.times, endToEnd);
    }

    private void publish(RingBuffer<Stamped> ring) {
        long start = pace.start();
        for (long value = 0; value < events; value++) {
            long due = pace.due(start, value);
            pace.awaitTime(due);
            long sequence = ring.next();
            ring.get(sequence).write(value, due);
            ring.publish(sequence);
        }
    }

    /** A stage; the last one also records the time from end to end. */
    private static final class Hop extends Stage implements EventHandler<Stamped> {
        private final Histogram times = new Histogram();
        private final Histogram endToEnd;

        Hop(long events, Histogram endToEnd) {
            super(events);
            this.endToEnd = endToEnd;
        }

        @Override
        public void onStart() {
            running();
        }

        @Override
        public void onEvent(Stamped event, long sequence, boolean endOfBatch) {
            times.record(event.stamp());
            if (endToEnd != null) {
                endToEnd.record(event.stampNs - event.dueNs);
                fold = Work.add(fold, event.value);
            }
            handled(sequence, endOfBatch);
        }
    }
}
