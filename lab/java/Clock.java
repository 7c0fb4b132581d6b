import java.lang.management.ManagementFactory;

/** Time and CPU time since the release of the threads. */
final class Clock {
    private static final com.sun.management.OperatingSystemMXBean SYSTEM =
            (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private final long cpuAtStart = SYSTEM.getProcessCpuTime();
    private final long start = System.nanoTime();

    /** A run whose last thread was done at {@code end}. */
    Finish stop(long end, long batches, long... answers) {
        return new Finish(end - start, SYSTEM.getProcessCpuTime() - cpuAtStart, batches, answers);
    }
}
