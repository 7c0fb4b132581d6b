import java.util.Scanner;
import java.util.concurrent.locks.LockSupport;

/** How much a writer sends: the fields of {@code Amount} of {@code lab/src/load/processes}. */
final class AeronAmount {
    final long delayNs;
    final long timeNs;
    final long events;

    AeronAmount(Scanner words) {
        delayNs = words.nextLong();
        timeNs = words.nextLong();
        events = words.nextLong();
    }

    /** Sleeps to the nanosecond, or as close as the system does: {@code Thread.sleep} rounds. */
    static void sleep(long nanoseconds) {
        long end = System.nanoTime() + nanoseconds;
        for (long left = nanoseconds; left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }
}
