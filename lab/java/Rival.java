/** What a rival can be asked. */
interface Rival {
    Finish run(Workload workload) throws Exception;

    /** Each event to one of several consumers; the answers are how many there were and their sum. */
    default Finish share(Sharing sharing) throws Exception {
        throw new UnsupportedOperationException("it does not share events among consumers");
    }

    /** Numbers there and back; the answer is their sum. */
    Finish pingPong(int slots, long exchanges, Placement placement) throws Exception;

    /** The reply with the histograms of the three stage pipeline. */
    String latency(Pace pace) throws Exception;
}
