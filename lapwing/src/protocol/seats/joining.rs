//! How a consumer takes a seat while producers publish: where it may start, so that no event from
//! there on is overwritten before it is read, and how far producers may go meanwhile. Not here: who
//! may join (`topology::seats`), when a producer looks (`claims::gate`).
//!
//! ```text
//! producer at its limit               consumer that joins
//! granted = gate + capacity           sequence of its seat = where it would start
//! fence                               fence
//! look at the seats again             look at `granted`: it starts a lap below at the earliest
//! ```
//!
//! Either the producer sees the seat and stays a lap below it, or the consumer sees `granted` and
//! starts behind what that lets the producer overwrite (O15). A limit that a producer keeps from
//! before was granted before, so it needs no second look.

use crate::Sequence;
use crate::error::{HaltCause, SeatError};
use crate::protocol::control::{Control, DETACHED, StageIndex};
use crate::protocol::parking::event_count::EventCount;
use crate::protocol::stamps::Span;
use crate::sync::{Ordering, fence};

/// Where a consumer starts that joins a ring as it runs.
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
    /// At the first event that is not published yet. Each event that is published after the call
    /// comes.
    Now,
    /// At the oldest event that the ring holds for sure. One that a consumer has not finished is older only
    /// if a producer was about to overwrite it when that consumer joined.
    Oldest,
    /// At this sequence, if the ring holds it for sure; at most that of [`Now`](Self::Now).
    Sequence(Sequence),
}

/// A consumer in its seat.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Joined {
    pub(crate) seat: StageIndex,
    /// Which of the consumers of this seat it is.
    pub(crate) turn: u64,
    /// Its first sequence.
    pub(crate) start: Sequence,
}

/// The producers' half.
impl Control {
    /// The sequence of the slowest consumer, seats included; [`DETACHED`] if nobody is left.
    ///
    /// Each word is read at another moment, so with seats this may miss a consumer that came while
    /// another went: [`grant`](Self::grant) decides.
    #[inline]
    pub(crate) fn gate(&self) -> Sequence {
        let gate = self.finished_by_all(&self.gating);
        if self.seating.is_empty() { gate } else { gate.min(self.slowest_seat()) }
    }

    /// The least sequence of those in the seats; [`DETACHED`] if all are free.
    fn slowest_seat(&self) -> Sequence {
        // Nobody comes after a seat, so one that is free hands on nothing.
        self.seating.seats().map(|seat| self.sequence_of(seat)).min().unwrap_or(DETACHED)
    }

    /// How far a producer may go that found the gate a lap before `limit`: not so far if somebody
    /// is just joining.
    pub(crate) fn grant(&self, limit: Sequence) -> Sequence {
        if self.seating.is_empty() {
            return limit;
        }
        self.seating.raise_granted(limit);
        // O15: pairs with the fence in `sit_down`. Either the consumer that joins sees `limit` and
        // starts no more than a lap below it, or its sequence is seen here.
        fence(Ordering::SeqCst);
        limit.min(self.slowest_seat().saturating_add(self.capacity))
    }

    /// Where a producer is to sleep until the gate has finished `sequence`, which it has not yet, or,
    /// if it is patient, until there is room behind whoever has not. `None` to look again instead.
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

/// The half of who joins.
impl Control {
    /// Takes a free seat for a consumer that begins at `start`.
    ///
    /// # Errors
    ///
    /// [`SeatError`] if there is no seat, if `start` is a sequence that the ring does not hold, or
    /// if the ring is halted.
    pub(crate) fn join(&self, start: StartAt) -> Result<Joined, SeatError> {
        let wish = self.wish(start)?;
        let Some((seat, turn)) = self.seating.take() else {
            return Err(SeatError::NoFreeSeat { seats: self.seating.seats().len() });
        };
        if !self.seating.add_consumer() {
            self.seating.free_seat(seat);
            // The last consumer may not have come to the halt yet.
            return Err(SeatError::Halted(
                self.life.halt_cause().unwrap_or(HaltCause::NoConsumers),
            ));
        }
        let result = self.sit_down(seat, start, wish);
        if result.is_err() {
            self.leave_seat(seat);
        }
        // O6: where the whole graph has left, a producer may have found nobody behind, and lain down
        // with the publication. One that lies down later sees where this seat is (O7).
        self.published.wake_all();
        result.map(|start| Joined { seat, turn, start })
    }

    /// Leaves `seat` to others, as [`detach`](Self::detach).
    pub(crate) fn leave_seat(&self, seat: StageIndex) {
        self.detach(seat);
        self.seating.free_seat(seat);
    }

    /// The sequence that is asked for, as far as it can be had just now.
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

    /// Begins to hold producers back from `seat` on, at `wish` or, if that is no longer there and
    /// `start` does not insist on it, at the oldest event.
    fn sit_down(
        &self,
        seat: StageIndex,
        start: StartAt,
        wish: Sequence,
    ) -> Result<Sequence, SeatError> {
        // O2, Release: pairs with the Acquire in `sequence_of`; carries that all below is settled,
        // and what the last consumer in this seat read.
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

    /// The oldest sequence that no producer was allowed to overwrite. It never goes back.
    fn oldest(&self) -> Sequence {
        self.seating.granted().saturating_sub(self.capacity)
    }

    /// First sequence that is not published and comes after published ones only, from `oldest` on.
    ///
    /// Of several producers, one that claimed before may publish later. A consumer that started
    /// past it, and was the only one, would let others claim that very slot again.
    fn first_unpublished(&self, oldest: Sequence) -> Sequence {
        let claimed = self.claimed();
        let Some(stamps) = &self.stamps else {
            return self.life.end().map_or(claimed, |end| end.min(claimed));
        };
        // What a stage has finished is published. Seldom is much more than that.
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
