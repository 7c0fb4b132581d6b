/** An event of one word. */
final class Event8 extends Event {
    @Override
    void write(int number) {
        value = number;
    }

    @Override
    long digest() {
        return unsignedValue();
    }
}
