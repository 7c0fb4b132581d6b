//! The check of what a consumer receives: each event once, in order, whole, after the stages
//! upstream of it and before those downstream.

use std::sync::Arc;

use lapwing::Sequence;

use super::event::{CLEAR, Event, LANES, Payload};
use super::program::{Policy, Program, Repeat, Stage, Stages, Verdict, members};
use super::rules::must;
use super::tally::KeyOrder;

/// The result of a check.
pub(super) type Checked = Result<(), String>;

/// The next number of each producer.
pub(super) type Next = [u64; LANES];

/// The same; `None` where a guest has seen nothing.
pub(super) type Numbers = [Option<u64>; LANES];

/// The number of a producer whose first event a guest has not seen.
const UNKNOWN: u64 = u64::MAX;

/// The place of a consumer in its graph, as the marks of events show it.
#[derive(Debug, Clone, Default)]
pub(super) struct Place {
    /// Its own mark, or `None` for a guest.
    own: Option<usize>,
    /// The stages that must have finished an event before, and those of them that write.
    upstream: Vec<usize>,
    writers: Stages,
    /// The stages that must not have it yet.
    downstream: Vec<usize>,
}

impl Place {
    pub(super) fn of_stage(program: &Program, stage: usize) -> Self {
        let upstream = program.upstream(stage);
        Self {
            own: Some(stage),
            upstream: members(upstream).collect(),
            writers: upstream & program.writers(),
            downstream: members(program.downstream(stage)).chain([CLEAR]).collect(),
        }
    }

    pub(super) fn of_guest(program: &Program) -> Self {
        let upstream = program.upstream_of_guests();
        let clear = [CLEAR].into_iter();
        let (before, after) = if program.clears { (1, 0) } else { (0, 1) };
        Self {
            own: None,
            upstream: members(upstream).chain(clear.clone().take(before)).collect(),
            writers: upstream & program.writers(),
            downstream: clear.take(after).collect(),
        }
    }
}

/// The check of a consumer.
#[derive(Debug, Clone)]
pub(super) struct Checker {
    seed: u64,
    place: Place,
    /// The first sequence, if there is one producer: the number of an event is then its distance.
    only: Option<Sequence>,
    next: Next,
    /// Events below this one may have been seen before.
    again: Sequence,
    /// Whether it shares its events with others, and then, whether none of them sees one again.
    is_group: bool,
    sees_once: bool,
    keys: Option<Arc<KeyOrder>>,
}

impl Checker {
    /// The check of a consumer that starts with the ring.
    pub(super) fn new(seed: u64, program: &Program, place: Place) -> Self {
        let sees_once = place.own.is_none_or(|own| !may_rewind(&program.stages[own]));
        Self {
            seed,
            place,
            only: (!program.is_multi).then_some(program.first),
            next: [0; LANES],
            again: 0,
            is_group: false,
            sees_once,
            keys: None,
        }
    }

    /// The check of a receiver of a channel, whose values have no marks.
    pub(super) fn of_channel(seed: u64, is_single: bool) -> Self {
        let (place, only, next) = (Place::default(), is_single.then_some(0), [0; LANES]);
        let (is_group, sees_once, keys) = (false, true, None);
        Self { seed, place, only, next, again: 0, is_group, sees_once, keys }
    }

    /// The check of a consumer that joins at `start`.
    pub(super) fn joining(mut self, start: Sequence) -> Self {
        self.next = [UNKNOWN; LANES];
        if let Some(first) = self.only {
            self.next[0] = start - first;
        }
        self
    }

    /// The check of a worker, by key if there are `keys`.
    pub(super) fn of_group(self, keys: Option<Arc<KeyOrder>>) -> Self {
        Self { is_group: true, keys, ..self }
    }

    #[inline]
    pub(super) const fn next(&self) -> Next {
        self.next
    }

    /// Returns the number of events that it has seen of each producer, including those before it
    /// joined.
    pub(super) fn numbers(&self) -> Numbers {
        self.next.map(|next| (next != UNKNOWN).then_some(next))
    }

    /// Goes back to an earlier event. Those below `seen` come again.
    pub(super) fn go_back(&mut self, next: Next, seen: Sequence) {
        (self.next, self.again) = (next, seen.max(self.again));
    }

    /// Checks one event. `has_left` says whether a stage may have left the graph.
    ///
    /// # Errors
    ///
    /// Says what is wrong.
    #[inline]
    pub(super) fn one(
        &mut self,
        event: &Event,
        sequence: Sequence,
        has_left: &impl Fn(usize) -> bool,
    ) -> Checked {
        let payload = event.payload();
        if let Some(first) = self.only
            && payload.number != sequence - first
        {
            return Err(format!("number {} is at the sequence {sequence}", payload.number));
        }
        self.payload(payload)?;
        self.marks(event, sequence, has_left)
    }

    /// Checks one payload.
    ///
    /// # Errors
    ///
    /// Says what is wrong.
    #[inline]
    pub(super) fn payload(&mut self, payload: Payload) -> Checked {
        let Payload { number, lane, .. } = payload;
        if !payload.is_whole(self.seed) || lane as usize >= LANES {
            return Err(format!("torn: {payload:x?}"));
        }
        if self.is_group {
            return self.keys.as_ref().map_or(Ok(()), |keys| keys.see(lane, number));
        }
        let next = &mut self.next[lane as usize];
        if *next == UNKNOWN {
            *next = number;
        }
        if number != *next {
            return Err(out_of_order(lane, *next, number));
        }
        *next += 1;
        Ok(())
    }

    /// Checks the marks of an event, and leaves the own one.
    #[inline]
    fn marks(
        &self,
        event: &Event,
        sequence: Sequence,
        has_left: &impl Fn(usize) -> bool,
    ) -> Checked {
        let Place { own, upstream, writers, downstream } = &self.place;
        for &stage in upstream {
            let is_there = event.has_mark(stage) || has_left(stage);
            must(is_there, || format!("too early: {stage} has not finished {sequence}"))?;
        }
        let missing = writers & !event.written();
        if missing != 0 {
            let is_left = members(missing).all(has_left);
            must(is_left, || format!("{sequence} lacks what {missing:#b} wrote"))?;
        }
        for &stage in downstream {
            must(!event.has_mark(stage), || format!("{stage} got {sequence} earlier"))?;
        }
        if let Some(own) = *own {
            let is_first = !self.sees_once || sequence < self.again || !event.has_mark(own);
            must(is_first, || format!("handled twice by one stage: {sequence}"))?;
            event.mark(own);
        }
        Ok(())
    }

    /// Checks a slice of events that begins at `first`, in one loop that never branches if nothing
    /// is wrong and there is one producer.
    ///
    /// # Errors
    ///
    /// Says what is wrong.
    #[inline]
    pub(super) fn slice(
        &mut self,
        events: &[Event],
        first: Sequence,
        has_left: &impl Fn(usize) -> bool,
    ) -> Checked {
        let Some(first_of_all) = self.only.filter(|_| self.again <= first) else {
            let mut each = events.iter().zip(first..);
            return each.try_for_each(|(event, sequence)| self.one(event, sequence, has_left));
        };
        let number = first - first_of_all;
        let mut is_wrong = number != self.next[0];
        for (event, number) in events.iter().zip(number..) {
            is_wrong |= event.payload() != Payload::new(self.seed, 0, number);
            is_wrong |= self.place.writers & !event.written() != 0;
        }
        if is_wrong || !self.are_marked(events) {
            let mut each = events.iter().zip(first..);
            return each.try_for_each(|(event, sequence)| self.one(event, sequence, has_left));
        }
        if let Some(own) = self.place.own {
            events.iter().for_each(|event| event.mark(own));
        }
        self.next[0] += events.len() as u64;
        Ok(())
    }

    /// Whether the marks of `events` are right.
    #[inline]
    fn are_marked(&self, events: &[Event]) -> bool {
        let has = |stage: usize| events.iter().fold(true, |all, event| all & event.has_mark(stage));
        let has_none =
            |stage: usize| events.iter().fold(true, |none, event| none & !event.has_mark(stage));
        self.place.upstream.iter().all(|&stage| has(stage))
            && self.place.downstream.iter().all(|&stage| has_none(stage))
            && self.place.own.is_none_or(has_none)
    }

    /// Notes that a worker has not finished an event that it has seen.
    pub(super) fn take_back(&self, payload: Payload) {
        if let Some(keys) = &self.keys {
            keys.take_back(payload.lane, payload.number);
        }
    }
}

/// Whether a stage may see events again that it has seen, and then leave them to another worker.
fn may_rewind(stage: &Stage) -> bool {
    let rewinds = |action| matches!(action, lapwing::Action::Rewind(_));
    let may = |policy| match policy {
        Policy::None => false,
        Policy::Always(action) => rewinds(action),
        Policy::Retries { repeat, or, .. } => matches!(repeat, Repeat::Batch) || rewinds(or),
    };
    let says = |verdict| matches!(verdict, Verdict::Says(action) if rewinds(action));
    let acts = stage.acts.iter().any(|act| says(act.verdict));
    stage.is_group() && (acts || may(stage.on_error) || may(stage.on_panic))
}

/// Says that another number came than the next one.
#[cold]
pub(super) fn out_of_order(lane: u32, expected: u64, found: u64) -> String {
    if found > expected {
        let count = found - expected;
        format!("lost: {count} events of producer {lane} before number {found}")
    } else {
        format!("repeated or out of order: number {found} of producer {lane}, expected {expected}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEED: u64 = 7;

    /// The check of stage 1, after stage 0 and before stage 2.
    fn checker(is_single: bool) -> Checker {
        let place =
            Place { own: Some(1), upstream: vec![0], writers: 0, downstream: vec![2, CLEAR] };
        let (only, next) = (is_single.then_some(0), [0; LANES]);
        let (is_group, sees_once, keys) = (false, true, None);
        Checker { seed: SEED, place, only, next, again: 0, is_group, sees_once, keys }
    }

    /// Events of producer 0 with these numbers, finished by stage 0.
    fn events(numbers: &[u64]) -> Vec<Event> {
        let event = |&number| {
            let mut event = Event::new();
            event.fill(Payload::new(SEED, 0, number));
            event.mark(0);
            event
        };
        numbers.iter().map(event).collect()
    }

    fn check(is_single: bool, events: &[Event]) -> Checked {
        checker(is_single).slice(events, 0, &|_| false)
    }

    /// Checks that a slice is refused with this text, by both ways to check one.
    fn refused(events: &[Event], text: &str) {
        for is_single in [true, false] {
            let wrong = check(is_single, events).unwrap_err();
            assert!(wrong.contains(text), "{wrong}");
            events.iter().for_each(|event| event.unmark(1));
        }
    }

    #[test]
    fn the_right_events_pass() {
        for is_single in [true, false] {
            assert_eq!(check(is_single, &events(&[0, 1, 2])), Ok(()));
        }
    }

    #[test]
    fn loss_repetition_and_disorder_are_found() {
        refused(&events(&[0, 2]), "");
        refused(&events(&[0, 0]), "");
        refused(&events(&[1, 0, 2]), "");
        assert!(check(false, &events(&[0, 2])).unwrap_err().contains("lost: 1 events"));
        assert!(check(false, &events(&[0, 0])).unwrap_err().contains("repeated"));
    }

    #[test]
    fn a_stale_event_is_found() {
        // The slot still has the event of the lap before.
        let mut checker = checker(true);
        checker.slice(&events(&[0, 1]), 0, &|_| false).unwrap();
        assert!(checker.slice(&events(&[0]), 2, &|_| false).is_err());
    }

    #[test]
    fn a_torn_event_is_found() {
        for (seed, lane) in [(SEED ^ 1, 0), (SEED, LANES as u32)] {
            let mut torn = events(&[0, 1, 2]);
            torn[1].fill(Payload::new(seed, lane, 1));
            torn[1].mark(0);
            refused(&torn, "torn");
        }
    }

    #[test]
    fn an_event_that_another_stage_should_have_or_not_is_found() {
        let early = events(&[0, 1]);
        early[1].unmark(0);
        refused(&early, "too early");
        assert_eq!(checker(false).slice(&early, 0, &|stage| stage == 0), Ok(()), "it has left");
        let late = events(&[0, 1]);
        late[0].mark(2);
        refused(&late, "earlier");
    }

    #[test]
    fn an_event_without_the_store_of_a_writing_stage_is_found() {
        let mut written = events(&[0, 1]);
        written[0].write(0);
        for is_single in [true, false] {
            let mut checker = checker(is_single);
            checker.place.writers = 1;
            let wrong = checker.slice(&written, 0, &|_| false).unwrap_err();
            assert!(wrong.contains("1 lacks"), "{wrong}");
            written.iter().for_each(|event| event.unmark(1));
        }
    }

    #[test]
    fn an_event_that_the_stage_has_handled_is_found() {
        for is_single in [true, false] {
            let twice = events(&[0, 1]);
            twice[0].mark(1);
            assert!(check(is_single, &twice).unwrap_err().contains("twice"));
        }
    }

    #[test]
    fn a_batch_can_be_handled_again_after_the_check_went_back() {
        let (mut checker, events) = (checker(true), events(&[0, 1]));
        let before = checker.next();
        for _ in 0..2 {
            checker.go_back(before, 1);
            checker.one(&events[0], 0, &|_| false).unwrap();
        }
        assert_eq!(checker.numbers()[0], Some(1));
    }

    #[test]
    fn a_consumer_that_joins_begins_with_the_first_event_it_sees() {
        let mut checker = checker(false).joining(40);
        checker.payload(Payload::new(SEED, 2, 9)).unwrap();
        assert!(checker.payload(Payload::new(SEED, 2, 11)).is_err());
        assert_eq!(checker.numbers(), [None, None, Some(10), None]);
    }
}
