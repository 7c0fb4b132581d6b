import com.lmax.disruptor.EventHandler;

/** A handler of a topology: all have the same beginning and the same end. */
abstract class LmaxHandler extends Stage implements EventHandler<Event> {
    LmaxHandler(long events) {
        super(events);
    }

    @Override
    public final void onStart() {
        running();
    }
}
