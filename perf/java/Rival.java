/** What a rival can be asked. */
interface Rival {
    Finish run(Workload workload) throws Exception;

    /** Numbers there and back; the answer is their sum. */
    Finish pingPong(int slots, long exchanges, Placement placement) throws Exception;

    /** The reply with the histograms of the three stage pipeline. */
    String latency(Pace pace) throws Exception;
}
