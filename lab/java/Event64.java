/** An event of 64 bytes: plain fields, as an array would be another object. */
final class Event64 extends Event {
    long w0, w1, w2, w3, w4, w5, w6;

    @Override
    void write(int number) {
        long number64 = Integer.toUnsignedLong(number);
        value = number;
        w0 = number64;
        w1 = number64;
        w2 = number64;
        w3 = number64;
        w4 = number64;
        w5 = number64;
        w6 = number64;
    }

    @Override
    long digest() {
        return unsignedValue() + w0 + w1 + w2 + w3 + w4 + w5 + w6;
    }
}
