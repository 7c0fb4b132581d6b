//! How a consumer takes a seat while producers publish: where it may start so that it reads every
//! event before it is overwritten, and how far producers may claim meanwhile. Not here: which
//! consumers may join (`topology::seats`), and when a producer loads the gate (`claims::gate`).
//!
//! ```text
//! producer at its limit               joining consumer
//! granted = gate + capacity           sequence of its seat = where it would start
//! fence                               fence
//! load the seats again                load `granted`: it starts at most a lap below
//! ```
//!
//! Either the producer sees the seat and stays within one lap of it, or the consumer sees
//! `granted`. The consumer then starts after the events that the producer may overwrite (O15). A
//! limit that a producer reuses was granted earlier, so it needs no second check.

use crate::Sequence;
use crate::error::{HaltCause, SeatError};
use crate::protocol::control::{Control, DETACHED, Gate, StageIndex};
use crate::protocol::parking::event_count::EventCount;
use crate::protocol::stamps::Span;
use crate::sync::{Ordering, fence};

/// Where a consumer that joins a running ring starts.
///
/// ```
/// use lapwing::{Disruptor, graph::StartAt};
///
/// let (mut producer, mut consumers) =
///     Disruptor::single_producer(8, || 0_u64).seats(3).stage("all").poller().build()?;
/// let _all = consumers.take_poller("all")?;
/// producer.publish_batch(5, |_| {})?;
/// let seats = consumers.seats();
/// assert_eq!(seats.take("late", StartAt::Now)?.sequence(), 5);
/// assert_eq!(seats.take("replay", StartAt::Oldest)?.sequence(), 0);
/// assert_eq!(seats.take("resume", StartAt::Sequence(3))?.sequence(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartAt {
    /// At the first event that is not published yet. The consumer gets each event published after
    /// the call.
    Now,
    /// At the oldest event that the ring is certain to hold. That includes each event that some
    /// consumer has not finished, unless a producer was about to overwrite the event when that
    /// consumer joined.
    Oldest,
    /// At this sequence, if the ring is certain to hold it. It must not be beyond that of
    /// [`Now`](Self::Now).
    Sequence(Sequence),
}

/// The seat that a consumer has taken.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Joined {
    pub(crate) seat: StageIndex,
    /// Which consumer of this seat it is.
    pub(crate) turn: u64,
    /// Its first sequence.
    pub(crate) start: Sequence,
}

/// Operations of producers.
impl Control {
    /// Returns what the slowest consumer has finished, seats included.
    ///
    /// The words are loaded at different moments. With seats, this may miss a consumer that joins
    /// while another leaves, so [`grant`](Self::grant) loads the seats again.
    #[inline]
    pub(crate) fn gate(&self) -> Gate {
        let gate = self.finished_by_all(&self.gating);
        Gate::new(if self.seating.is_empty() { gate } else { gate.min(self.slowest_seat()) })
    }

    /// Returns the least sequence of the occupied seats; [`DETACHED`] if all are free.
    fn slowest_seat(&self) -> Sequence {
        // No stage is downstream of a seat, so no stage waits for what a free seat waited for.
        self.seating.seats().map(|seat| self.sequence_of(seat)).min().unwrap_or(DETACHED)
    }

    /// Returns how far a producer may claim that found the gate one lap below `limit`. That is less
    /// than `limit` if a consumer is just joining.
    pub(crate) fn grant(&self, limit: Sequence) -> Sequence {
        if self.seating.is_empty() {
            return limit;
        }
        self.seating.raise_granted(limit);
        // O15: pairs with the fence in `sit_down`. Either the joining consumer sees `limit` and
        // starts no more than a lap below it, or its sequence is seen here.
        fence(Ordering::SeqCst);
        limit.min(self.slowest_seat().saturating_add(self.capacity))
    }

    /// Returns the event count to park on until the gate has finished `sequence`, which it has not
    /// yet. A patient producer waits for a quarter of the ring behind the slow consumer instead.
    /// `None` means to check again instead.
    pub(crate) fn behind_gate(&self, sequence: Sequence, is_patient: bool) -> Option<&EventCount> {
        let is_behind = |&seat: &StageIndex| self.sequence_of(seat) <= sequence;
        let seat = self.seating.seats().find(is_behind);
        match seat.or_else(|| self.stage_behind(&self.gating, sequence)) {
            Some(stage) if is_patient => Some(&self.stages[stage].released.room),
            Some(stage) => Some(&self.stages[stage].released.anything),
            None => self.behind(&self.gating, sequence),
        }
    }
}

/// Operations of a consumer that joins or leaves.
impl Control {
    /// Takes a free seat for a consumer that begins at `start`.
    ///
    /// # Errors
    ///
    /// [`SeatError`] if there is no free seat, if the ring does not hold the sequence `start`, or
    /// if the ring is halted.
    pub(crate) fn join(&self, start: StartAt) -> Result<Joined, SeatError> {
        let wish = self.wish(start)?;
        let Some((seat, turn)) = self.seating.take() else {
            return Err(SeatError::NoFreeSeat { seats: self.seating.seats().len() });
        };
        if !self.seating.add_consumer() {
            self.seating.free_seat(seat);
            // The last consumer may not have halted the ring yet.
            return Err(SeatError::Halted(
                self.life.halt_cause().unwrap_or(HaltCause::NoConsumers),
            ));
        }
        let result = self.sit_down(seat, start, wish);
        if result.is_err() {
            self.leave_seat(seat);
        }
        // O6: if the whole graph has left, a producer may have found no consumer behind and parked
        // on the publication. A producer that parks later sees this seat (O7).
        self.published.wake_all();
        result.map(|start| Joined { seat, turn, start })
    }

    /// Leaves `seat` and frees it. Halts the ring if this was the last consumer; see
    /// [`detach`](Self::detach).
    pub(crate) fn leave_seat(&self, seat: StageIndex) {
        self.detach(seat);
        self.seating.free_seat(seat);
    }

    /// Returns the requested sequence, if the ring holds it at present.
    fn wish(&self, start: StartAt) -> Result<Sequence, SeatError> {
        let oldest = self.oldest();
        match start {
            StartAt::Now => Ok(self.first_unpublished(oldest)),
            StartAt::Oldest => Ok(oldest),
            StartAt::Sequence(requested) => {
                let newest = self.first_unpublished(oldest);
                let is_held = (oldest..=newest).contains(&requested);
                let error = SeatError::OutOfRange { requested, oldest, newest };
                is_held.then_some(requested).ok_or(error)
            }
        }
    }

    /// Begins to hold producers back at `seat`, from `wish` on. If `wish` may have been overwritten
    /// and `start` does not name a sequence, begins at the oldest event instead.
    fn sit_down(
        &self,
        seat: StageIndex,
        start: StartAt,
        wish: Sequence,
    ) -> Result<Sequence, SeatError> {
        // O2, Release: pairs with the Acquire in `sequence_of`; carries that everything below is
        // settled, and the reads of the last consumer in this seat.
        self.stages[seat].sequence.store(wish, Ordering::Release);
        // O15: pairs with the fence in `grant`.
        fence(Ordering::SeqCst);
        let oldest = self.oldest();
        if let Some(cause) = self.life.halt_cause() {
            return Err(SeatError::Halted(cause));
        }
        if wish >= oldest {
            return Ok(wish);
        }
        if let StartAt::Sequence(requested) = start {
            let newest = self.first_unpublished(oldest);
            return Err(SeatError::OutOfRange { requested, oldest, newest });
        }
        self.advance(seat, oldest);
        Ok(oldest)
    }

    /// Returns the oldest sequence that no producer was allowed to overwrite. It never goes back.
    fn oldest(&self) -> Sequence {
        self.seating.granted().saturating_sub(self.capacity)
    }

    /// Returns the first unpublished sequence from `oldest` on, such that all events before it are
    /// published.
    ///
    /// With several producers, an earlier claim may be published later. If the only consumer
    /// started past it, other producers could claim its slot again.
    fn first_unpublished(&self, oldest: Sequence) -> Sequence {
        let claimed = self.claimed();
        let Some(stamps) = &self.stamps else {
            return self.life.end().map_or(claimed, |end| end.min(claimed));
        };
        // What a stage has finished is published, and that is usually nearly everything.
        let finished = self.seating.readers().map(|stage| self.sequence_of(stage));
        let finished = finished.filter(|&sequence| sequence != DETACHED).max();
        let mut next = finished.map_or(oldest, |finished| finished.max(oldest));
        while next < claimed
            && let Span::Events(end) | Span::Tombstones(end) = stamps.settled(next, claimed)
        {
            next = end;
        }
        next
    }
}
