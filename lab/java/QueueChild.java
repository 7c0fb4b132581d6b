/** {@code java.util.concurrent.ArrayBlockingQueue} as a child process of the laboratory. */
final class QueueChild {
    private QueueChild() {}

    public static void main(String[] arguments) throws InterruptedException {
        Child.serve(new QueueRival());
    }
}
