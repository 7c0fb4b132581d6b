import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * Lines of standard input, read by a thread of their own. Their end ends the process at once, even
 * within a run: whoever asked is gone.
 */
final class Requests {
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

    Requests() {
        Thread reader = new Thread(this::read, "requests");
        reader.setDaemon(true);
        reader.start();
    }

    String next() throws InterruptedException {
        return lines.take();
    }

    private void read() {
        try {
            InputStreamReader input = new InputStreamReader(System.in, StandardCharsets.US_ASCII);
            BufferedReader reader = new BufferedReader(input);
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                lines.add(line);
            }
            Runtime.getRuntime().halt(0);
        } catch (IOException failure) {
            Crew.fail(failure);
        }
    }
}
