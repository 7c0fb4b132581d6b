/** A run that came to its end. */
final class Finish {
    private final long elapsedNs;
    private final long cpuNs;
    private final long batches;
    private final long[] answers;

    Finish(long elapsedNs, long cpuNs, long batches, long[] answers) {
        this.elapsedNs = elapsedNs;
        this.cpuNs = cpuNs;
        this.batches = batches;
        this.answers = answers;
    }

    /** This run with its answers. */
    Finish with(long... found) {
        return new Finish(elapsedNs, cpuNs, batches, found);
    }

    /** The reply to a request for a run. */
    String reply() {
        StringBuilder reply = new StringBuilder(times()).append(' ').append(batches);
        for (long answer : answers) {
            reply.append(' ').append(Long.toUnsignedString(answer));
        }
        return reply.toString();
    }

    /** The reply to a request for latencies. */
    String reply(Histogram... histograms) {
        StringBuilder reply = new StringBuilder(times());
        reply.append(' ').append(Long.toUnsignedString(answers[0]));
        for (Histogram histogram : histograms) {
            histogram.print(reply.append(' '));
        }
        return reply.toString();
    }

    private String times() {
        return "ok " + elapsedNs + ' ' + cpuNs;
    }
}
