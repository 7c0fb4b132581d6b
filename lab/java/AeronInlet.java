import io.aeron.Aeron;
import io.aeron.Image;
import io.aeron.Subscription;
import io.aeron.logbuffer.FragmentHandler;
import org.agrona.concurrent.IdleStrategy;

/** The end of a reader. The writing end is there already. */
final class AeronInlet {
    /** Events of one poll at most, as in Aeron's samples. */
    private static final int AT_ONCE = 256;

    private static final long LONGEST_NS = 10_000_000_000L;

    private final Image image;
    private final IdleStrategy wait;

    AeronInlet(Aeron aeron, String channel, int stream, IdleStrategy wait)
            throws InterruptedException {
        Subscription subscription = aeron.addSubscription(channel, stream);
        long begin = System.nanoTime();
        while (subscription.imageCount() == 0) {
            if (System.nanoTime() - begin > LONGEST_NS) {
                throw new IllegalStateException("the writer is missing");
            }
            Thread.sleep(1);
        }
        this.image = subscription.imageAtIndex(0);
        this.wait = wait;
    }

    /** Waits for an event, and passes what is available to {@code take}. */
    void receive(FragmentHandler take) {
        if (image.poll(take, AT_ONCE) > 0) {
            return;
        }
        wait.reset();
        while (image.poll(take, AT_ONCE) == 0) {
            if (image.isClosed()) {
                throw new IllegalStateException("the writer is gone");
            }
            wait.idle();
        }
    }
}
