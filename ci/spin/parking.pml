/* Parking on an event count, on a CPU with a store buffer (TSO, as x86): two stages side by side gate one producer.
 *
 * A thread that advances a sequence stores it and then loads the mark, with a compiler fence between them. A thread that
 * parks sets the mark, runs `membarrier`, which empties the store buffers of all CPUs, and checks the sequence (O6). The
 * producer parks at the event count of the slowest stage. A lost wake-up is a deadlock, which Spin reports as an
 * invalid end state.
 *
 * FAULT=1  no `membarrier`
 * FAULT=2  no check after the mark
 * FAULT=3  the producer parks at the stage that is ahead
 * FAULT=4  the wake-up clears the mark after it has woken, not before
 */
#ifndef FAULT
#define FAULT 0
#endif
#define EVENTS 3
#define CAPACITY 1
#define THREADS 3 /* 0: the producer; 1 and 2: the stages */

byte buffered[THREADS], seen_by_others[THREADS]; /* the sequence of each thread, in its store buffer and in memory */
bool mark[THREADS];                              /* the event count of each sequence: mark, epoch, sleepers */
byte epoch[THREADS];

inline drain(thread) { seen_by_others[thread] = buffered[thread] }

inline membarrier() {
#if FAULT == 1
    skip
#else
    atomic { drain(0); drain(1); drain(2) }
#endif
}

/* Stores leave a buffer at any time. */
active [THREADS] proctype StoreBuffer() {
end_drained:
    do
    :: atomic { seen_by_others[_pid] != buffered[_pid] -> drain(_pid) }
    od
}

inline advance(me, value) {
    buffered[me] = value;
    if
    :: mark[me] ->
#if FAULT == 4
        atomic { drain(me); epoch[me] = (epoch[me] + 1) % 4 };
        mark[me] = false
#else
        atomic { drain(me); mark[me] = false; epoch[me] = (epoch[me] + 1) % 4 } /* one atomic word */
#endif
    :: else
    fi
}

/* Waits until the sequence of `other` is more than `least`. */
inline park(other, least, seen) {
    do
    :: seen_by_others[other] > least -> break
    :: else ->
        atomic { mark[other] = true; seen = epoch[other] };
        membarrier();
        if
#if FAULT != 2
        :: seen_by_others[other] > least -> break
#endif
        :: else -> (epoch[other] != seen)
        fi
    od
}

proctype Producer() {
    byte next, gate, seen;
    do
    :: next == EVENTS -> break
    :: else ->
        /* Free slots: both stages have finished the event of a lap ago. */
        do
        :: next < CAPACITY + seen_by_others[1] && next < CAPACITY + seen_by_others[2] -> break
        :: else ->
#if FAULT == 3
            gate = (seen_by_others[1] > seen_by_others[2] -> 1 : 2);
            atomic { mark[gate] = true; seen = epoch[gate] };
            membarrier();
            (epoch[gate] != seen)
#else
            gate = (seen_by_others[1] < seen_by_others[2] -> 1 : 2);
            if
            :: next >= CAPACITY + seen_by_others[gate] -> park(gate, next - CAPACITY, seen)
            :: else
            fi
#endif
        od;
        next++;
        advance(0, next)
    od
}

proctype Stage(byte me) {
    byte next, seen;
    do
    :: next == EVENTS -> break
    :: else ->
        park(0, next, seen);
        next++;
        advance(me, next)
    od
}

init {
    atomic { run Producer(); run Stage(1); run Stage(2) }
}
