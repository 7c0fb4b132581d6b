//! Tests what each publishing call answers in each state of a ring: the exact sequences or the
//! exact error, and that a refused call changes nothing. A state is a line of `STATES`; the calls
//! are those of `calls`. Not here: calls that only their own thread could unblock
//! (`self_deadlock`).

use std::thread;
use std::time::Instant;

use crate::calls::{Call, Expected, Policy, Size, reason};
use crate::common::{Kind, MOMENT, ProducerOf, forget};
use crate::rings::{drain, ring_with_poller};
use lapwing::Poller;
use lapwing::error::{BatchError, HaltCause};
use lapwing::producer::WhenFull;

crate::common::for_both_producers! {
    each_call_answers_by_the_state_of_the_ring,
    each_call_of_an_odd_size_answers_by_the_state_of_the_ring,
    each_call_answers_alike_at_every_capacity,
    a_call_that_waits_ends_with_the_ring,
    a_policy_holds_for_its_own_call_and_for_no_other,
}

const CAPACITY: usize = 4;

/// How far a ring of four slots has got, and how it ended.
#[derive(Debug, Clone, Copy)]
struct State {
    published: u64,
    consumed: u64,
    end: End,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    Open,
    Closed,
    /// The last consumer has left, which halts a ring unless it was closed and is drained.
    Left,
    ClosedAndLeft,
}

const fn state(published: u64, consumed: u64, end: End) -> State {
    State { published, consumed, end }
}

const STATES: [State; 18] = [
    state(0, 0, End::Open),
    state(3, 0, End::Open),
    state(4, 0, End::Open),
    state(6, 4, End::Open),
    state(7, 3, End::Open),
    state(6, 6, End::Open),
    state(0, 0, End::Closed),
    state(2, 1, End::Closed),
    state(4, 0, End::Closed),
    state(4, 4, End::Closed),
    state(0, 0, End::Left),
    state(2, 2, End::Left),
    state(4, 0, End::Left),
    state(0, 0, End::ClosedAndLeft),
    state(2, 0, End::ClosedAndLeft),
    state(2, 2, End::ClosedAndLeft),
    state(4, 0, End::ClosedAndLeft),
    state(6, 6, End::ClosedAndLeft),
];

impl State {
    /// Makes a ring in this state, whose events equal their sequences.
    fn build<K: Kind>(self, capacity: usize) -> (ProducerOf<u64, K>, Option<Poller<u64>>) {
        let (mut producer, mut poller) = ring_with_poller::<K>(capacity);
        for sequence in 0..self.published {
            assert_eq!(producer.publish(|event| *event = sequence), Ok(sequence));
            if sequence < self.consumed {
                poller.poll().unwrap().consume(1);
            }
        }
        if matches!(self.end, End::Closed | End::ClosedAndLeft) {
            producer.close();
            producer.close();
        }
        let has_left = matches!(self.end, End::Left | End::ClosedAndLeft);
        (producer, (!has_left).then_some(poller))
    }

    /// Returns the error of every call with a possible size, if the ring has ended.
    fn stopped(self) -> Option<BatchError> {
        let is_drained = self.published == self.consumed;
        match self.end {
            End::Open => None,
            End::ClosedAndLeft if !is_drained => Some(BatchError::Halted(HaltCause::NoConsumers)),
            End::Closed | End::ClosedAndLeft => Some(BatchError::Closed),
            End::Left => Some(BatchError::Halted(HaltCause::NoConsumers)),
        }
    }

    fn expected(self, call: Call, capacity: usize) -> Expected {
        let stopped = self.stopped().map(reason);
        match call.impossible(capacity).or(stopped) {
            Some(error) => Expected::Answers(Err(error)),
            None => call.expected(capacity, self.published, self.free(capacity), false),
        }
    }

    fn free(self, capacity: usize) -> usize {
        capacity - (self.published - self.consumed) as usize
    }

    /// Makes `call` in this state. Checks its answer, and that the ring then has the events that
    /// it had and those that the answer speaks of, and no others.
    fn check<K: Kind>(self, call: Call, capacity: usize) {
        let (mut producer, poller) = self.build::<K>(capacity);
        let free = if poller.is_some() { self.free(capacity) } else { 0 };
        assert_eq!(producer.free_slots(), free, "{self:?}");
        let begin = Instant::now();
        let answer = match self.expected(call, capacity) {
            Expected::Answers(expected) => {
                let answer = call.make(&mut producer, 100);
                assert_eq!(answer, expected, "{call:?} {self:?}");
                answer
            }
            Expected::Waits => {
                self.check_wait::<K>(call, capacity, producer, poller.unwrap());
                return;
            }
        };
        let timed_out = matches!(&answer, Err(error) if *error == reason(BatchError::TimedOut));
        let is_long = call.policy == Policy::Or(WhenFull::Timeout(MOMENT));
        assert!(!(timed_out && is_long) || begin.elapsed() >= MOMENT, "{call:?} {self:?}");
        let dropped = if answer == Ok(None) { call.dropped(capacity) } else { 0 };
        assert_eq!(producer.dropped(), dropped, "{call:?} {self:?}");
        let granted = answer.ok().flatten().map_or(0, |range| range.end - range.start);
        assert_eq!(producer.free_slots(), free - granted as usize, "{call:?} {self:?}");
        let Some(mut poller) = poller else { return };
        let old = (self.consumed..self.published).map(|sequence| (sequence, sequence));
        let end = self.published + granted;
        let new = (self.published..end).zip(100..);
        assert!(drain(&mut poller).into_iter().eq(old.chain(new)), "{call:?} {self:?}");
        if self.end == End::Open {
            assert_eq!(producer.publish(|event| *event = 7), Ok(end), "{call:?} {self:?}");
            assert_eq!(drain(&mut poller), [(end, 7)]);
        }
    }

    /// Frees one slot after the other, until `call` has those that it waits for.
    fn check_wait<K: Kind>(
        self,
        call: Call,
        capacity: usize,
        mut producer: ProducerOf<u64, K>,
        mut poller: Poller<u64>,
    ) {
        let needed = if let Size::UpTo(_) = call.size { 1 } else { call.count() };
        let mut next = self.consumed;
        thread::scope(|scope| {
            let calling = scope.spawn(|| call.make(&mut producer, 100));
            for _ in self.free(capacity)..needed {
                assert!(!calling.is_finished(), "{call:?} {self:?}");
                let mut batch = poller.poll().unwrap();
                assert_eq!(batch.iter().next(), Some((next, &next)));
                next += 1;
            }
            let range = self.published..self.published + needed as u64;
            assert_eq!(calling.join().unwrap(), Ok(Some(range)), "{call:?} {self:?}");
        });
        let old = (next..self.published).map(|sequence| (sequence, sequence));
        let new = (self.published..).zip(100..).take(needed);
        assert!(drain(&mut poller).into_iter().eq(old.chain(new)), "{call:?} {self:?}");
        assert_eq!(producer.dropped(), 0);
    }
}

fn check_all<K: Kind>(sizes: &[Size]) {
    for state in STATES.into_iter().step_by(if cfg!(miri) { 2 } else { 1 }) {
        for call in sizes.iter().flat_map(|&size| Call::all(size)) {
            state.check::<K>(call, CAPACITY);
        }
    }
}

fn each_call_answers_by_the_state_of_the_ring<K: Kind>() {
    check_all::<K>(&[Size::One, Size::Batch(2), Size::UpTo(2)]);
}

/// The size of a batch is checked first: no state of the ring makes an impossible one possible.
fn each_call_of_an_odd_size_answers_by_the_state_of_the_ring<K: Kind>() {
    let large = [usize::MAX / 2, usize::MAX / 2 + 1, usize::MAX - 1, usize::MAX];
    let sizes = [0, 1, 3, 4, 5, 8, 1 << 31].into_iter().chain(large);
    let sizes: Vec<_> = sizes.flat_map(|count| [Size::Batch(count), Size::UpTo(count)]).collect();
    check_all::<K>(&sizes);
    let text = BatchError::TooLarge { requested: 5, capacity: 4 }.to_string();
    assert!(text.ends_with("requested=5, capacity=4"), "{text}");
}

fn each_call_answers_alike_at_every_capacity<K: Kind>() {
    for capacity in [1_usize, 2, 64] {
        let sizes = [1, capacity.div_ceil(2), capacity, capacity + 1];
        let sizes = sizes.into_iter().flat_map(|count| [Size::Batch(count), Size::UpTo(count)]);
        for call in [Size::One].into_iter().chain(sizes).flat_map(Call::all) {
            let full = capacity as u64;
            for (published, consumed) in [(0, 0), (full, 0), (full, full), (full + 1, 1)] {
                state(published, consumed, End::Open).check::<K>(call, capacity);
            }
        }
    }
}

fn a_call_that_waits_ends_with_the_ring<K: Kind>() {
    let full = state(4, 0, End::Open);
    let sizes = [Size::One, Size::Batch(2), Size::UpTo(2)];
    for call in sizes.into_iter().flat_map(Call::all) {
        if full.expected(call, CAPACITY) != Expected::Waits {
            continue;
        }
        let (mut producer, poller) = full.build::<K>(CAPACITY);
        thread::scope(|scope| {
            let calling = scope.spawn(|| call.make(&mut producer, 100));
            drop(poller);
            let halted = reason(BatchError::Halted(HaltCause::NoConsumers));
            assert_eq!(calling.join().unwrap(), Err(halted), "{call:?}");
        });
    }
}

/// Makes the calls one after another with the same producer.
fn a_policy_holds_for_its_own_call_and_for_no_other<K: Kind>() {
    let (mut producer, poller) = ring_with_poller::<K>(1);
    assert_eq!(producer.publish_or(WhenFull::DropNew, |event| *event = 1), Ok(Some(0)));
    let mut dropped = 0;
    for call in Call::all(Size::One).chain(Call::all(Size::Batch(1))) {
        if let Expected::Answers(expected) = call.expected(1, 1, 0, false) {
            dropped += u64::from(expected == Ok(None));
            assert_eq!(call.make(&mut producer, 2), expected, "{call:?}");
            assert_eq!(producer.dropped(), dropped, "{call:?}");
        }
    }
    forget(poller);
}
