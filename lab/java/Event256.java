/** An event of 256 bytes: plain fields, as an array would be another object. */
final class Event256 extends Event {
    long w0, w1, w2, w3, w4, w5, w6, w7, w8, w9, w10, w11, w12, w13, w14, w15, w16, w17, w18, w19,
        w20, w21, w22, w23, w24, w25, w26, w27, w28, w29, w30;

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
        w7 = number64;
        w8 = number64;
        w9 = number64;
        w10 = number64;
        w11 = number64;
        w12 = number64;
        w13 = number64;
        w14 = number64;
        w15 = number64;
        w16 = number64;
        w17 = number64;
        w18 = number64;
        w19 = number64;
        w20 = number64;
        w21 = number64;
        w22 = number64;
        w23 = number64;
        w24 = number64;
        w25 = number64;
        w26 = number64;
        w27 = number64;
        w28 = number64;
        w29 = number64;
        w30 = number64;
    }

    @Override
    long digest() {
        return unsignedValue() + w0 + w1 + w2 + w3 + w4 + w5 + w6 + w7 + w8 + w9 + w10 + w11 +
                w12 + w13 + w14 + w15 + w16 + w17 + w18 + w19 + w20 + w21 + w22 + w23 + w24 + w25 +
                w26 + w27 + w28 + w29 + w30;
    }
}
