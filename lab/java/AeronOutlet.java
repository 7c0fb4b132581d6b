import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.Publication;
import io.aeron.logbuffer.BufferClaim;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.IdleStrategy;

/** The writing end: each event is claimed, written in place and committed. */
final class AeronOutlet {
    /** The number of the event that ends a stream. */
    static final long END = -1;

    private static final long LONGEST_NS = 10_000_000_000L;

    private final ExclusivePublication publication;
    private final BufferClaim claim = new BufferClaim();
    private final int eventBytes;
    private final IdleStrategy wait;

    AeronOutlet(Aeron aeron, String channel, int stream, int eventBytes, IdleStrategy wait) {
        this.publication = aeron.addExclusivePublication(channel, stream);
        this.eventBytes = eventBytes;
        this.wait = wait;
    }

    /** Waits until it knows of its readers, all of which have an image. */
    void connect() throws InterruptedException {
        long begin = System.nanoTime();
        while (!publication.isConnected()) {
            if (System.nanoTime() - begin > LONGEST_NS) {
                throw new IllegalStateException("the readers are missing");
            }
            Thread.sleep(1);
        }
    }

    void send(long number) {
        if (publication.tryClaim(eventBytes, claim) <= 0) {
            claimLater();
        }
        MutableDirectBuffer buffer = claim.buffer();
        int offset = claim.offset();
        for (int at = 0; at < eventBytes; at += Long.BYTES) {
            buffer.putLong(offset + at, number);
        }
        claim.commit();
    }

    /** Waits for room. */
    private void claimLater() {
        wait.reset();
        for (;;) {
            long position = publication.tryClaim(eventBytes, claim);
            if (position > 0) {
                return;
            }
            if (position == Publication.BACK_PRESSURED) {
                wait.idle();
            } else if (position != Publication.ADMIN_ACTION) {
                String reason = Publication.errorString(position);
                throw new IllegalStateException("cannot send: " + reason);
            }
        }
    }
}
