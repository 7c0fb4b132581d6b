import com.lmax.disruptor.EventHandler;
import com.lmax.disruptor.RingBuffer;
import com.lmax.disruptor.WaitStrategy;
import com.lmax.disruptor.dsl.ProducerType;

/**
 * Numbers through one ring and back through another; both ends are handlers, as in LMAX's own test.
 */
final class LmaxPingPong {
    private final long exchanges;
    private final Placement placement;

    LmaxPingPong(long exchanges, Placement placement) {
        this.exchanges = exchanges;
        this.placement = placement;
    }

    Finish run(int slots, WaitStrategy thereWait, WaitStrategy backWait)
            throws InterruptedException {
        LmaxGraph<Number> there =
                new LmaxGraph<>(Number::new, slots, ProducerType.SINGLE, thereWait);
        LmaxGraph<Number> back = new LmaxGraph<>(Number::new, slots, ProducerType.SINGLE, backWait);
        back.place(placement, 0);
        there.place(placement, 1);
        Pong pong = new Pong(exchanges, back.disruptor.getRingBuffer());
        Ping ping = new Ping(exchanges, there.disruptor.getRingBuffer());
        there.disruptor.handleEventsWith(pong);
        back.disruptor.handleEventsWith(ping);
        RingBuffer<Number> first = there.start(pong);
        back.start(ping);

        Clock clock = new Clock();
        send(first, 1);
        Finish finish = clock.stop(ping.awaitEnd(), exchanges, ping.sum);
        there.halt();
        back.halt();
        return finish;
    }

    private static void send(RingBuffer<Number> ring, long number) {
        long sequence = ring.next();
        ring.get(sequence).value = number;
        ring.publish(sequence);
    }

    /** A number in a slot. */
    private static final class Number {
        long value;
    }

    /** Sends every number back. */
    private static final class Pong extends Stage implements EventHandler<Number> {
        private final RingBuffer<Number> back;

        Pong(long events, RingBuffer<Number> back) {
            super(events);
            this.back = back;
        }

        @Override
        public void onStart() {
            running();
        }

        @Override
        public void onEvent(Number number, long sequence, boolean endOfBatch) {
            send(back, number.value);
        }
    }

    /** Adds up what comes back and sends the next number. */
    private static final class Ping extends Stage implements EventHandler<Number> {
        private final RingBuffer<Number> there;
        private final long exchanges;
        private long sum;

        Ping(long events, RingBuffer<Number> there) {
            super(events);
            this.there = there;
            this.exchanges = events;
        }

        @Override
        public void onStart() {
            running();
        }

        @Override
        public void onEvent(Number number, long sequence, boolean endOfBatch) {
            sum += number.value;
            if (number.value < exchanges) {
                send(there, number.value + 1);
            }
            handled(sequence, endOfBatch);
        }
    }
}
