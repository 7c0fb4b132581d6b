// The bare exchange of `lapwing ping-pong` in Java: two counters, each written by its own thread.
// Arguments: exchanges. Prints nanoseconds and the sum of what came back.

import java.util.concurrent.atomic.AtomicLongArray;

public final class PingPong {
    // Far apart: 128 bytes to either side belong to nobody else.
    private static final int THERE = 16;
    private static final int BACK = 48;
    private static final AtomicLongArray WORDS = new AtomicLongArray(64);

    // So that the compiler has seen both loops before the clock runs.
    private static final long WARM_UP = 200_000;

    private static void echo(long first, long last) {
        for (long number = first; number <= last; number++) {
            while (WORDS.getAcquire(THERE) != number) {
            }
            WORDS.setRelease(BACK, number);
        }
    }

    private static long call(long first, long last) {
        long sum = 0;
        for (long number = first; number <= last; number++) {
            WORDS.setRelease(THERE, number);
            long answer;
            do {
                answer = WORDS.getAcquire(BACK);
            } while (answer != number);
            sum += answer;
        }
        return sum;
    }

    public static void main(String[] arguments) throws InterruptedException {
        if (arguments.length != 1) {
            System.err.println("usage: PingPong EXCHANGES");
            System.exit(2);
        }
        long exchanges = Long.parseLong(arguments[0]);
        Thread other = new Thread(() -> echo(1, WARM_UP + exchanges));
        other.start();
        call(1, WARM_UP);
        long start = System.nanoTime();
        long sum = call(WARM_UP + 1, WARM_UP + exchanges);
        long elapsed = System.nanoTime() - start;
        other.join();
        System.out.println(elapsed + " " + (sum - WARM_UP * exchanges));
    }
}
