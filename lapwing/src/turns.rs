//! Turns of several producers on a ring that stays full.
//!
//! A free slot goes to the first producer thread that finds it. With more threads than CPUs, a
//! producer thread may share its CPU with the consumer thread. It then runs only while the consumer
//! does not, and finds the ring full each time. It starves until the scheduler moves it: 0.1 to 0.8
//! s in measurements.
//!
//! Therefore a producer that has waited for a millisecond makes the producers of the ring take
//! turns:
//!
//! 1. A producer that finds the ring full takes a ticket, joins a queue, and sleeps.
//! 2. The producer with the lowest ticket is called. It has a turn of 0.15 to 2 ms, in which it
//!    waits for free slots by its strategy.
//! 3. After the turn, the next producer is called: by the producer of that turn when it finds the
//!    ring full, or by a consumer after a batch or before a wait.
//! 4. A producer that gets its CPU too late and misses its turn joins again with its old ticket, so
//!    it comes soon.
//! 5. Producers stop taking turns once a turn is over and the queue is empty.
//!
//! No event depends on a call. A turn ends by the clock, so a stopped producer holds up no other. A
//! queued producer sleeps for a bounded time, and then waits as usual. A producer that finds a free
//! slot does not check the queue. So no lock is needed: a stale figure costs time, and never more
//! than that sleep. Most often it costs one turn at most. But a producer that joins stores its place
//! and then loads the end of the turn, with no fence between. If the turns end at that moment, both
//! sides may miss the other. The producer then sleeps for 10 ms and twice its own turn, unless
//! another one starts turns before.
//!
//! Each ticket has a place, where its producer parks (`lapwing_core::Places`). A close or a
//! halt wakes it like all other threads. If there are more producers than places, two may join at
//! the same place, and are called together.

use std::time::{Duration, Instant};

use lapwing_core::Control;

use crate::deadline::{earlier, has_passed};
use crate::sync::{Figure, Ordering, now};

/// A wait for free slots that is longer than this starts turns.
const PATIENCE: Duration = Duration::from_millis(1);
/// The total length of one turn of each producer in the queue, as long as each turn has
/// [`SHORTEST_TURN`].
const ROUND: Duration = Duration::from_millis(2);
/// Shortest turn. Each change of turns costs a wake-up, 15 to 20 µs.
const SHORTEST_TURN: Duration = Duration::from_micros(150);
/// Longest sleep in the queue, in addition to the turns of the producers before it. It is reached
/// only if no consumer makes progress.
const LONGEST_SLEEP: Duration = Duration::from_millis(if cfg!(test) { 60_000 } else { 10 });

/// The turns of the producers of one ring. All words are advice.
#[derive(Debug)]
pub(crate) struct Turns {
    made_at: Instant,
    /// When the turn ends, in nanoseconds since `made_at`; 0 while producers take no turns.
    ends_ns: Figure,
    /// The ticket that has the turn.
    called: Figure,
    /// The ticket that was given out last.
    given: Figure,
    /// For each place, the ticket of the producer that waits for its turn there, or 0.
    queue: Box<[Figure]>,
}

impl Turns {
    /// Creates the turns of a ring with `places` for producers that wait for others.
    pub(crate) fn new(places: usize) -> Self {
        let [ends_ns, called, given] = Default::default();
        let queue = (0..places).map(|_| Figure::default()).collect();
        Self { made_at: now(), ends_ns, called, given, queue }
    }

    /// Calls the next producer if the turn is over. A consumer runs this between two batches.
    #[inline]
    pub(crate) fn pass_on(&self, control: &Control) {
        if self.are_taken() {
            self.pass_on_if_over(control);
        }
    }

    /// When a wait of a consumer ends, at `deadline` at the latest. It ends with the turn, so that
    /// the consumer can [pass it on](Self::pass_on).
    pub(crate) fn limit_wait(
        &self,
        control: &Control,
        deadline: Option<Instant>,
    ) -> Option<Instant> {
        self.pass_on(control);
        self.end_of_turn().map_or(deadline, |end| Some(earlier(deadline, end)))
    }

    fn are_taken(&self) -> bool {
        value(&self.ends_ns) != 0
    }

    /// When the turn ends; `None` while producers take no turns.
    fn end_of_turn(&self) -> Option<Instant> {
        let ends_ns = value(&self.ends_ns);
        (ends_ns != 0).then(|| self.made_at + Duration::from_nanos(ends_ns))
    }

    fn is_over(&self) -> bool {
        self.end_of_turn().is_none_or(|end| now() >= end)
    }

    /// Whether no other ticket has had a turn since `ticket`.
    fn is_last_turn_of(&self, ticket: u64) -> bool {
        value(&self.called) == ticket
    }

    /// The tickets in the queue.
    fn queued(&self) -> impl Iterator<Item = u64> {
        self.queue.iter().map(value).filter(|&ticket| ticket != 0)
    }

    fn place(&self, ticket: u64) -> usize {
        ticket as usize % self.queue.len()
    }

    fn is_queued(&self, ticket: u64) -> bool {
        ticket != 0 && value(&self.queue[self.place(ticket)]) == ticket
    }

    /// Calls the next producer if the turn is over. Ends the turns if the queue is empty.
    #[cold]
    fn pass_on_if_over(&self, control: &Control) {
        loop {
            let ends_ns = value(&self.ends_ns);
            if !self.is_over() {
                return;
            }
            let next = self.queued().min();
            let end = (now() - self.made_at) + length_of_turn(self.queued().count());
            if swap(&self.ends_ns, ends_ns, next.map_or(0, |_| end.as_nanos() as u64)) {
                if let Some(ticket) = next {
                    set(&self.called, ticket);
                    self.leave(control, ticket);
                }
                return;
            }
        }
    }

    /// Removes `ticket` from the queue, and wakes all producers that park at its place.
    fn leave(&self, control: &Control, ticket: u64) {
        let place = self.place(ticket);
        set(&self.queue[place], 0);
        control.places().wake(place);
    }
}

/// The turns of one producer during one wait for free slots.
#[derive(Debug)]
pub(crate) struct ProducerTurn<'a> {
    turns: &'a Turns,
    control: &'a Control,
    /// The last ticket of the producer; 0 before the first.
    ticket: &'a mut u64,
    /// How long it waits until it starves. Doubles each time, so that a stopped consumer does not
    /// cause periodic wake-ups.
    patience: Duration,
    /// When it starves; set by its first wait.
    starves_at: Option<Instant>,
    /// Whether it has asked for a turn since its last wait.
    has_asked: bool,
    /// Whether it has taken a ticket. It keeps the ticket if it misses its turn.
    has_ticket: bool,
}

impl<'a> ProducerTurn<'a> {
    /// The turns of the producer with this last `ticket`.
    pub(crate) fn new(turns: &'a Turns, control: &'a Control, ticket: &'a mut u64) -> Self {
        let (patience, starves_at, has_asked, has_ticket) = (PATIENCE, None, false, false);
        Self { turns, control, ticket, patience, starves_at, has_asked, has_ticket }
    }

    /// Whether the producer asks for a turn before it waits for free slots again. Its last wait may
    /// have found free slots that another producer then took.
    pub(crate) fn is_due(&self) -> bool {
        self.is_starving() || !self.has_asked && self.turns.are_taken()
    }

    fn is_starving(&self) -> bool {
        has_passed(self.starves_at)
    }

    /// When the next wait ends, at `deadline` at the latest.
    pub(crate) fn limit_wait(&mut self, deadline: Option<Instant>) -> Option<Instant> {
        self.has_asked = false;
        let starves_at = *self.starves_at.get_or_insert_with(|| now() + self.patience);
        Some(earlier(deadline, starves_at))
    }

    /// Waits for a turn, until `deadline` at most.
    #[cold]
    pub(crate) fn take(&mut self, deadline: Option<Instant>) {
        let Self { turns, control, .. } = *self;
        let is_starving = self.is_starving();
        if is_starving {
            self.starves_at = None;
            self.patience = self.patience.saturating_mul(2);
        }
        self.has_asked = true;
        let was_last = turns.is_last_turn_of(*self.ticket);
        if was_last && !turns.is_over() {
            return;
        }
        if is_starving || !was_last || turns.queued().next().is_some() {
            self.join();
        }
        turns.pass_on_if_over(control);
        let end = now() + longest_sleep(turns.queued().count());
        self.sleep_until_called(earlier(deadline, end));
    }

    fn join(&mut self) {
        if !self.has_ticket {
            // O13, Relaxed: a number that need only be unique.
            *self.ticket = self.turns.given.fetch_add(1, Ordering::Relaxed) + 1;
            self.has_ticket = true;
        }
        set(&self.turns.queue[self.turns.place(*self.ticket)], *self.ticket);
    }

    /// Sleeps while the producer is queued, until `deadline` or the end of the ring at most.
    fn sleep_until_called(&self, deadline: Instant) {
        let Self { turns, control, ref ticket, .. } = *self;
        while turns.is_queued(**ticket) {
            let left = deadline.saturating_duration_since(now());
            if left.is_zero() || !control.is_open() {
                return turns.leave(control, **ticket);
            }
            let is_over = || !turns.is_queued(**ticket) || !control.is_open();
            control.places().park(turns.place(**ticket), Some(left), is_over);
        }
    }
}

/// How long a turn takes with this number of producers in the queue.
fn length_of_turn(queued: usize) -> Duration {
    (ROUND / queued.max(1) as u32).max(SHORTEST_TURN)
}

/// How long the last producer in the queue sleeps at most. A turn takes longer than planned if its
/// producer gets its CPU late.
fn longest_sleep(queued: usize) -> Duration {
    LONGEST_SLEEP + length_of_turn(queued) * (2 * queued as u32)
}

fn value(figure: &Figure) -> u64 {
    figure.load(Ordering::Relaxed) // O13, Relaxed: a figure
}

/// Replaces `old` by `new`. Returns false if another thread was first.
fn swap(figure: &Figure, old: u64, new: u64) -> bool {
    // O13, Relaxed: one modification order decides which thread was first.
    figure.compare_exchange(old, new, Ordering::Relaxed, Ordering::Relaxed).is_ok()
}

fn set(figure: &Figure, value: u64) {
    figure.store(value, Ordering::Relaxed); // O13, Relaxed: a figure
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;
    use crate::error::HaltCause;
    use crate::ring::Shared;

    /// A ring with several producers.
    fn ring() -> Shared {
        Shared::of_several(8)
    }

    fn turn<'a>(ring: &'a Shared, ticket: &'a mut u64) -> ProducerTurn<'a> {
        ProducerTurn::new(&ring.turns, &ring.control, ticket)
    }

    /// The turn of the first ticket, which begins at once, and goes on until [`end_turn`].
    fn starve<'a>(ring: &'a Shared, ticket: &'a mut u64) -> ProducerTurn<'a> {
        let mut turn = turn(ring, ticket);
        turn.starves_at = Some(now());
        turn.take(None);
        assert!(ring.turns.is_last_turn_of(1) && !ring.turns.is_over());
        set(&ring.turns.ends_ns, Duration::from_secs(3600).as_nanos() as u64);
        turn
    }

    fn end_turn(ring: &Shared) {
        set(&ring.turns.ends_ns, 1);
        ring.turns.pass_on(&ring.control);
    }

    #[test]
    fn a_producer_that_has_waited_for_too_long_has_a_turn_and_the_others_queue() {
        let (ring, [mut first, mut second]) = (&ring(), [0; 2]);
        assert!(!turn(ring, &mut first).is_due(), "the producers take no turns");
        starve(ring, &mut first).take(None); // the second call returns at once
        let mut second = turn(ring, &mut second);
        assert!(second.is_due());
        second.take(Some(now() + SHORTEST_TURN));
        assert!(ring.turns.is_last_turn_of(1) && !second.is_due(), "it waits as usual now");
        assert!(second.limit_wait(None).is_some() && second.is_due(), "then it asks again");
    }

    #[test]
    fn a_producer_that_gives_up_leaves_no_hole_in_the_queue() {
        let ring = &ring();
        starve(ring, &mut 0);
        turn(ring, &mut 0).take(Some(now()));
        end_turn(ring);
        assert!(!ring.turns.are_taken(), "the queue is empty");
    }

    #[test]
    fn producers_are_called_in_their_order_and_one_that_missed_its_turn_comes_first() {
        let (ring, [mut first, mut second, mut third]) = (&ring(), [0; 3]);
        let mut late = turn(ring, &mut first);
        late.join();
        turn(ring, &mut second).join();
        turn(ring, &mut third).join();
        end_turn(ring);
        assert!(ring.turns.is_last_turn_of(1));
        late.join();
        for ticket in [1, 2, 3] {
            end_turn(ring);
            assert!(ring.turns.is_last_turn_of(ticket));
        }
    }

    #[test]
    fn a_producer_that_finds_the_ring_full_after_its_turn_calls_the_next() {
        let (ring, mut ticket) = (&ring(), 0);
        starve(ring, &mut ticket);
        turn(ring, &mut 0).join();
        set(&ring.turns.ends_ns, 1);
        turn(ring, &mut ticket).take(Some(now()));
        assert!(ring.turns.is_last_turn_of(2));
    }

    #[test]
    fn a_producer_without_a_competitor_slept_if_it_had_no_ticket() {
        for mut ticket in [1, 0] {
            let (ring, start) = (&ring(), now());
            set(&ring.turns.called, ticket);
            set(&ring.turns.ends_ns, 1);
            turn(ring, &mut ticket).take(None);
            assert!(!ring.turns.are_taken() && start.elapsed() < LONGEST_SLEEP, "{ticket}");
        }
    }

    #[test]
    fn a_queued_producer_slept_on_after_its_call_or_the_end_of_the_ring() {
        let close: fn(&Shared) = |ring| ring.control.close();
        let halt: fn(&Shared) = |ring| ring.control.halt(HaltCause::Requested.core());
        for wake in [close, halt, end_turn] {
            let ring = &ring();
            starve(ring, &mut 0);
            let (returned, returns) = mpsc::channel();
            thread::scope(|scope| {
                scope.spawn(move || {
                    turn(ring, &mut 0).take(None);
                    returned.send(()).unwrap();
                });
                while ring.turns.queued().next().is_none() {
                    thread::yield_now();
                }
                wake(ring);
                assert_eq!(returns.recv_timeout(LONGEST_SLEEP / 2), Ok(()));
            });
        }
    }

    #[test]
    fn a_producer_whose_place_another_took_stayed_in_the_queue() {
        let ring = &ring();
        let places = ring.control.places().len() as u64;
        let mut ticket = 0;
        let mut early = turn(ring, &mut ticket);
        early.join();
        set(&ring.turns.given, places);
        turn(ring, &mut 0).join(); // at the same place
        early.sleep_until_called(now() + LONGEST_SLEEP); // returns at once
        end_turn(ring);
        assert!(ring.turns.is_last_turn_of(places + 1));
    }

    /// A program may use `thread::park` in its own loop.
    #[test]
    fn a_wait_for_a_turn_used_up_a_wake_up_of_the_program() {
        let ring = &ring();
        starve(ring, &mut 0);
        thread::current().unpark();
        turn(ring, &mut 0).take(Some(now() + SHORTEST_TURN));
        let start = now();
        thread::park_timeout(LONGEST_SLEEP);
        assert!(start.elapsed() < LONGEST_SLEEP, "the wake-up is still there");
    }

    #[test]
    fn short_waits_do_not_postpone_the_time_when_a_producer_starves() {
        let (ring, mut ticket) = (&ring(), 0);
        let mut turn = turn(ring, &mut ticket);
        let starves_at = turn.limit_wait(None).unwrap();
        while !turn.is_due() {
            assert_eq!(turn.limit_wait(None), Some(starves_at));
        }
        assert!(turn.is_starving());
        turn.take(None);
        assert!(turn.limit_wait(None).unwrap() >= starves_at + 2 * PATIENCE, "twice as long");
    }

    #[test]
    fn a_turn_is_shorter_the_more_producers_queue() {
        assert_eq!([1, 4, 200].map(length_of_turn), [ROUND, ROUND / 4, SHORTEST_TURN]);
    }
}
