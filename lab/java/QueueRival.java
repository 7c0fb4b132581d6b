import java.util.concurrent.ArrayBlockingQueue;

/**
 * A queue for each arc, and a fresh event for each message, as the queue hands over references.
 * Events are shared, not copied, where one goes to several consumers.
 */
final class QueueRival implements Rival {
    @Override
    public Finish run(Workload workload) throws Exception {
        return new QueueTopologies(workload).run();
    }

    @Override
    public Finish pingPong(int slots, long exchanges, Placement placement)
            throws Exception {
        ArrayBlockingQueue<Long> there = new ArrayBlockingQueue<>(slots);
        ArrayBlockingQueue<Long> back = new ArrayBlockingQueue<>(slots);
        long[] sum = new long[1];
        Crew crew = new Crew(placement);
        crew.enlist("ping", () -> {
            long total = 0;
            for (long number = 1; number <= exchanges; number++) {
                there.put(number);
                total += back.take();
            }
            sum[0] = total;
        });
        crew.enlist("pong", () -> {
            for (long number = 1; number <= exchanges; number++) {
                back.put(there.take());
            }
        });
        Clock clock = crew.release();
        return clock.stop(crew.join(), exchanges, sum);
    }

    @Override
    public String latency(Pace pace) throws Exception {
        return new QueueLatency(pace).run();
    }
}
