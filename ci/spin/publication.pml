/* Several producers and a pipeline of two stages: claim, event, stamp, tombstone, gate, close and drain.
 *
 * Spin interleaves whole statements, so this shows what the algorithm does if every access is sequentially
 * consistent. What the orderings carry is shown by the models of loom.
 *
 * FAULT=1  a close reads the counter and closes it in two steps
 * FAULT=2  the gate is one slot too far
 * FAULT=3  a producer stamps a slot before it has written the event
 * FAULT=4  a reader does not compare the lap of a stamp
 * FAULT=5  the gate is the first stage and not the last
 */
#ifndef FAULT
#define FAULT 0
#endif
#define CAPACITY 2
#define PRODUCERS 2
#define CLAIMS 2 /* of each producer */
#define ALL (PRODUCERS * CLAIMS)
#define SLOT(sequence) ((sequence) % CAPACITY)
#define LAP(sequence) ((sequence) / CAPACITY + 1)

byte counter, end, accepted, refused;
bool claims_closed, is_closed;
byte stamp_lap[CAPACITY];
bool stamp_is_tombstone[CAPACITY];
byte event[CAPACITY];    /* sequence + 1 once it is written */
byte users[CAPACITY];    /* threads that use the slot at this moment */
byte done[2];            /* sequence of each stage */
bool was_abandoned[ALL];
byte handled[2];

inline enter(slot) { atomic { assert(users[slot] == 0); users[slot] = 1 } }
inline leave(slot) { users[slot] = 0 }

proctype Producer() {
    byte made, claim, gate;
    bool abandons, has_claimed;
    do
    :: made == CLAIMS -> break
    :: else ->
        has_claimed = false;
        do
        :: has_claimed || claims_closed -> break
        :: else ->
            claim = counter;
#if FAULT == 5
            gate = done[0];
#else
            gate = done[1];
#endif
            if
#if FAULT == 2
            :: claim < gate + CAPACITY + 1 ->
#else
            :: claim < gate + CAPACITY ->
#endif
                atomic { /* compare-and-swap of the counter and its closed bit */
                    if
                    :: counter == claim && !claims_closed -> counter++; has_claimed = true
                    :: else
                    fi
                }
            :: else -> /* full: until something changes */
                (done[1] != gate || counter != claim || claims_closed)
            fi
        od;
        if
        :: !has_claimed -> refused++; break
        :: else
        fi;
        made++;
        if :: abandons = true :: abandons = false fi;
#if FAULT == 3
        atomic { stamp_is_tombstone[SLOT(claim)] = abandons; stamp_lap[SLOT(claim)] = LAP(claim) };
#endif
        if
        :: abandons -> was_abandoned[claim] = true
        :: else -> enter(SLOT(claim)); event[SLOT(claim)] = claim + 1; leave(SLOT(claim)); accepted++
        fi;
#if FAULT != 3
        atomic { stamp_is_tombstone[SLOT(claim)] = abandons; stamp_lap[SLOT(claim)] = LAP(claim) }
#endif
    od
}

/* The first stage reads the stamps, the second one the sequence of the first and the fate in the stamps. */
proctype Stage(byte me) {
    byte next;
    bool is_ready;
    do
    :: is_closed && next == end -> break
    :: else ->
        if
#if FAULT == 4
        :: me == 0 -> is_ready = stamp_lap[SLOT(next)] != 0
#else
        :: me == 0 -> is_ready = stamp_lap[SLOT(next)] == LAP(next)
#endif
        :: me == 1 -> is_ready = done[0] > next
        fi;
        if
        :: is_ready ->
            assert(!is_closed || next < end);
            if
            :: stamp_is_tombstone[SLOT(next)] -> assert(was_abandoned[next])
            :: else ->
                enter(SLOT(next));
                assert(event[SLOT(next)] == next + 1 && !was_abandoned[next]);
                handled[me]++;
                leave(SLOT(next))
            fi;
            next++;
            done[me] = next
        :: else ->
            (me == 0 && stamp_lap[SLOT(next)] == LAP(next) || me == 1 && done[0] > next || is_closed && next == end)
        fi
    od
}

proctype Closer() {
#if FAULT == 1
    end = counter;
    claims_closed = true;
#else
    atomic { claims_closed = true; end = counter }
#endif
    is_closed = true
}

init {
    atomic { run Producer(); run Producer(); run Stage(0); run Stage(1); run Closer() }
    (_nr_pr == 1);
    assert(end == counter && handled[0] == accepted && handled[1] == accepted)
}
