/* The only producer of a ring against a close, on a CPU with a store buffer (TSO, as x86).
 *
 * The producer stores the cursor and then loads the flag of the close, with a compiler fence between them: the store may
 * still be in its buffer. The closer raises the flag, runs `membarrier`, which empties the buffer of the producer's CPU,
 * and reads the cursor (O8). The window is opened in the same way (O33). A producer that finds the flag fixes the end
 * itself if the closer has not done so (O9). Loom and Miri do not see this fence: they run a full fence on both sides.
 *
 * FAULT=1  no `membarrier`
 * FAULT=2  the closer reads the cursor before it raises the flag
 * FAULT=3  a producer that sees the flag does not ask whether its event was counted
 * FAULT=4  the closer overwrites an end that the producer has fixed
 */
#ifndef FAULT
#define FAULT 0
#endif
#define EVENTS 3

mtype = { CURSOR, WINDOW };
chan buffer = [3] of { mtype, byte }; /* stores of the producer that other threads do not see yet */
byte cursor, window, end;             /* what other threads see */
bool has_ended, is_closed;
byte said_ok; /* events of which the producer was told that they are accepted */
bool said_closed;

inline apply(which, value) {
    if
    :: which == CURSOR -> cursor = value
    :: which == WINDOW -> window = value
    fi
}

/* The first one to fix the end counts: a compare-and-swap. */
inline fix_end(value) {
    atomic {
        if
        :: !is_closed -> end = value; is_closed = true
        :: else
        fi
    }
}

active proctype StoreBuffer() {
    mtype which; byte value;
end_drained:
    do
    :: atomic { buffer ? which, value -> apply(which, value) }
    od
}

active proctype Producer() {
    byte published; /* its own view of the cursor */
    byte own_window; /* ... and of the window, if the closer has not set it to 0 since */
    do
    :: published == EVENTS || said_closed -> break
    :: else ->
        /* Claim: within the window without a check. Its own buffered store is what it loads. */
        if
        :: (nempty(buffer) && own_window > published) || (empty(buffer) && window > published)
        :: else ->
            if
            :: has_ended -> said_closed = true; break
            :: else
            fi;
            own_window = published + 2;
            buffer ! WINDOW, own_window;
            if
            :: has_ended -> own_window = 0; buffer ! WINDOW, 0
            :: else
            fi
        fi;
        published++;
        buffer ! CURSOR, published;
        if
        :: !has_ended -> said_ok = published
        :: else ->
            (empty(buffer)); /* the full fence of the slow path */
#if FAULT == 3
            said_ok = published;
#else
            own_window = 0; buffer ! WINDOW, 0;
            fix_end(published);
            if
            :: published <= end -> said_ok = published
            :: else -> said_closed = true
            fi
#endif
        fi
    od
}

active proctype Closer() {
    mtype which; byte value, seen;
#if FAULT == 2
    seen = cursor;
#endif
    has_ended = true;
#if FAULT != 1
    atomic { /* membarrier */
        do
        :: buffer ? which, value -> apply(which, value)
        :: empty(buffer) -> break
        od
    }
#endif
    window = 0;
#if FAULT != 2
    seen = cursor;
#endif
#if FAULT == 4
    end = seen;
    is_closed = true
#else
    fix_end(seen)
#endif
}

/* What the producer was told is what consumers get: the events below the end. */
active proctype Verdict() {
    (is_closed && (said_closed || said_ok == EVENTS) && empty(buffer));
    assert(said_ok == end)
}
