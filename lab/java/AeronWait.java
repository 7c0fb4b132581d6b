import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.BusySpinIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.YieldingIdleStrategy;

/** Aeron's idle strategies by the names of the laboratory. */
final class AeronWait {
    private AeronWait() {
    }

    static IdleStrategy of(String wait) {
        switch (wait) {
            case "spin":
                return new BusySpinIdleStrategy();
            case "yield":
                return new YieldingIdleStrategy();
            case "sleep":
                return new BackoffIdleStrategy();
            default:
                throw new IllegalArgumentException("unknown wait: " + wait);
        }
    }
}
