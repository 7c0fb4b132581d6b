import java.util.concurrent.ArrayBlockingQueue;

/** What a worker does at the ends of its queues. It knows how many events to expect. */
final class QueueArcs {
    private QueueArcs() {}

    /** Changes an event. */
    interface Step {
        void change(Event event);
    }

    static void produce(Event.Maker maker, long events, int origin, ArrayBlockingQueue<Event> to)
            throws InterruptedException {
        for (long value = 0; value < events; value++) {
            to.put(event(maker, value, origin));
        }
    }

    /** Puts each event into every one of {@code arcs}. */
    static void produceToAll(Event.Maker maker, long events, ArrayBlockingQueue<Event>[] arcs)
            throws InterruptedException {
        for (long value = 0; value < events; value++) {
            Event event = event(maker, value, 0);
            for (ArrayBlockingQueue<Event> arc : arcs) {
                arc.put(event);
            }
        }
    }

    static void relay(
            ArrayBlockingQueue<Event> from, ArrayBlockingQueue<Event> to, long events, Step step)
            throws InterruptedException {
        for (long count = 0; count < events; count++) {
            Event event = from.take();
            step.change(event);
            to.put(event);
        }
    }

    /** The fold over every event. */
    static long consume(ArrayBlockingQueue<Event> from, long events) throws InterruptedException {
        long fold = Work.EMPTY;
        for (long count = 0; count < events; count++) {
            fold = Work.add(fold, from.take().digest());
        }
        return fold;
    }

    private static Event event(Event.Maker maker, long value, int origin) {
        Event event = maker.make();
        event.writeAs((int) value, (byte) origin);
        return event;
    }
}
