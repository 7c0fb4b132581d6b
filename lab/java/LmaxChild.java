/**
 * The LMAX Disruptor as a child process of the laboratory. Its argument names the wait strategy.
 */
final class LmaxChild {
    private LmaxChild() {}

    public static void main(String[] arguments) throws InterruptedException {
        Child.serve(new LmaxRival(arguments[0]));
    }
}
