/** An event of 32 bytes: plain fields, as an array would be another object. */
final class Event32 extends Event {
    long w0, w1, w2;

    @Override
    void write(int number) {
        long number64 = Integer.toUnsignedLong(number);
        value = number;
        w0 = number64;
        w1 = number64;
        w2 = number64;
    }

    @Override
    long digest() {
        return unsignedValue() + w0 + w1 + w2;
    }
}
