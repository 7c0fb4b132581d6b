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
//!
//! Only a producer that waits takes the lock of the queue. A consumer and a thread that ends the
//! ring try it: if another thread has it, that thread does the rest. A queued producer sleeps on a
//! condition variable of its own, because the wake-up token of `thread::park` belongs to the
//! program.

use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::sync::atomic::fence;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
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
    /// The number of the ticket of the producer that has the turn.
    called: Figure,
    /// Whether the queue is to be woken because the ring ends: 1 until a thread has done it.
    is_to_end: Figure,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    /// Number of the last ticket.
    last: u64,
    /// The numbers and the bells of the producers that wait.
    waiting: VecDeque<(u64, Arc<Condvar>)>,
}

/// A place in the queue. Each producer keeps its last one.
#[derive(Debug, Default)]
pub(crate) struct Ticket {
    number: u64,
    /// Wakes the producer when it is called.
    bell: Arc<Condvar>,
}

impl Turns {
    /// Reserves space in the queue for this number of `producers`, so that a wait does not allocate.
    ///
    /// Nothing is allocated or freed under the lock: a global allocator may publish, and then waits
    /// for a turn.
    pub(crate) fn reserve(&self, producers: usize) {
        let has_room = |queue: &mut Queue| queue.waiting.capacity() >= producers;
        if self.with_queue(has_room) {
            return;
        }
        // Freed after the lock, like the old memory after the swap.
        let mut room = VecDeque::with_capacity(2 * producers);
        self.with_queue(|queue| {
            // Another thread may have made room in between.
            if !has_room(queue) {
                room.extend(queue.waiting.drain(..));
                mem::swap(&mut queue.waiting, &mut room);
            }
        });
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

    /// Wakes the producers in the queue, since the ring accepts no more events. Never waits for the
    /// lock: a thread that has it wakes them afterwards.
    pub(crate) fn end(&self) {
        // O13, Relaxed: a figure.
        self.is_to_end.store(1, Ordering::Relaxed);
        self.end_if_asked();
    }

    /// Wakes the queue if the ring ends. Runs after each use of the lock.
    fn end_if_asked(&self) {
        // O13: between the store of the figure, or the release of the lock, and the two loads. Of
        // two threads, one then sees what the other has done. The standard library's fence, so that
        // it hides nothing in a model.
        fence(Ordering::SeqCst);
        while self.is_to_end()
            && let Ok(mut queue) = self.queue.try_lock()
        {
            // O13, Relaxed: a figure.
            self.is_to_end.store(0, Ordering::Relaxed);
            self.set_end(0);
            queue.waiting.drain(..).for_each(|(_, bell)| bell.notify_one());
            drop(queue);
            // O13: as above, for a thread that ends the ring once more.
            fence(Ordering::SeqCst);
        }
    }

    fn is_to_end(&self) -> bool {
        // O13, Relaxed: a figure.
        self.is_to_end.load(Ordering::Relaxed) != 0
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
    fn is_turn_of(&self, ticket: &Ticket) -> bool {
        self.is_last_turn_of(ticket) && !self.is_over()
    }

    /// Whether no other producer has had a turn since `ticket`.
    fn is_last_turn_of(&self, ticket: &Ticket) -> bool {
        // O13, Relaxed: a figure.
        self.called.load(Ordering::Relaxed) == ticket.number
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
            self.end_if_asked();
        }
    }

    /// Gives the next turn to the first producer in the queue. Returns its bell, which the caller
    /// rings.
    fn call_next(&self, queue: &mut Queue) -> Option<Arc<Condvar>> {
        let end = (now() - self.made_at) + queue.length_of_turn();
        let next = queue.waiting.pop_front();
        let ends_ns = if next.is_some() { end.as_nanos() as u64 } else { 0 };
        self.set_end(ends_ns);
        let (number, bell) = next?;
        // O13, Relaxed: a figure.
        self.called.store(number, Ordering::Relaxed);
        Some(bell)
    }

    /// Sleeps in the queue, until `deadline` at most. Returns whether the producer was called.
    fn sleep_until_called(&self, ticket: &Ticket, deadline: Instant) -> bool {
        let mut queue = self.lock();
        let is_called = loop {
            if !queue.has(ticket.number) {
                break true;
            }
            let left = deadline.saturating_duration_since(now());
            if left.is_zero() || self.is_to_end() {
                queue.remove(ticket.number);
                break false;
            }
            let woken = ticket.bell.wait_timeout(queue, left);
            queue = woken.unwrap_or_else(PoisonError::into_inner).0;
        };
        drop(queue);
        self.end_if_asked();
        is_called
    }

    /// Runs `step` with the queue.
    fn with_queue<R>(&self, step: impl FnOnce(&mut Queue) -> R) -> R {
        let result = step(&mut self.lock());
        self.end_if_asked();
        result
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
            is_to_end: Figure::new(0),
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
    /// Adds the producer of `ticket` with a new number, at the front if it has `missed` its turn.
    fn join(&mut self, ticket: &mut Ticket, missed: bool) {
        self.last += 1;
        ticket.number = self.last;
        let place = (self.last, Arc::clone(&ticket.bell));
        if missed { self.waiting.push_front(place) } else { self.waiting.push_back(place) }
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

    fn has(&self, number: u64) -> bool {
        self.waiting.iter().any(|(other, _)| *other == number)
    }

    fn remove(&mut self, number: u64) {
        self.waiting.retain(|(other, _)| *other != number);
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
        let Self { turns, ticket, missed, .. } = self;
        if turns.is_turn_of(ticket) {
            return;
        }
        let (next, longest_sleep) = turns.with_queue(|queue| {
            if queue.waiting.is_empty() && !is_starving && turns.is_last_turn_of(ticket) {
                return (turns.call_next(queue), None);
            }
            queue.join(ticket, *missed);
            let next = if turns.is_over() { turns.call_next(queue) } else { None };
            (next, queue.has(ticket.number).then(|| queue.longest_sleep()))
        });
        // `None`: it was called at once, or no other producer waits.
        if let Some(longest_sleep) = longest_sleep {
            wake(next);
            let end = earlier(deadline, now() + longest_sleep);
            *missed |= turns.sleep_until_called(ticket, end);
        }
    }

    /// When the next wait ends, at `deadline` at the latest.
    pub(crate) fn limit_wait(&mut self, deadline: Option<Instant>) -> Option<Instant> {
        self.has_asked = false;
        let starves_at = *self.starves_at.get_or_insert_with(|| now() + self.patience);
        Some(earlier(deadline, starves_at))
    }
}

fn wake(bell: Option<Arc<Condvar>>) {
    if let Some(bell) = bell {
        bell.notify_one();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::mpsc;
    use std::thread;

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
        turn.turns.is_turn_of(turn.ticket)
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
            assert!(!turn.turns.is_last_turn_of(turn.ticket), "another producer was called");
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
        let mut join = |missed| {
            let mut ticket = Ticket::default();
            queue.join(&mut ticket, missed);
            ticket.number
        };
        let (first, second, missed) = (join(false), join(false), join(true));
        let order: Vec<_> = queue.waiting.iter().map(|&(number, _)| number).collect();
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

    /// A thread that holds the lock may have lost its CPU.
    #[test]
    fn the_end_of_the_ring_waited_for_the_lock_of_the_queue() {
        let turns = &Turns::default();
        let mut ticket = Ticket::default();
        let _first = starve(turns, &mut ticket);
        thread::scope(|scope| {
            scope.spawn(|| Turn::new(turns, &mut Ticket::default()).take(None));
            while queued(turns) == 0 {
                thread::yield_now();
            }
            let (ended, end) = mpsc::channel();
            let (hold, held) = mpsc::channel::<()>();
            scope.spawn(move || {
                turns.with_queue(|_| {
                    ended.send(None).unwrap();
                    let _ = held.recv();
                });
                ended.send(Some(queued(turns))).unwrap();
            });
            assert_eq!(end.recv(), Ok(None), "the lock is held");
            let (returned, returns) = mpsc::channel();
            scope.spawn(move || {
                turns.end();
                returned.send(()).unwrap();
            });
            let result = returns.recv_timeout(Duration::from_secs(30));
            drop(hold);
            assert_eq!(result, Ok(()), "it has not waited for the lock");
            assert_eq!(end.recv(), Ok(Some(0)), "the thread with the lock has woken the queue");
        });
        assert!(!turns.are_taken());
    }

    /// A program may use `thread::park` in its own loop.
    #[test]
    fn a_wait_for_a_turn_used_up_a_wake_up_of_the_program() {
        let turns = &Turns::default();
        let mut ticket = Ticket::default();
        let _first = starve(turns, &mut ticket);
        thread::current().unpark();
        Turn::new(turns, &mut Ticket::default()).take(Some(Instant::now() + SHORTEST_TURN));
        let start = Instant::now();
        let limit = Duration::from_secs(10);
        thread::park_timeout(limit);
        assert!(start.elapsed() < limit, "the wake-up is still there");
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
        turns.lock().join(&mut Ticket::default(), false);
        turns.reserve(1_000);
        assert!(turns.lock().waiting.capacity() >= 1_000);
        assert_eq!(queued(&turns), 1, "those that wait stay in the queue");
    }

    #[test]
    fn a_turn_is_shorter_the_more_producers_queue() {
        let mut queue = Queue::default();
        let mut length_with = |producers| {
            while queue.waiting.len() < producers {
                queue.join(&mut Ticket::default(), false);
            }
            queue.length_of_turn()
        };
        assert_eq!([1, 4, 200].map(&mut length_with), [ROUND, ROUND / 4, SHORTEST_TURN]);
    }
}
