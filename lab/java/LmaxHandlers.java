import java.util.Arrays;

/** One class of handler for each topology. */
final class LmaxHandlers {
    private LmaxHandlers() {}

    /** Folds every event: unicast and multicast. */
    static final class Folding extends LmaxHandler {
        Folding(long events) {
            super(events);
        }

        @Override
        public void onEvent(Event event, long sequence, boolean endOfBatch) {
            fold = Work.add(fold, event.digest());
            handled(sequence, endOfBatch);
        }
    }

    /** A step of a pipeline. */
    static final class Step extends LmaxHandler {
        private final int number;

        Step(int number, long events) {
            super(events);
            this.number = number;
        }

        @Override
        public void onEvent(Event event, long sequence, boolean endOfBatch) {
            switch (number) {
                case 1:
                    Work.stepOne(event);
                    break;
                case 2:
                    Work.stepTwo(event);
                    break;
                default:
                    fold = Work.add(fold, event.digest());
            }
            handled(sequence, endOfBatch);
        }
    }

    /** Folds the events of each producer on their own. */
    static final class PerProducer extends LmaxHandler {
        final long[] folds = new long[Workload.PRODUCERS];

        PerProducer(long events) {
            super(events);
            Arrays.fill(folds, Work.EMPTY);
        }

        @Override
        public void onEvent(Event event, long sequence, boolean endOfBatch) {
            folds[event.left] = Work.add(folds[event.left], event.digest());
            handled(sequence, endOfBatch);
        }
    }

    /** What a stage of a diamond does. */
    enum Role {
        FIZZ,
        BUZZ,
        JOIN
    }

    /** A stage of a diamond. */
    static final class Diamond extends LmaxHandler {
        private final Role role;

        Diamond(Role role, long events) {
            super(events);
            this.role = role;
        }

        @Override
        public void onEvent(Event event, long sequence, boolean endOfBatch) {
            switch (role) {
                case FIZZ:
                    event.left = Work.fizz(event);
                    break;
                case BUZZ:
                    event.right = Work.buzz(event);
                    break;
                default:
                    both += event.left & event.right;
                    long digest = event.digest();
                    fold = Work.add(fold, Work.withProperties(digest, event.left, event.right));
            }
            handled(sequence, endOfBatch);
        }
    }
}
