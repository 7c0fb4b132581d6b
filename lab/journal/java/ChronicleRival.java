// Chronicle Queue as a child process: a request on one line, its reply on one line, until the input ends.
//
//   append SYNCED EVENTS_OF_A_BATCH NANOSECONDS FOLDER     reply EVENTS NANOSECONDS
//   delays EVENTS_PER_SECOND NANOSECONDS FOLDER            reply VALUE:COUNT,VALUE:COUNT,...
//
// SYNCED is true or false. Each request uses a new queue, which must then have each event once. The reply to a failure
// begins with "error".
//
// What a sync does, by the sources of 5.25ea16: `appender.sync()` calls msync for the pages since the last sync, with the
// mode of the queue. The default mode is MS_ASYNC, which writes nothing on Linux. So the queue gets the mode SYNC: msync
// with MS_SYNC, which Linux carries out as an fdatasync of these pages.

import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import net.openhft.chronicle.bytes.Bytes;
import net.openhft.chronicle.bytes.SyncMode;
import net.openhft.chronicle.queue.ChronicleQueue;
import net.openhft.chronicle.queue.ExcerptAppender;
import net.openhft.chronicle.queue.ExcerptTailer;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueueBuilder;

public final class ChronicleRival {
    private static final int EVENT_BYTES = 64;
    private static final long BLOCK_BYTES = 64L << 20;
    private static final int LONGEST_US = 2_000_000;

    private ChronicleRival() {}

    public static void main(String[] arguments) throws Exception {
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in));
        for (String request = requests.readLine(); request != null; request = requests.readLine()) {
            System.out.println(reply(request));
        }
        System.exit(0);
    }

    private static String reply(String request) {
        try {
            // A folder may have spaces.
            String[] words = request.split(" ", request.startsWith("append") ? 5 : 4);
            File folder = new File(words[words.length - 1]);
            switch (words[0]) {
                case "append":
                    return "reply " + append(folder, Boolean.parseBoolean(words[1]), Integer.parseInt(words[2]),
                            Long.parseLong(words[3]));
                case "delays":
                    return "reply " + delays(folder, Long.parseLong(words[1]), Long.parseLong(words[2]));
                default:
                    return "error unknown request " + words[0];
            }
        } catch (Exception | Error failure) {
            return "error " + failure.toString().replace('\n', ' ');
        }
    }

    private static ChronicleQueue open(File folder) {
        return SingleChronicleQueueBuilder.single(folder).blockSize(BLOCK_BYTES).syncMode(SyncMode.SYNC).build();
    }

    /// Appends batches, each as one excerpt.
    private static String append(File folder, boolean isSynced, int batch, long time) {
        long next = 0, taken;
        try (ChronicleQueue queue = open(folder); ExcerptAppender appender = queue.createAppender()) {
            Bytes<?> bytes = Bytes.allocateDirect((long) batch * EVENT_BYTES);
            long begun = System.nanoTime();
            while (System.nanoTime() - begun < time) {
                fill(bytes, next, batch);
                appender.writeBytes(bytes);
                next += batch;
                if (isSynced) appender.sync();
            }
            taken = System.nanoTime() - begun;
            bytes.releaseLast();
        }
        check(folder, next);
        return next + " " + taken;
    }

    /// One thread appends and syncs all events that are due, as the bare group commit does.
    private static String delays(File folder, long rate, long time) {
        // Counts of microseconds, without garbage. The last one is for all longer delays.
        long[] delays = new long[LONGEST_US + 1];
        long next = 0;
        try (ChronicleQueue queue = open(folder); ExcerptAppender appender = queue.createAppender()) {
            Bytes<?> bytes = Bytes.elasticByteBuffer();
            long begun = System.nanoTime();
            for (long passed = 0; passed < time; passed = System.nanoTime() - begun) {
                long due = (long) (passed * (rate / 1e9));
                if (due <= next) {
                    Thread.onSpinWait();
                    continue;
                }
                fill(bytes, next, (int) (due - next));
                appender.writeBytes(bytes);
                appender.sync();
                long now = System.nanoTime() - begun;
                for (; next < due; next++) delays[microseconds(now - next * 1_000_000_000L / rate)]++;
            }
            bytes.releaseLast();
        }
        check(folder, next);
        StringBuilder reply = new StringBuilder();
        for (int us = 0; us <= LONGEST_US; us++) {
            if (delays[us] == 0) continue;
            reply.append(reply.length() > 0 ? "," : "").append(us * 1000L).append(':').append(delays[us]);
        }
        return reply.toString();
    }

    private static int microseconds(long nanoseconds) {
        return (int) Math.min((nanoseconds + 500) / 1000, LONGEST_US);
    }

    private static void fill(Bytes<?> bytes, long next, int events) {
        bytes.clear();
        for (int event = 0; event < events; event++) {
            bytes.writeLong(next + event);
            for (int word = 1; word < EVENT_BYTES / 8; word++) bytes.writeLong(0);
        }
    }

    private static void check(File folder, long events) {
        long next = 0;
        try (ChronicleQueue queue = open(folder); ExcerptTailer tailer = queue.createTailer()) {
            Bytes<?> bytes = Bytes.elasticByteBuffer();
            for (bytes.clear(); tailer.readBytes(bytes); bytes.clear()) {
                while (bytes.readRemaining() >= EVENT_BYTES) {
                    long found = bytes.readLong();
                    if (found != next) throw new IllegalStateException("found " + found + " in place of " + next);
                    bytes.readSkip(EVENT_BYTES - 8);
                    next++;
                }
                if (bytes.readRemaining() > 0) throw new IllegalStateException("an event is torn");
            }
            bytes.releaseLast();
        }
        if (next != events) throw new IllegalStateException(next + " of " + events + " events");
    }
}
