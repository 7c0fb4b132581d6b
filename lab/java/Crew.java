import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Threads that start together; the last one's end stops the clock. A job that throws ends the
 * process: its neighbours would wait for ever.
 */
final class Crew {
    /** What a thread does between the start and its end. */
    interface Job {
        void run() throws Exception;
    }

    private final List<Thread> threads = new ArrayList<>();
    private final List<CountDownLatch> arrivals = new ArrayList<>();
    private final CountDownLatch start = new CountDownLatch(1);
    private final Placement placement;
    private long lastEnd = Long.MIN_VALUE;

    Crew(Placement placement) {
        this.placement = placement;
    }

    void enlist(String name, Job job) {
        CountDownLatch arrived = new CountDownLatch(1);
        int number = threads.size();
        arrivals.add(arrived);
        threads.add(new Thread(() -> work(number, arrived, job), name));
    }

    private void work(int number, CountDownLatch arrived, Job job) {
        try {
            placement.pin(number);
            arrived.countDown();
            start.await();
            job.run();
            ended(System.nanoTime());
        } catch (Throwable failure) {
            fail(failure);
        }
    }

    private synchronized void ended(long now) {
        lastEnd = Math.max(lastEnd, now);
    }

    /** Says why, and ends the process. */
    static void fail(Throwable failure) {
        System.err.println(Thread.currentThread().getName() + ": " + failure);
        Runtime.getRuntime().halt(1);
    }

    /** Releases all threads once all are there. */
    Clock release() throws InterruptedException {
        for (Thread thread : threads) {
            thread.start();
        }
        for (CountDownLatch arrived : arrivals) {
            arrived.await();
        }
        Clock clock = new Clock();
        start.countDown();
        return clock;
    }

    /** Waits for all threads; when the last was done. */
    long join() throws InterruptedException {
        for (Thread thread : threads) {
            thread.join();
        }
        synchronized (this) {
            return lastEnd;
        }
    }
}
