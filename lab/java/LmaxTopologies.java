import com.lmax.disruptor.RingBuffer;
import com.lmax.disruptor.WaitStrategy;
import com.lmax.disruptor.dsl.Disruptor;
import com.lmax.disruptor.dsl.ProducerType;

/** The five configurations of the paper over one ring. */
final class LmaxTopologies {
    private final Workload workload;
    private final long events;
    private final LmaxGraph<Event> graph;
    private final Disruptor<Event> disruptor;

    LmaxTopologies(Workload workload, WaitStrategy wait) {
        this.workload = workload;
        this.events = workload.events;
        boolean alone = !workload.topology.equals("sequencer");
        ProducerType producers = alone ? ProducerType.SINGLE : ProducerType.MULTI;
        graph = new LmaxGraph<>(workload.maker::make, workload.ring, producers, wait);
        graph.place(workload.placement, alone ? 1 : Workload.PRODUCERS);
        disruptor = graph.disruptor;
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
        LmaxHandlers.Folding only = new LmaxHandlers.Folding(events);
        disruptor.handleEventsWith(only);
        Finish finish = oneProducer(only);
        return finish.with(only.fold);
    }

    private Finish pipeline() throws InterruptedException {
        LmaxHandlers.Step first = new LmaxHandlers.Step(1, events);
        LmaxHandlers.Step second = new LmaxHandlers.Step(2, events);
        LmaxHandlers.Step third = new LmaxHandlers.Step(3, events);
        disruptor.handleEventsWith(first).then(second).then(third);
        Finish finish = oneProducer(first, second, third);
        return finish.with(third.fold);
    }

    private Finish sequencer() throws InterruptedException {
        LmaxHandlers.PerProducer only = new LmaxHandlers.PerProducer(events);
        disruptor.handleEventsWith(only);
        Crew crew = new Crew(workload.placement);
        RingBuffer<Event> ring = graph.start(only);
        for (int producer = 0; producer < Workload.PRODUCERS; producer++) {
            byte origin = (byte) producer;
            long share = workload.share(producer);
            crew.enlist("producer-" + origin, () -> publish(ring, share, origin));
        }
        return run(crew, only).with(only.folds);
    }

    private Finish multicast() throws InterruptedException {
        LmaxHandlers.Folding first = new LmaxHandlers.Folding(events);
        LmaxHandlers.Folding second = new LmaxHandlers.Folding(events);
        LmaxHandlers.Folding third = new LmaxHandlers.Folding(events);
        disruptor.handleEventsWith(first, second, third);
        Finish finish = oneProducer(first, second, third);
        return finish.with(first.fold, second.fold, third.fold);
    }

    private Finish diamond() throws InterruptedException {
        LmaxHandlers.Diamond fizz = new LmaxHandlers.Diamond(LmaxHandlers.Role.FIZZ, events);
        LmaxHandlers.Diamond buzz = new LmaxHandlers.Diamond(LmaxHandlers.Role.BUZZ, events);
        LmaxHandlers.Diamond join = new LmaxHandlers.Diamond(LmaxHandlers.Role.JOIN, events);
        disruptor.handleEventsWith(fizz, buzz).then(join);
        Finish finish = oneProducer(fizz, buzz, join);
        return finish.with(join.both, join.fold);
    }

    private Finish oneProducer(Stage... stages) throws InterruptedException {
        Crew crew = new Crew(workload.placement);
        RingBuffer<Event> ring = graph.start(stages);
        crew.enlist("producer", () -> publishAlone(ring));
        return run(crew, stages);
    }

    /** Runs the producers and waits for all stages; the answers are still to be added. */
    private Finish run(Crew crew, Stage... stages) throws InterruptedException {
        Clock clock = crew.release();
        long end = LmaxGraph.awaitEnd(stages);
        long batches = 0;
        for (Stage stage : stages) {
            batches += stage.batches;
        }
        Finish finish = clock.stop(end, batches);
        crew.join();
        graph.halt();
        return finish;
    }

    /** The only producer, whose number nobody reads: `left` belongs to the stages. */
    private void publishAlone(RingBuffer<Event> ring) {
        if (workload.batch > 1) {
            publishBatches(ring, events, (byte) 0);
            return;
        }
        for (long value = 0; value < events; value++) {
            long sequence = ring.next();
            ring.get(sequence).write((int) value);
            ring.publish(sequence);
        }
    }

    /** One of several producers. */
    private void publish(RingBuffer<Event> ring, long share, byte origin) {
        if (workload.batch > 1) {
            publishBatches(ring, share, origin);
            return;
        }
        for (long value = 0; value < share; value++) {
            long sequence = ring.next();
            ring.get(sequence).writeAs((int) value, origin);
            ring.publish(sequence);
        }
    }

    /** So many events with one claim and one publication; fewer at the end. */
    private void publishBatches(RingBuffer<Event> ring, long share, byte origin) {
        for (long value = 0; value < share; ) {
            int size = (int) Math.min(workload.batch, share - value);
            long last = ring.next(size);
            long first = last - size + 1;
            for (long sequence = first; sequence <= last; sequence++) {
                ring.get(sequence).writeAs((int) value++, origin);
            }
            ring.publish(first, last);
        }
    }
}
