import io.aeron.logbuffer.FragmentHandler;
import io.aeron.logbuffer.Header;
import org.agrona.DirectBuffer;

/** Round trips of single events: the work of {@code lab/src/load/processes/exchange.rs}. */
final class AeronExchange {
    private AeronExchange() {
    }

    static String call(AeronOutlet outlet, AeronInlet inlet, AeronAmount amount, long pauseNs) {
        Histogram halves = new Histogram();
        Answers answers = new Answers();
        long begin = System.nanoTime();
        long before = begin;
        long elapsed = 0;
        long exchanges = 0;
        while (exchanges < amount.events && before - begin < amount.timeNs) {
            if (pauseNs > 0) {
                AeronAmount.sleep(pauseNs);
                before = System.nanoTime();
            }
            exchange(outlet, inlet, exchanges, answers);
            long now = System.nanoTime();
            halves.record((now - before) / 2);
            elapsed += now - before;
            before = now;
            exchanges++;
        }
        outlet.send(AeronOutlet.END);
        StringBuilder reply = new StringBuilder("ok called ").append(elapsed).append(' ');
        reply.append(exchanges).append(' ').append(answers.received).append(' ');
        reply.append(Long.toUnsignedString(answers.sum)).append(' ');
        halves.print(reply);
        return reply.toString();
    }

    private static void exchange(
            AeronOutlet outlet, AeronInlet inlet, long number, Answers answers) {
        outlet.send(number);
        long expected = answers.received + 1;
        while (answers.received < expected) {
            inlet.receive(answers);
        }
    }

    static String echo(AeronOutlet outlet, AeronInlet inlet) {
        Number number = new Number();
        for (;;) {
            inlet.receive(number);
            if (number.last == AeronOutlet.END) {
                return "ok";
            }
            outlet.send(number.last);
        }
    }

    /** Counts what comes back. */
    private static final class Answers implements FragmentHandler {
        private long received;
        private long sum;

        @Override
        public void onFragment(DirectBuffer buffer, int offset, int length, Header header) {
            received++;
            sum += AeronStream.digest(buffer, offset, length);
        }
    }

    /** The event that has arrived. */
    private static final class Number implements FragmentHandler {
        private long last;

        @Override
        public void onFragment(DirectBuffer buffer, int offset, int length, Header header) {
            last = buffer.getLong(offset);
        }
    }
}
