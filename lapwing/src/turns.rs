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
//! 1. A producer that finds the ring full joins a queue, first come first served, and sleeps.
//! 2. The first producer in the queue is called. It has a turn of 0.15 to 2 ms, in which it waits
//!    for free slots by its strategy.
//! 3. After the turn, the next producer is called: by the producer of that turn when it finds the
//!    ring full, or by a consumer after a batch or before a wait.
//! 4. A producer that gets its CPU too late and misses its turn joins at the front.
//! 5. Producers stop taking turns once a turn is over and the queue is empty.
//!
//! No event depends on a call. A turn ends by the clock, so a stopped producer holds up no other. A
//! queued producer sleeps for a bounded time, and then waits as usual. A producer that finds a free
//! slot does not check the queue. So turns are not part of the protocol, and a stale figure costs
//! at most one turn.

use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

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

/// The turns of the producers of one ring.
pub(crate) struct Turns {
    made_at: Instant,
    /// When the turn ends, in nanoseconds since `made_at`; 0 while producers take no turns.
    ends_ns: Figure,
    /// The ticket of the producer that has the turn.
    called: Figure,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    last: Ticket,
    waiting: VecDeque<(Ticket, Thread)>,
}

/// A place in the queue. Each producer keeps its last one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Ticket(u64);

impl Turns {
    /// Reserves space in the queue for this number of `producers`, so that a wait does not allocate.
    ///
    /// Nothing is allocated or freed under the lock: a global allocator may publish, and then waits
    /// for a turn.
    pub(crate) fn reserve(&self, producers: usize) {
        let has_room = |queue: &Queue| queue.waiting.capacity() >= producers;
        if has_room(&self.lock()) {
            return;
        }
        let mut room = VecDeque::with_capacity(2 * producers);
        let mut queue = self.lock();
        // Another thread may have made room in between.
        if !has_room(&queue) {
            room.extend(queue.waiting.drain(..));
            mem::swap(&mut queue.waiting, &mut room);
        }
        // Unlocks before `room` frees the old memory.
        drop(queue);
    }

    /// Calls the next producer if the turn is over. A consumer runs this between two batches.
    #[inline]
    pub(crate) fn pass_on(&self) {
        if self.are_taken() {
            self.pass_on_if_over();
        }
    }

    /// Limits a wait of a consumer to the end of the turn, so that the consumer can [pass it
    /// on](Self::pass_on). Returns when the wait ends, at `deadline` at the latest.
    pub(crate) fn limit_wait(&self, deadline: Option<Instant>) -> Option<Instant> {
        self.pass_on();
        self.end_of_turn().map_or(deadline, |end| Some(earlier(deadline, end)))
    }

    /// Wakes the producers in the queue, since the ring accepts no more events.
    pub(crate) fn end(&self) {
        let mut queue = self.lock();
        self.set_end(0);
        queue.waiting.drain(..).for_each(|(_, thread)| thread.unpark());
    }

    fn ends_ns(&self) -> u64 {
        // O13, Relaxed: a figure.
        self.ends_ns.load(Ordering::Relaxed)
    }

    fn set_end(&self, ends_ns: u64) {
        // O13, Relaxed: a figure.
        self.ends_ns.store(ends_ns, Ordering::Relaxed);
    }

    fn are_taken(&self) -> bool {
        self.ends_ns() != 0
    }

    fn is_over(&self) -> bool {
        self.end_of_turn().is_none_or(|end| now() >= end)
    }

    /// When the turn ends; `None` while producers take no turns.
    fn end_of_turn(&self) -> Option<Instant> {
        let ends_ns = self.ends_ns();
        (ends_ns != 0).then(|| self.made_at + Duration::from_nanos(ends_ns))
    }

    /// Whether `ticket` has the turn, and the turn is not over.
    fn is_turn_of(&self, ticket: Ticket) -> bool {
        self.is_last_turn_of(ticket) && !self.is_over()
    }

    /// Whether no other producer has had a turn since `ticket`.
    fn is_last_turn_of(&self, ticket: Ticket) -> bool {
        // O13, Relaxed: a figure.
        self.called.load(Ordering::Relaxed) == ticket.0
    }

    #[cold]
    fn pass_on_if_over(&self) {
        // A thread that holds the lock is about to call the next producer.
        if self.is_over()
            && let Ok(mut queue) = self.queue.try_lock()
            && self.is_over()
        {
            let next = self.call_next(&mut queue);
            drop(queue);
            wake(next);
        }
    }

    /// Gives the next turn to the first producer in the queue. Returns its thread, which the caller
    /// wakes.
    fn call_next(&self, queue: &mut Queue) -> Option<Thread> {
        let end = (now() - self.made_at) + queue.length_of_turn();
        let next = queue.waiting.pop_front();
        let ends_ns = if next.is_some() { end.as_nanos() as u64 } else { 0 };
        self.set_end(ends_ns);
        let (ticket, thread) = next?;
        // O13, Relaxed: a figure.
        self.called.store(ticket.0, Ordering::Relaxed);
        Some(thread)
    }

    /// Sleeps in the queue, until `deadline` at most. Returns whether the producer was called.
    fn sleep_until_called(&self, ticket: Ticket, deadline: Instant) -> bool {
        while self.lock().has(ticket) {
            let left = deadline.saturating_duration_since(now());
            if left.is_zero() {
                return !self.lock().remove(ticket);
            }
            thread::park_timeout(left);
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Turns {
    fn default() -> Self {
        Self {
            made_at: now(),
            ends_ns: Figure::new(0),
            called: Figure::new(0),
            queue: Mutex::default(),
        }
    }
}

impl fmt::Debug for Turns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turns").field("are_taken", &self.are_taken()).finish_non_exhaustive()
    }
}

impl Queue {
    /// Adds `thread`, at the front if it has `missed` its turn.
    fn join(&mut self, thread: Thread, missed: bool) -> Ticket {
        self.last.0 += 1;
        let place = (self.last, thread);
        if missed {
            self.waiting.push_front(place)
        } else {
            self.waiting.push_back(place)
        }
        self.last
    }

    /// How long the next turn takes.
    fn length_of_turn(&self) -> Duration {
        let producers = u32::try_from(self.waiting.len()).unwrap_or(u32::MAX).max(1);
        (ROUND / producers).max(SHORTEST_TURN)
    }

    /// How long the last producer in the queue sleeps at most. A turn takes longer than planned if
    /// its producer gets its CPU late.
    fn longest_sleep(&self) -> Duration {
        let producers = u32::try_from(self.waiting.len()).unwrap_or(u32::MAX);
        LONGEST_SLEEP + (2 * self.length_of_turn()).saturating_mul(producers)
    }

    fn has(&self, ticket: Ticket) -> bool {
        self.waiting.iter().any(|&(other, _)| other == ticket)
    }

    /// Removes `ticket`. Returns whether it was there.
    fn remove(&mut self, ticket: Ticket) -> bool {
        let before = self.waiting.len();
        self.waiting.retain(|&(other, _)| other != ticket);
        self.waiting.len() < before
    }
}

/// The turns of one producer during one wait for free slots.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    turns: &'a Turns,
    ticket: &'a mut Ticket,
    /// How long it waits until it starves. Doubles each time, so that a stopped consumer does not
    /// cause periodic wake-ups.
    patience: Duration,
    /// When it starves; set by its first wait.
    starves_at: Option<Instant>,
    /// Whether it has asked for a turn since its last wait.
    has_asked: bool,
    /// Whether it was called during this wait, and found no free slot.
    missed: bool,
}

impl<'a> Turn<'a> {
    pub(crate) fn new(turns: &'a Turns, ticket: &'a mut Ticket) -> Self {
        Self {
            turns,
            ticket,
            patience: PATIENCE,
            starves_at: None,
            has_asked: false,
            missed: false,
        }
    }

    /// Whether the producer asks for a turn before it waits for free slots again. Its last wait may
    /// have found free slots that another producer then took.
    pub(crate) fn is_due(&self) -> bool {
        self.is_starving() || !self.has_asked && self.turns.are_taken()
    }

    fn is_starving(&self) -> bool {
        has_passed(self.starves_at)
    }

    /// Waits for a turn, until `deadline` at most.
    #[cold]
    pub(crate) fn take(&mut self, deadline: Option<Instant>) {
        let is_starving = self.is_starving();
        if is_starving {
            self.starves_at = None;
            self.patience = self.patience.saturating_mul(2);
        }
        self.has_asked = true;
        if self.turns.is_turn_of(*self.ticket) {
            return;
        }
        let thread = thread::current(); // may allocate, so it comes before the lock
        let mut queue = self.turns.lock();
        if queue.waiting.is_empty() && !is_starving && self.turns.is_last_turn_of(*self.ticket) {
            self.turns.call_next(&mut queue);
            return;
        }
        *self.ticket = queue.join(thread, self.missed);
        let next = if self.turns.is_over() { self.turns.call_next(&mut queue) } else { None };
        let is_called = !queue.has(*self.ticket);
        let longest_sleep = queue.longest_sleep();
        drop(queue);
        if !is_called {
            wake(next);
            let end = earlier(deadline, now() + longest_sleep);
            self.missed |= self.turns.sleep_until_called(*self.ticket, end);
        }
    }

    /// When the next wait ends, at `deadline` at the latest.
    pub(crate) fn limit_wait(&mut self, deadline: Option<Instant>) -> Option<Instant> {
        self.has_asked = false;
        let starves_at = *self.starves_at.get_or_insert_with(|| now() + self.patience);
        Some(earlier(deadline, starves_at))
    }
}

fn wake(thread: Option<Thread>) {
    if let Some(thread) = thread {
        thread.unpark();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// A turn that begins at once, since its producer starves.
    fn starve<'a>(turns: &'a Turns, ticket: &'a mut Ticket) -> Turn<'a> {
        let mut turn = Turn::new(turns, ticket);
        turn.starves_at = Some(Instant::now());
        turn.take(None);
        turns.set_end(Duration::from_secs(3600).as_nanos() as u64); // until `end_turn`
        turn
    }

    /// Whether the producer of `turn` has the turn at present.
    fn is_on(turn: &Turn<'_>) -> bool {
        turn.turns.is_turn_of(*turn.ticket)
    }

    fn end_turn(turns: &Turns) {
        turns.set_end(1);
        while !turns.is_over() {
            thread::yield_now();
        }
    }

    fn queued(turns: &Turns) -> usize {
        turns.lock().waiting.len()
    }

    #[test]
    fn a_producer_that_has_waited_for_too_long_has_a_turn_and_the_others_queue() {
        let turns = &Turns::default();
        let mut ticket = Ticket::default();
        let mut second_ticket = Ticket::default();
        assert!(!Turn::new(turns, &mut ticket).is_due(), "the producers take no turns");
        let first = starve(turns, &mut ticket);
        assert!(is_on(&first));
        let mut second = Turn::new(turns, &mut second_ticket);
        assert!(second.is_due());
        second.take(Some(Instant::now())); // its time limit has passed
        assert!(!is_on(&second) && !second.missed && !second.is_due(), "it waits as usual now");
        assert_eq!(queued(turns), 0);
        assert!(second.limit_wait(None).is_some() && second.is_due(), "then it asks again");
    }

    #[test]
    fn a_consumer_calls_the_producers_in_their_order() {
        let turns = &Turns::default();
        let mut ticket = Ticket::default();
        let _first = starve(turns, &mut ticket);
        let called = &Mutex::new(Vec::new());
        thread::scope(|scope| {
            for number in 0..3 {
                scope.spawn(move || {
                    let mut ticket = Ticket::default();
                    let mut turn = Turn::new(turns, &mut ticket);
                    turn.take(None);
                    assert!(turn.missed, "called");
                    called.lock().unwrap().push(number);
                });
                while queued(turns) <= number {
                    thread::yield_now();
                }
            }
            for calls in 1..=3 {
                end_turn(turns);
                turns.pass_on();
                while called.lock().unwrap().len() < calls {
                    thread::yield_now();
                }
            }
        });
        assert_eq!(*called.lock().unwrap(), [0, 1, 2]);
        end_turn(turns);
        turns.pass_on();
        assert!(!turns.are_taken(), "the queue is empty");
    }

    #[test]
    fn a_producer_that_finds_the_ring_full_after_its_turn_calls_the_next() {
        let turns = &Turns::default();
        thread::scope(|scope| {
            let mut ticket = Ticket::default();
            let mut turn = starve(turns, &mut ticket);
            scope.spawn(|| Turn::new(turns, &mut Ticket::default()).take(None));
            while queued(turns) == 0 {
                thread::yield_now();
            }
            end_turn(turns);
            turn.take(Some(Instant::now()));
            assert!(!turn.turns.is_last_turn_of(*turn.ticket), "another producer was called");
        });
        assert_eq!(queued(turns), 0);
    }

    #[test]
    fn a_producer_without_a_competitor_goes_on() {
        let turns = Turns::default();
        let mut ticket = Ticket::default();
        let mut turn = starve(&turns, &mut ticket);
        end_turn(&turns);
        turn.take(None);
        assert!(!turns.are_taken());
    }

    #[test]
    fn a_producer_that_has_missed_its_turn_joins_at_the_front() {
        let mut queue = Queue::default();
        let [first, second] = [(), ()].map(|()| queue.join(thread::current(), false));
        let missed = queue.join(thread::current(), true);
        let order: Vec<_> = queue.waiting.iter().map(|&(ticket, _)| ticket).collect();
        assert_eq!(order, [missed, first, second]);
    }

    #[test]
    fn the_end_of_the_ring_wakes_the_queue() {
        let turns = &Turns::default();
        let mut ticket = Ticket::default();
        let _first = starve(turns, &mut ticket);
        thread::scope(|scope| {
            scope.spawn(|| Turn::new(turns, &mut Ticket::default()).take(None));
            while queued(turns) == 0 {
                thread::yield_now();
            }
            turns.end();
        });
        assert!(!turns.are_taken());
    }

    #[test]
    fn short_waits_do_not_postpone_the_time_when_a_producer_starves() {
        let turns = Turns::default();
        let mut ticket = Ticket::default();
        let mut turn = Turn::new(&turns, &mut ticket);
        let starves_at = turn.limit_wait(None).unwrap();
        while !turn.is_due() {
            assert_eq!(turn.limit_wait(None), Some(starves_at));
        }
        assert!(turn.is_starving());
        turn.take(None);
        assert!(turn.limit_wait(None).unwrap() > starves_at + PATIENCE, "twice as long");
    }

    #[test]
    fn the_queue_has_space_for_every_producer() {
        let turns = Turns::default();
        for producers in 1..=100 {
            turns.reserve(producers);
            assert!(turns.lock().waiting.capacity() >= producers);
        }
        turns.lock().join(thread::current(), false);
        turns.reserve(1_000);
        assert!(turns.lock().waiting.capacity() >= 1_000);
        assert_eq!(queued(&turns), 1, "those that wait stay in the queue");
    }

    #[test]
    fn a_turn_is_shorter_the_more_producers_queue() {
        let mut queue = Queue::default();
        let mut length_with = |producers| {
            while queue.waiting.len() < producers {
                queue.join(thread::current(), false);
            }
            queue.length_of_turn()
        };
        assert_eq!([1, 4, 200].map(&mut length_with), [ROUND, ROUND / 4, SHORTEST_TURN]);
    }
}
