import java.util.Arrays;
import java.util.concurrent.ArrayBlockingQueue;

/** The five configurations of the paper over {@code ArrayBlockingQueue}. */
final class QueueTopologies {
    private final Workload workload;
    private final Event.Maker maker;
    private final long events;
    private final Crew crew;

    QueueTopologies(Workload workload) {
        this.workload = workload;
        this.maker = workload.maker;
        this.events = workload.events;
        this.crew = new Crew(workload.placement);
    }

    Finish run() throws InterruptedException {
        switch (workload.topology) {
            case "unicast":
                return unicast();
            case "pipeline":
                return pipeline();
            case "sequencer":
                return sequencer();
            case "multicast":
                return multicast();
            case "diamond":
                return diamond();
            default:
                throw workload.unknownTopology();
        }
    }

    private Finish unicast() throws InterruptedException {
        ArrayBlockingQueue<Event> arc = arc();
        long[] answer = new long[1];
        crew.enlist("producer", () -> QueueArcs.produce(maker, events, 0, arc));
        crew.enlist("consumer", () -> answer[0] = QueueArcs.consume(arc, events));
        return finish(1, answer);
    }

    private Finish pipeline() throws InterruptedException {
        ArrayBlockingQueue<Event> first = arc();
        ArrayBlockingQueue<Event> second = arc();
        ArrayBlockingQueue<Event> third = arc();
        long[] answer = new long[1];
        crew.enlist("producer", () -> QueueArcs.produce(maker, events, 0, first));
        crew.enlist("step-1", () -> QueueArcs.relay(first, second, events, Work::stepOne));
        crew.enlist("step-2", () -> QueueArcs.relay(second, third, events, Work::stepTwo));
        crew.enlist("step-3", () -> answer[0] = QueueArcs.consume(third, events));
        return finish(3, answer);
    }

    private Finish sequencer() throws InterruptedException {
        ArrayBlockingQueue<Event> arc = arc();
        long[] folds = new long[Workload.PRODUCERS];
        for (int producer = 0; producer < folds.length; producer++) {
            int origin = producer;
            long share = workload.share(origin);
            crew.enlist("producer-" + origin, () -> QueueArcs.produce(maker, share, origin, arc));
        }
        crew.enlist("consumer", () -> {
            Arrays.fill(folds, Work.EMPTY);
            for (long count = 0; count < events; count++) {
                Event event = arc.take();
                folds[event.left] = Work.add(folds[event.left], event.digest());
            }
        });
        return finish(1, folds);
    }

    private Finish multicast() throws InterruptedException {
        @SuppressWarnings({"unchecked", "rawtypes"})
        ArrayBlockingQueue<Event>[] arcs = new ArrayBlockingQueue[] {arc(), arc(), arc()};
        long[] answers = new long[arcs.length];
        crew.enlist("producer", () -> QueueArcs.produceToAll(maker, events, arcs));
        for (int consumer = 0; consumer < arcs.length; consumer++) {
            int own = consumer;
            ArrayBlockingQueue<Event> arc = arcs[own];
            crew.enlist("consumer-" + own, () -> answers[own] = QueueArcs.consume(arc, events));
        }
        return finish(3, answers);
    }

    private Finish diamond() throws InterruptedException {
        @SuppressWarnings({"unchecked", "rawtypes"})
        ArrayBlockingQueue<Event>[] arcs = new ArrayBlockingQueue[] {arc(), arc()};
        ArrayBlockingQueue<Event> left = arc();
        ArrayBlockingQueue<Event> right = arc();
        long[] answers = new long[2];
        crew.enlist("producer", () -> QueueArcs.produceToAll(maker, events, arcs));
        crew.enlist("fizz", () -> QueueArcs.relay(
                arcs[0], left, events, event -> event.left = Work.fizz(event)));
        crew.enlist("buzz", () -> QueueArcs.relay(
                arcs[1], right, events, event -> event.right = Work.buzz(event)));
        crew.enlist("fizz-buzz", () -> join(left, right, answers));
        return finish(3, answers);
    }

    /** Takes every event from both sides. One that is not the other's twin changes the answer. */
    private void join(
            ArrayBlockingQueue<Event> left, ArrayBlockingQueue<Event> right, long[] answers)
            throws InterruptedException {
        long both = 0;
        long fold = Work.EMPTY;
        for (long count = 0; count < events; count++) {
            Event withFizz = left.take();
            Event withBuzz = right.take();
            long mismatch = Integer.toUnsignedLong(withFizz.value ^ withBuzz.value);
            both += withFizz.left & withBuzz.right;
            long digest = withFizz.digest() + mismatch;
            fold = Work.add(fold, Work.withProperties(digest, withFizz.left, withBuzz.right));
        }
        answers[0] = both;
        answers[1] = fold;
    }

    private ArrayBlockingQueue<Event> arc() {
        return new ArrayBlockingQueue<>(workload.ring);
    }

    /** Runs the crew; each of the consumers was handed one event at a time. */
    private Finish finish(int consumers, long[] answers) throws InterruptedException {
        Clock clock = crew.release();
        return clock.stop(crew.join(), events * consumers, answers);
    }
}
