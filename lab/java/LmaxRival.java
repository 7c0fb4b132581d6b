import com.lmax.disruptor.BlockingWaitStrategy;
import com.lmax.disruptor.BusySpinWaitStrategy;
import com.lmax.disruptor.SleepingWaitStrategy;
import com.lmax.disruptor.WaitStrategy;
import com.lmax.disruptor.YieldingWaitStrategy;

/** One ring for the whole graph, events written and read in place. */
final class LmaxRival implements Rival {
    private final String wait;

    LmaxRival(String wait) {
        this.wait = wait;
        waitStrategy(); // refuses an unknown name now
    }

    @Override
    public Finish run(Workload workload) throws Exception {
        return new LmaxTopologies(workload, waitStrategy()).run();
    }

    @Override
    public Finish share(Sharing sharing) throws Exception {
        return new LmaxSharing(sharing).run(waitStrategy());
    }

    @Override
    public Finish pingPong(int slots, long exchanges, Placement placement)
            throws Exception {
        return new LmaxPingPong(exchanges, placement).run(slots, waitStrategy(), waitStrategy());
    }

    @Override
    public String latency(Pace pace) throws Exception {
        return new LmaxLatency(pace).run(waitStrategy());
    }

    private WaitStrategy waitStrategy() {
        switch (wait) {
            case "busy-spin":
                return new BusySpinWaitStrategy();
            case "yielding":
                return new YieldingWaitStrategy();
            case "sleeping":
                return new SleepingWaitStrategy();
            case "blocking":
                return new BlockingWaitStrategy();
            default:
                throw new IllegalArgumentException("unknown wait strategy: " + wait);
        }
    }
}
