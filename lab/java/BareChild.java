import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The bare exchange as a child process: two words, each written by its own thread, without slots.
 */
final class BareChild implements Rival {
    /** Far apart: 128 bytes to either side belong to nobody else. */
    private static final int THERE = 16;
    private static final int BACK = 48;
    private static final int WORDS = 64;

    public static void main(String[] arguments) throws InterruptedException {
        Child.serve(new BareChild());
    }

    @Override
    public Finish pingPong(int slots, long exchanges, Placement placement)
            throws Exception {
        AtomicLongArray words = new AtomicLongArray(WORDS);
        long[] sum = new long[1];
        Crew crew = new Crew(placement);
        crew.enlist("ping", () -> sum[0] = call(words, exchanges));
        crew.enlist("pong", () -> echo(words, exchanges));
        Clock clock = crew.release();
        return clock.stop(crew.join(), exchanges, sum);
    }

    private static long call(AtomicLongArray words, long exchanges) {
        long sum = 0;
        for (long number = 1; number <= exchanges; number++) {
            words.setRelease(THERE, number);
            long answer;
            do {
                answer = words.getAcquire(BACK);
            } while (answer != number);
            sum += answer;
        }
        return sum;
    }

    private static void echo(AtomicLongArray words, long exchanges) {
        for (long number = 1; number <= exchanges; number++) {
            while (words.getAcquire(THERE) != number) {
                // No hint: this is the limit.
            }
            words.setRelease(BACK, number);
        }
    }

    @Override
    public Finish run(Workload workload) {
        throw workload.unknownTopology();
    }

    @Override
    public String latency(Pace pace) {
        throw new IllegalArgumentException("the bare exchange has no stages");
    }
}
