import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import org.agrona.concurrent.IdleStrategy;

/**
 * The media driver, set up as in Aeron's own {@code aeron-ipc.properties}: one thread for all its
 * work, and files without holes.
 */
final class AeronDriver {
    private AeronDriver() {
    }

    /** Serves clients until it is told to end. */
    static void serve(String folder, IdleStrategy wait) throws InterruptedException {
        Requests requests = new Requests();
        MediaDriver.Context context = new MediaDriver.Context()
                .aeronDirectoryName(folder)
                .dirDeleteOnShutdown(true)
                .threadingMode(ThreadingMode.SHARED)
                .sharedIdleStrategy(wait)
                .termBufferSparseFile(false);
        try (MediaDriver driver = MediaDriver.launch(context)) {
            for (String order = ""; !order.equals("end"); ) {
                order = requests.next();
                if (order.equals("begin")) {
                    System.out.println("ok");
                }
            }
        }
        System.out.println("ok");
    }
}
