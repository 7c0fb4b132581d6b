import java.util.Scanner;

/**
 * The protocol: a request on one line, its reply on one line, for ever.
 *
 * <pre>
 *   run TOPOLOGY EVENTS RING EVENT_BYTES PUBLISH PLACEMENT
 *   share PRODUCERS CONSUMERS EVENTS RING PLACEMENT
 *   ping-pong SLOTS EXCHANGES PLACEMENT
 *   latency INTERVAL_NS EVENTS RING PLACEMENT
 * </pre>
 */
final class Child {
    private final Rival rival;
    private final WarmUp warmUp = new WarmUp();

    private Child(Rival rival) {
        this.rival = rival;
    }

    static void serve(Rival rival) throws InterruptedException {
        Child child = new Child(rival);
        Requests requests = new Requests();
        for (;;) {
            System.out.println(child.reply(requests.next()));
        }
    }

    private String reply(String request) {
        try (Scanner words = new Scanner(request)) {
            switch (words.next()) {
                case "run":
                    return run(words);
                case "share":
                    return share(words);
                case "ping-pong":
                    return pingPong(words);
                case "latency":
                    return latency(words);
                default:
                    return "error unknown request: " + request;
            }
        } catch (Exception | OutOfMemoryError failure) {
            return "error " + failure.toString().replace('\n', ' ');
        }
    }

    private String run(Scanner words) throws Exception {
        String topology = words.next();
        long events = words.nextLong();
        int ring = words.nextInt();
        int bytes = words.nextInt();
        int batch = batch(words.next());
        Placement placement = new Placement(words.next());
        Workload workload =
                new Workload(topology, events, ring, Event.maker(bytes), batch, placement);
        String shape = topology + '-' + bytes + '-' + batch;
        warmUp.before(shape, events, some -> rival.run(workload.of(some)));
        return rival.run(workload).reply();
    }

    private String share(Scanner words) throws Exception {
        int producers = words.nextInt();
        int consumers = words.nextInt();
        long events = words.nextLong();
        int ring = words.nextInt();
        Placement placement = new Placement(words.next());
        Sharing sharing = new Sharing(producers, consumers, events, ring, placement);
        warmUp.before("share", events, some -> rival.share(sharing.of(some)));
        return rival.share(sharing).reply();
    }

    private String pingPong(Scanner words) throws Exception {
        int slots = words.nextInt();
        long exchanges = words.nextLong();
        Placement placement = new Placement(words.next());
        warmUp.before("ping-pong", exchanges, some -> rival.pingPong(slots, some, placement));
        return rival.pingPong(slots, exchanges, placement).reply();
    }

    private String latency(Scanner words) throws Exception {
        double intervalNs = Double.parseDouble(words.next());
        long events = words.nextLong();
        int ring = words.nextInt();
        Pace pace = new Pace(intervalNs, events, ring, new Placement(words.next()));
        warmUp.before("latency", events, some -> rival.latency(pace.burst(some)));
        return rival.latency(pace);
    }

    /** How many events a producer publishes at once: {@code one} or {@code batch:N}. */
    private static int batch(String publish) {
        return publish.equals("one") ? 1 : Integer.parseInt(publish.replace("batch:", ""));
    }
}
