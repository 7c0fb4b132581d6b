import com.lmax.disruptor.EventHandler;
import com.lmax.disruptor.RingBuffer;
import com.lmax.disruptor.WaitStrategy;
import com.lmax.disruptor.dsl.ProducerType;

/**
 * Each event to one of several handlers. Version 4 has no {@code WorkerPool} any more: each handler
 * sees every event and handles those that are its own by their sequence.
 */
final class LmaxSharing {
    private final Sharing sharing;

    LmaxSharing(Sharing sharing) {
        this.sharing = sharing;
    }

    Finish run(WaitStrategy wait) throws InterruptedException {
        LmaxGraph<Number> graph =
                new LmaxGraph<>(Number::new, sharing.ring, ProducerType.MULTI, wait);
        graph.place(sharing.placement, sharing.producers);
        EveryNth[] consumers = new EveryNth[sharing.consumers];
        for (int own = 0; own < consumers.length; own++) {
            consumers[own] = new EveryNth(own, consumers.length, sharing.events);
        }
        graph.disruptor.handleEventsWith(consumers);
        RingBuffer<Number> ring = graph.start(consumers);

        Crew crew = new Crew(sharing.placement);
        for (int producer = 0; producer < sharing.producers; producer++) {
            int origin = producer;
            crew.enlist("producer-" + origin, () -> publish(ring, origin));
        }
        Clock clock = crew.release();
        long end = LmaxGraph.awaitEnd(consumers);
        long batches = 0;
        long count = 0;
        long sum = 0;
        for (EveryNth consumer : consumers) {
            batches += consumer.batches;
            count += consumer.both;
            sum += consumer.fold;
        }
        Finish finish = clock.stop(end, batches, count, sum);
        crew.join();
        graph.halt();
        return finish;
    }

    private void publish(RingBuffer<Number> ring, int origin) {
        long share = sharing.share(origin);
        for (long number = 0; number < share; number++) {
            long sequence = ring.next();
            ring.get(sequence).value = Sharing.event(origin, number);
            ring.publish(sequence);
        }
    }

    /** A number in a slot. */
    private static final class Number {
        long value;
    }

    /**
     * Counts its own events in {@code both} and sums them in {@code fold}. The test is {@code
     * sequence % consumers == own}, as an addition instead of a division.
     */
    private static final class EveryNth extends Stage implements EventHandler<Number> {
        private final int consumers;
        private long next;

        EveryNth(int own, int consumers, long events) {
            super(events);
            this.consumers = consumers;
            this.next = own;
            fold = 0;
        }

        @Override
        public void onStart() {
            running();
        }

        @Override
        public void onEvent(Number number, long sequence, boolean endOfBatch) {
            if (sequence == next) {
                next += consumers;
                fold += Sharing.spread(number.value);
                both++;
            }
            handled(sequence, endOfBatch);
        }
    }
}
