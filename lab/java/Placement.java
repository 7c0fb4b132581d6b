import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;

/**
 * Which CPU each thread runs on: {@code free}, or {@code pinned:C0,C1,..} in the order of the
 * threads, producers first. Java has no call for it, so {@code taskset} binds the thread, before
 * the clock runs.
 */
final class Placement {
    private final String[] cpus;

    /** Reads the word of a request. */
    Placement(String word) {
        String list = word.equals("free") ? "" : word.replace("pinned:", "");
        cpus = list.isEmpty() ? new String[0] : list.split(",");
    }

    /** Binds the calling thread, which is the one of this number. */
    void pin(int thread) throws IOException, InterruptedException {
        if (cpus.length == 0) {
            return;
        }
        if (thread >= cpus.length) {
            throw new IOException("too few CPUs to pin to: cpus=" + cpus.length);
        }
        Path self = Files.readSymbolicLink(Paths.get("/proc/thread-self"));
        String id = self.getFileName().toString();
        Process taskset = new ProcessBuilder("taskset", "-p", "-c", cpus[thread], id)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        if (taskset.waitFor() != 0) {
            throw new IOException("cannot pin a thread: cpu=" + cpus[thread]);
        }
    }
}
