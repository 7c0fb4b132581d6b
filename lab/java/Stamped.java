/** An event with the time when it was due, and when the last stage received it. */
final class Stamped {
    long value;
    long dueNs;
    long stampNs;

    void write(long number, long due) {
        value = number;
        dueNs = due;
        stampNs = due;
    }

    /** Stamps the receipt; the time since the stage before. */
    long stamp() {
        long now = System.nanoTime();
        long since = now - stampNs;
        stampNs = now;
        return since;
    }
}
