import java.util.concurrent.ArrayBlockingQueue;

/** The three stage pipeline under a load, over {@code ArrayBlockingQueue}. */
final class QueueLatency {
    private final Pace pace;
    private final long events;
    private final ArrayBlockingQueue<Stamped> first;
    private final ArrayBlockingQueue<Stamped> second;
    private final ArrayBlockingQueue<Stamped> third;
    private final Histogram hop1 = new Histogram();
    private final Histogram hop2 = new Histogram();
    private final Histogram hop3 = new Histogram();
    private final Histogram endToEnd = new Histogram();
    private final long[] answer = {Work.EMPTY};

    QueueLatency(Pace pace) {
        this.pace = pace;
        this.events = pace.events;
        this.first = new ArrayBlockingQueue<>(pace.ring);
        this.second = new ArrayBlockingQueue<>(pace.ring);
        this.third = new ArrayBlockingQueue<>(pace.ring);
    }

    String run() throws InterruptedException {
        Crew crew = new Crew(pace.placement);
        crew.enlist("producer", this::produce);
        crew.enlist("step-1", () -> passOn(first, second, hop1));
        crew.enlist("step-2", () -> passOn(second, third, hop2));
        crew.enlist("step-3", this::consume);
        Clock clock = crew.release();
        return clock.stop(crew.join(), events, answer).reply(hop1, hop2, hop3, endToEnd);
    }

    private void produce() throws InterruptedException {
        long start = pace.start();
        for (long value = 0; value < events; value++) {
            long due = pace.due(start, value);
            Stamped event = new Stamped();
            pace.awaitTime(due);
            event.write(value, due);
            first.put(event);
        }
    }

    private void passOn(
            ArrayBlockingQueue<Stamped> from, ArrayBlockingQueue<Stamped> to, Histogram hop)
            throws InterruptedException {
        for (long count = 0; count < events; count++) {
            Stamped event = from.take();
            hop.record(event.stamp());
            to.put(event);
        }
    }

    private void consume() throws InterruptedException {
        long fold = Work.EMPTY;
        for (long count = 0; count < events; count++) {
            Stamped event = third.take();
            hop3.record(event.stamp());
            endToEnd.record(event.stampNs - event.dueNs);
            fold = Work.add(fold, event.value);
        }
        answer[0] = fold;
    }
}
