import io.aeron.Aeron;
import java.util.Scanner;
import org.agrona.concurrent.IdleStrategy;

/**
 * A process of a run over Aeron: the media driver, or one that writes, reads, calls or echoes. It
 * obeys the orders of {@code lab/src/contenders/processes/words.rs}: one on each line, and a line
 * that answers it.
 *
 * <pre>
 *   driver FOLDER WAIT
 *   end FOLDER WAIT TERM_BYTES EVENT_BYTES
 * </pre>
 */
final class AeronChild {
    private static final int FIRST_STREAM = 1;

    private final Requests requests = new Requests();
    private final IdleStrategy wait;
    private final Aeron aeron;
    private final String channel;
    private final int eventBytes;
    private AeronOutlet outlet;
    private AeronInlet inlet;

    private AeronChild(String folder, IdleStrategy wait, String termBytes, String eventBytes) {
        this.wait = wait;
        this.channel = "aeron:ipc?term-length=" + termBytes;
        this.eventBytes = Integer.parseInt(eventBytes);
        Aeron.Context context =
                new Aeron.Context().aeronDirectoryName(folder).preTouchMappedMemory(true);
        this.aeron = Aeron.connect(context);
    }

    public static void main(String[] arguments) {
        try {
            String folder = arguments[1];
            if (arguments[0].equals("driver")) {
                AeronDriver.serve(folder, AeronWait.of(arguments[2]));
            } else {
                IdleStrategy wait = AeronWait.of(arguments[2]);
                new AeronChild(folder, wait, arguments[3], arguments[4]).serve();
            }
            Runtime.getRuntime().halt(0);
        } catch (Throwable failure) {
            Crew.fail(failure);
        }
    }

    private void serve() throws InterruptedException {
        for (String order = requests.next(); !order.equals("end"); order = requests.next()) {
            System.out.println(reply(order));
        }
        aeron.close();
        System.out.println("ok");
    }

    private String reply(String order) {
        try (Scanner words = new Scanner(order)) {
            return obey(words.next(), words);
        } catch (Exception failure) {
            return "error " + failure.toString().replace('\n', ' ');
        }
    }

    private String obey(String order, Scanner words) throws Exception {
        switch (order) {
            case "create":
                outlet = new AeronOutlet(aeron, channel, stream(words), eventBytes, wait);
                return "ok";
            case "open":
                inlet = new AeronInlet(aeron, channel, stream(words), wait);
                return "ok";
            case "begin":
                if (outlet != null) {
                    outlet.connect();
                }
                new Placement(words.next()).pin(0);
                return "ok";
            case "write":
                return AeronStream.write(outlet, new AeronAmount(words));
            case "read":
                return AeronStream.read(inlet);
            case "call":
                return AeronExchange.call(outlet, inlet, new AeronAmount(words), words.nextLong());
            case "echo":
                return AeronExchange.echo(outlet, inlet);
            default:
                return "error unknown order: " + order;
        }
    }

    private static int stream(Scanner words) {
        return words.next().equals("there") ? FIRST_STREAM : FIRST_STREAM + 1;
    }
}
