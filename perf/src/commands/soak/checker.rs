//! The check of what a consumer receives: each event once, in order, whole, after the stages
//! upstream of it. Not here: events that workers share (`tally`).

use lapwing::Sequence;

use super::event::{Event, LANES, Laps, seal};
use super::violation::{Checked, Violation};

/// The number of a producer whose first event a guest has not seen.
const UNKNOWN: u64 = u64::MAX;

/// The place of a stage in its graph, as marks show it.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// Its mark, or `None` for a guest.
    pub(super) own: Option<usize>,
    /// The stages that must have finished an event before this one.
    pub(super) upstream: Vec<usize>,
    /// How many writing stages must have.
    pub(super) written: u32,
    /// The laps of the ring.
    pub(super) laps: Laps,
}

impl Place {
    /// Checks the marks of an event, and leaves the own one. `is_again` permits that it is there.
    #[inline]
    pub(super) fn pass(&self, event: &Event, sequence: Sequence, is_again: bool) -> Checked {
        let lap = self.laps.of_sequence(sequence);
        for &upstream in &self.upstream {
            if event.mark(upstream) != lap {
                return Err(Violation::TooEarly { sequence, upstream });
            }
        }
        if event.written() != self.written {
            let (number, expected, found) = (event.number(), self.written, event.written());
            return Err(Violation::Unwritten { number, expected, found });
        }
        if let Some(own) = self.own {
            if event.mark(own) == lap && !is_again {
                return Err(Violation::Twice { sequence });
            }
            event.set_mark(own, lap);
        }
        Ok(())
    }

    /// Returns whether the marks of `events` are right, and leaves the own ones. Never branches in
    /// the loop.
    #[inline]
    fn pass_all(&self, events: &[Event], first: Sequence) -> bool {
        let lap = self.laps.of_sequence(first); // a slice never wraps
        let mut wrong = 0;
        for &upstream in &self.upstream {
            wrong |= events.iter().fold(0, |wrong, event| wrong | (event.mark(upstream) ^ lap));
        }
        if let Some(own) = self.own {
            for event in events {
                wrong |= u8::from(event.mark(own) == lap);
                event.set_mark(own, lap);
            }
        }
        wrong == 0
    }
}

/// The next number of each producer.
pub(super) type Numbers = [u64; LANES];

/// The check of a consumer that gets all events.
#[derive(Clone, Debug)]
pub(super) struct Checker {
    seed: u64,
    /// With one producer, the number of an event is its sequence.
    is_single: bool,
    next: Numbers,
}

impl Checker {
    /// The check of a consumer that starts with the ring.
    pub(super) const fn new(seed: u64, is_single: bool) -> Self {
        Self { seed, is_single, next: [0; LANES] }
    }

    /// The check of a consumer that joins at `start`.
    pub(super) fn joining(seed: u64, is_single: bool, start: Sequence) -> Self {
        let mut next = [UNKNOWN; LANES];
        if is_single {
            next[0] = start;
        }
        Self { seed, is_single, next }
    }

    /// Returns the number of events that it has seen of each producer, including those before it
    /// joined. A producer of which it saw nothing has `None`.
    pub(super) fn seen(&self) -> [Option<u64>; LANES] {
        self.next.map(|next| (next != UNKNOWN).then_some(next))
    }

    /// Returns the next number of each producer, to go back to it later.
    pub(super) const fn numbers(&self) -> Numbers {
        self.next
    }

    /// Goes back to an earlier state, when the stage handles a batch again.
    pub(super) const fn go_back(&mut self, numbers: Numbers) {
        self.next = numbers;
    }

    /// Checks a slice of events that begins at `first`.
    #[inline]
    pub(super) fn slice(&mut self, place: &Place, events: &[Event], first: Sequence) -> Checked {
        if !self.is_single {
            let mut each = events.iter().zip(first..);
            return each.try_for_each(|(event, sequence)| self.one(place, event, sequence, false));
        }
        let (seed, mut wrong) = (self.seed, first ^ self.next[0]);
        for (event, number) in events.iter().zip(first..) {
            wrong |= event.number() ^ number;
            wrong |= event.seal() ^ seal(seed, 0, number);
            wrong |= u64::from(event.lane() | (event.written() ^ place.written));
        }
        if wrong != 0 || !place.pass_all(events, first) {
            return self.explain(place, events, first);
        }
        self.next[0] += events.len() as u64;
        Ok(())
    }

    /// Checks one event. `is_again` permits the own mark, for a batch that is handled again.
    #[inline]
    pub(super) fn one(
        &mut self,
        place: &Place,
        event: &Event,
        sequence: Sequence,
        is_again: bool,
    ) -> Checked {
        self.payload(event.lane(), event.number(), event.seal())?;
        let number = event.number();
        if self.is_single && number != sequence {
            return Err(Violation::Misplaced { number, sequence });
        }
        place.pass(event, sequence, is_again)
    }

    /// Checks one payload.
    #[inline]
    pub(super) fn payload(&mut self, lane: u32, number: u64, found_seal: u64) -> Checked {
        let torn = Violation::Torn { number, lane, seal: found_seal };
        if found_seal != seal(self.seed, lane, number) {
            return Err(torn);
        }
        let next = self.next.get_mut(lane as usize).ok_or(torn)?;
        if *next == UNKNOWN {
            *next = number;
        }
        let (expected, found) = (*next, number);
        if found > expected {
            return Err(Violation::Lost { lane, count: found - expected, found });
        }
        if found < expected {
            return Err(Violation::Repeated { lane, expected, found });
        }
        *next += 1;
        Ok(())
    }

    /// Finds what is wrong with a slice, whose own marks are set by now.
    #[cold]
    fn explain(&mut self, place: &Place, events: &[Event], first: Sequence) -> Checked {
        for (event, sequence) in events.iter().zip(first..) {
            self.one(place, event, sequence, true)?;
        }
        Err(Violation::Twice { sequence: first })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEED: u64 = 7;

    fn place() -> Place {
        Place { own: Some(1), upstream: vec![0], written: 0, laps: Laps::of(16) }
    }

    /// Events of producer 0 with these numbers, finished by stage 0.
    fn events(numbers: &[u64]) -> Vec<Event> {
        let lap = Laps::of(16).of_sequence(0);
        let event = |&number| {
            let mut event = Event::default();
            event.fill(SEED, 0, number);
            event.set_mark(0, lap);
            event
        };
        numbers.iter().map(event).collect()
    }

    fn check(is_single: bool, events: &[Event]) -> Checked {
        Checker::new(SEED, is_single).slice(&place(), events, 0)
    }

    #[test]
    fn the_right_events_pass() {
        for is_single in [true, false] {
            assert_eq!(check(is_single, &events(&[0, 1, 2])), Ok(()));
        }
    }

    #[test]
    fn loss_repetition_and_disorder_are_found() {
        for is_single in [true, false] {
            let lost = check(is_single, &events(&[0, 2]));
            assert_eq!(lost, Err(Violation::Lost { lane: 0, count: 1, found: 2 }));
            let again = check(is_single, &events(&[0, 0]));
            assert_eq!(again, Err(Violation::Repeated { lane: 0, expected: 1, found: 0 }));
            assert!(check(is_single, &events(&[1, 0, 2])).is_err());
        }
    }

    #[test]
    fn a_stale_event_is_found() {
        // The slot still has the event of the lap before.
        assert!(check(true, &events(&[0, 1, 2, 3])[..2]).is_ok());
        let mut checker = Checker::new(SEED, true);
        checker.slice(&place(), &events(&[0, 1]), 0).unwrap();
        assert!(checker.slice(&place(), &events(&[0]), 2).is_err());
    }

    #[test]
    fn a_torn_event_is_found() {
        for is_single in [true, false] {
            for (seed, lane) in [(SEED ^ 1, 0), (SEED, LANES as u32)] {
                let mut torn = events(&[0, 1, 2]);
                torn[1].fill(seed, lane, 1);
                let found = check(is_single, &torn);
                assert!(matches!(found, Err(Violation::Torn { number: 1, .. })), "{found:?}");
            }
        }
    }

    #[test]
    fn an_event_that_an_upstream_stage_has_not_finished_is_found() {
        for is_single in [true, false] {
            let early = events(&[0, 1]);
            early[1].set_mark(0, 0);
            let expected = Violation::TooEarly { sequence: 1, upstream: 0 };
            assert_eq!(check(is_single, &early), Err(expected));
        }
    }

    #[test]
    fn an_event_without_the_store_of_a_writing_stage_is_found() {
        for is_single in [true, false] {
            let mut written = events(&[0, 1]);
            written[1].write();
            let expected = Violation::Unwritten { number: 1, expected: 0, found: 1 };
            assert_eq!(check(is_single, &written), Err(expected));
        }
    }

    #[test]
    fn an_event_that_the_stage_has_handled_is_found() {
        for is_single in [true, false] {
            let twice = events(&[0, 1]);
            twice[0].set_mark(1, Laps::of(16).of_sequence(0));
            assert_eq!(check(is_single, &twice), Err(Violation::Twice { sequence: 0 }));
        }
    }

    #[test]
    fn a_batch_can_be_handled_again_after_the_check_went_back() {
        let (mut checker, place, events) = (Checker::new(SEED, true), place(), events(&[0, 1]));
        let before = checker.numbers();
        for _ in 0..2 {
            checker.go_back(before);
            checker.one(&place, &events[0], 0, true).unwrap();
        }
        assert_eq!(checker.seen()[0], Some(1));
    }

    #[test]
    fn a_consumer_that_joins_begins_with_the_first_event_it_sees() {
        let mut checker = Checker::joining(SEED, false, 40);
        checker.payload(2, 9, seal(SEED, 2, 9)).unwrap();
        assert!(checker.payload(2, 11, seal(SEED, 2, 11)).is_err());
        assert_eq!(checker.seen(), [None, None, Some(10), None]);
    }
}
