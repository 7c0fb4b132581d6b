import com.lmax.disruptor.EventFactory;
import com.lmax.disruptor.ExceptionHandler;
import com.lmax.disruptor.RingBuffer;
import com.lmax.disruptor.WaitStrategy;
import com.lmax.disruptor.dsl.Disruptor;
import com.lmax.disruptor.dsl.ProducerType;
import java.util.ArrayList;
import java.util.List;

/**
 * A Disruptor whose consumers run before the clock does. The clock stops when the last stage has
 * seen the last event.
 */
final class LmaxGraph<T> {
    final Disruptor<T> disruptor;
    private final List<Thread> threads = new ArrayList<>();
    private Placement placement = new Placement("free");
    private int firstNumber;

    LmaxGraph(EventFactory<T> factory, int ring, ProducerType producers, WaitStrategy wait) {
        disruptor = new Disruptor<>(factory, ring, this::thread, producers, wait);
        disruptor.setDefaultExceptionHandler(new EndProcess<>());
    }

    /** The consumers are placed from the thread of this number on. */
    void place(Placement where, int number) {
        placement = where;
        firstNumber = number;
    }

    private Thread thread(Runnable consumer) {
        int number = firstNumber + threads.size();
        Thread thread = new Thread(() -> work(number, consumer), "consumer-" + threads.size());
        threads.add(thread);
        return thread;
    }

    private void work(int number, Runnable consumer) {
        try {
            placement.pin(number);
            consumer.run();
        } catch (Throwable failure) {
            Crew.fail(failure);
        }
    }

    /** Starts the consumers. */
    RingBuffer<T> start(Stage... stages) throws InterruptedException {
        disruptor.start();
        for (Stage stage : stages) {
            stage.awaitStart();
        }
        return disruptor.getRingBuffer();
    }

    /** When the last of {@code stages} saw the last event. */
    static long awaitEnd(Stage... stages) throws InterruptedException {
        long end = Long.MIN_VALUE;
        for (Stage stage : stages) {
            end = Math.max(end, stage.awaitEnd());
        }
        return end;
    }

    /** Ends the consumers, which would else go on waiting. */
    void halt() throws InterruptedException {
        disruptor.halt();
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** An exception in a handler would else be logged and the event be skipped. */
    private static final class EndProcess<T> implements ExceptionHandler<T> {
        @Override
        public void handleEventException(Throwable failure, long sequence, T event) {
            Crew.fail(failure);
        }

        @Override
        public void handleOnStartException(Throwable failure) {
            Crew.fail(failure);
        }

        @Override
        public void handleOnShutdownException(Throwable failure) {
            Crew.fail(failure);
        }
    }
}
