import java.util.concurrent.CountDownLatch;

/** Bytes before what one consumer writes at every event. */
abstract class PadBefore {
    long b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13, b14, b15;
}

/** What one consumer writes at every event. */
abstract class Counts extends PadBefore {
    long batches;
    long fold = Work.EMPTY;
    long both;
}

/**
 * What every handler has in common: it says when it runs, counts its batches and says when it has
 * seen the last event. Padded, as the handlers of one graph are made one after the other. Each
 * topology has one class of handler with roles, as in LMAX's own tests: calls that meet one class
 * only are inlined.
 */
abstract class Stage extends Counts {
    long a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15;

    private final long last;
    private final CountDownLatch started = new CountDownLatch(1);
    private final CountDownLatch finished = new CountDownLatch(1);
    private long finishedAt;

    /** A stage whose last event has the sequence {@code events - 1}. */
    Stage(long events) {
        this.last = events - 1;
    }

    final void running() {
        started.countDown();
    }

    final void handled(long sequence, boolean endOfBatch) {
        if (endOfBatch) {
            batches++;
        }
        if (sequence == last) {
            finishedAt = System.nanoTime();
            finished.countDown();
        }
    }

    final void awaitStart() throws InterruptedException {
        started.await();
    }

    /** Waits for the last event; when it was seen. */
    final long awaitEnd() throws InterruptedException {
        finished.await();
        return finishedAt;
    }
}
