import io.aeron.logbuffer.FragmentHandler;
import io.aeron.logbuffer.Header;
import org.agrona.DirectBuffer;

/**
 * Many events one way: the work of {@code lab/src/load/processes/stream.rs}. On Linux,
 * {@code System.nanoTime} is the monotonic clock, which all processes share.
 */
final class AeronStream {
    /** Events between two looks at the clock. */
    private static final long BLOCK = 256;

    private AeronStream() {
    }

    static String write(AeronOutlet outlet, AeronAmount amount) {
        AeronAmount.sleep(amount.delayNs);
        long began = System.nanoTime();
        long events = 0;
        while (events < amount.events && System.nanoTime() - began < amount.timeNs) {
            long end = Math.min(events + BLOCK, amount.events);
            writeBlock(outlet, events, end);
            events = end;
        }
        outlet.send(AeronOutlet.END);
        return "ok sent " + began + ' ' + events;
    }

    private static void writeBlock(AeronOutlet outlet, long begin, long end) {
        for (long number = begin; number < end; number++) {
            outlet.send(number);
        }
    }

    static String read(AeronInlet inlet) {
        Reader reader = new Reader();
        long batches = 0;
        while (!reader.hasEnded) {
            inlet.receive(reader);
            batches++;
        }
        long ended = System.nanoTime();
        return "ok got " + ended + ' ' + reader.events + ' '
                + Long.toUnsignedString(reader.answer) + ' ' + batches;
    }

    /** Returns a number that depends on every word. */
    static long digest(DirectBuffer buffer, int offset, int length) {
        long sum = 0;
        for (int at = 0; at < length; at += Long.BYTES) {
            sum += buffer.getLong(offset + at);
        }
        return sum;
    }

    /** Computes what {@code lab/src/load/fold.rs} does. */
    private static final class Reader implements FragmentHandler {
        private static final int ROTATION_BITS = 5;

        private long answer = 0x9E37_79B9_7F4A_7C15L;
        private long events;
        private boolean hasEnded;

        @Override
        public void onFragment(DirectBuffer buffer, int offset, int length, Header header) {
            if (buffer.getLong(offset) == AeronOutlet.END) {
                hasEnded = true;
                return;
            }
            answer = Long.rotateLeft(answer, ROTATION_BITS) ^ digest(buffer, offset, length);
            events++;
        }
    }
}
