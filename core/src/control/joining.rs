//! How a consumer takes a dynamic stage while producers publish: where it may start so that it
//! reads every event before it is overwritten, and how far producers may claim meanwhile. Not here:
//! which consumers may join (`lapwing::graph`), and when a producer loads the gate
//! (`claims::gate`).
//!
//! ```text
//! producer at its limit               joining consumer
//! granted = gate + capacity           its sequence = where it would start
//! fence                               fence
//! load the dynamic stages again       load `granted`: it starts at most a lap below
//! ```
//!
//! Either the producer sees the dynamic stage and stays within one lap of it, or the consumer sees
//! `granted`. The consumer then starts after the events that the producer may overwrite (O15). A
//! limit that a producer reuses was granted earlier, so it needs no second check.

use super::Control;
use crate::Sequence;
use crate::error::{Cause, JoinError};
use crate::publication::Span;
use crate::stages::{DETACHED, StageIndex};
use crate::sync::{Ordering, fence};
use crate::words::Placed;

/// Where a consumer that joins a running ring starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartAt {
    /// At the first event that is not published yet.
    Now,
    /// At the oldest event that the ring is certain to hold.
    Oldest,
    /// At this sequence, if the ring is certain to hold it.
    Sequence(Sequence),
}

/// The dynamic stage that a consumer has taken. Dropping it leaves the dynamic stage: it stops
/// holding producers back and is free for the next consumer.
#[derive(Debug)]
pub struct Joined {
    control: Placed<Control>,
    dynamic_stage: StageIndex,
    /// Which consumer of this dynamic stage it is.
    generation: u64,
    /// Its first sequence.
    start: Sequence,
}

impl Joined {
    /// Takes a free dynamic stage for a consumer that begins at `start`.
    ///
    /// # Errors
    ///
    /// [`JoinError`] if there is no free dynamic stage, if the ring does not hold the sequence
    /// `start`, or if the ring is halted.
    pub fn new(control: &Placed<Control>, start: StartAt) -> Result<Self, JoinError> {
        let (dynamic_stage, generation, start) = control.join(start)?;
        Ok(Self { control: control.clone(), dynamic_stage, generation, start })
    }

    /// Returns the index of its words.
    #[must_use]
    pub fn dynamic_stage(&self) -> StageIndex {
        self.dynamic_stage
    }

    /// Returns which consumer of this dynamic stage it is.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns its first sequence.
    #[must_use]
    pub fn start(&self) -> Sequence {
        self.start
    }

    /// Whether it has a dynamic stage of the ring of `control`.
    pub(crate) fn is_of(&self, control: &Placed<Control>) -> bool {
        self.control.ptr_eq(control)
    }
}

impl Drop for Joined {
    fn drop(&mut self) {
        self.control.leave_dynamic_stage(self.dynamic_stage);
    }
}

/// Operations of producers.
impl Control {
    /// Returns how far a producer may claim that found the gate one lap below `limit`. That is less
    /// than `limit` if a consumer is just joining.
    pub(crate) fn grant(&self, limit: Sequence) -> Sequence {
        if self.stages.dynamic().is_empty() {
            return limit;
        }
        self.stages.dynamic().raise_granted(limit);
        // O15: pairs with the fence in `sit_down`. Either the joining consumer sees `limit` and
        // starts no more than a lap below it, or its sequence is seen here.
        fence(Ordering::SeqCst);
        limit.min(self.stages.slowest_dynamic().saturating_add(self.capacity))
    }
}

/// Operations of a consumer that joins or leaves.
impl Control {
    /// Takes a free dynamic stage for a consumer that begins at `start`.
    ///
    /// # Errors
    ///
    /// [`JoinError`] if there is no free dynamic stage, if the ring does not hold the sequence
    /// `start`, or if the ring is halted.
    fn join(&self, start: StartAt) -> Result<(StageIndex, u64, Sequence), JoinError> {
        let wish = self.wish(start)?;
        let dynamic = self.stages.dynamic();
        let Some((dynamic_stage, generation)) = dynamic.take() else {
            return Err(JoinError::NoneFree);
        };
        if !dynamic.add_consumer() {
            dynamic.give_back(dynamic_stage);
            // The last consumer may not have halted the ring yet.
            return Err(JoinError::Halted(self.life.halt_cause().unwrap_or(Cause::NO_CONSUMERS)));
        }
        let result = self.sit_down(dynamic_stage, start, wish);
        if result.is_err() {
            self.leave_dynamic_stage(dynamic_stage);
        }
        // O6: if the whole graph has left, a producer may have found no consumer behind and parked
        // on the publication. A producer that parks later sees this dynamic stage (O7).
        self.parking.published().wake_all();
        result.map(|start| (dynamic_stage, generation, start))
    }

    /// Leaves `dynamic_stage` and frees it. Halts the ring if this was the last consumer; see
    /// [`detach`](Self::detach).
    fn leave_dynamic_stage(&self, dynamic_stage: StageIndex) {
        self.detach(dynamic_stage);
        self.stages.dynamic().give_back(dynamic_stage);
    }

    /// Returns the requested sequence, if the ring holds it at present.
    fn wish(&self, start: StartAt) -> Result<Sequence, JoinError> {
        let oldest = self.oldest();
        match start {
            StartAt::Now => Ok(self.first_unpublished(oldest)),
            StartAt::Oldest => Ok(oldest),
            StartAt::Sequence(requested) => {
                let newest = self.first_unpublished(oldest);
                let is_held = (oldest..=newest).contains(&requested);
                let error = JoinError::OutOfRange { oldest, newest };
                is_held.then_some(requested).ok_or(error)
            }
        }
    }

    /// Begins to hold producers back at `dynamic_stage`, from `wish` on. If `wish` may have been
    /// overwritten and `start` does not name a sequence, begins at the oldest event, or at the
    /// first one that is not published by now.
    fn sit_down(
        &self,
        dynamic_stage: StageIndex,
        start: StartAt,
        wish: Sequence,
    ) -> Result<Sequence, JoinError> {
        // O2: the Release in `store` carries that everything below is settled, and the reads of the
        // last consumer in this dynamic stage.
        let words = self.stages.of(dynamic_stage);
        words.store(wish);
        // O15: pairs with the fence in `grant`.
        fence(Ordering::SeqCst);
        let oldest = self.oldest();
        if let Some(cause) = self.life.halt_cause() {
            return Err(JoinError::Halted(cause));
        }
        if wish >= oldest {
            return Ok(wish);
        }
        if let StartAt::Sequence(_) = start {
            let newest = self.first_unpublished(oldest);
            return Err(JoinError::OutOfRange { oldest, newest });
        }
        self.advance(words, dynamic_stage, oldest);
        if start == StartAt::Oldest {
            return Ok(oldest);
        }
        // Producers are held back from `oldest` on, so this one holds.
        let newest = self.first_unpublished(oldest);
        self.advance(words, dynamic_stage, newest);
        Ok(newest)
    }

    /// Returns the oldest sequence that no producer was allowed to overwrite. It never goes back.
    fn oldest(&self) -> Sequence {
        self.stages.dynamic().granted().saturating_sub(self.capacity)
    }

    /// Returns the first unpublished sequence from `oldest` on, such that all events before it are
    /// published. It is not beyond the end of the ring.
    ///
    /// With several producers, an earlier claim may be published later. If the only consumer
    /// started past it, other producers could claim its slot again.
    fn first_unpublished(&self, oldest: Sequence) -> Sequence {
        let Some(stamps) = self.publication.stamps() else {
            return self.accepted();
        };
        let claimed = self.claimed();
        // What a stage has finished is published, and that is usually nearly everything.
        let finished = self.stages.dynamic().readers().map(|stage| self.sequence_of(stage));
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::parking::Waits;
    use crate::parking::event_count::ENDED;
    use crate::stages::Graph;

    /// A producer was granted a lap beyond the wish of a consumer before its sequence was seen.
    #[test]
    fn a_consumer_that_joins_now_began_at_the_oldest_event() {
        let (stage, dynamic_stage) = (0, 1);
        let graph = Graph::new(vec![Box::default()]).with_dynamic_stages(1, None);
        let control = Control::for_test((4, None), graph, Waits::default());
        let wish = control.wish(StartAt::Now).unwrap();
        for (start, expected) in [(StartAt::Now, 11), (StartAt::Oldest, 8)] {
            control.stages.dynamic().raise_granted(12);
            control.publication.set(11);
            control.stages.of(stage).store(9);
            assert_eq!(control.sit_down(dynamic_stage, start, wish), Ok(expected));
            assert_eq!(control.sequence_of(dynamic_stage), expected);
        }
    }

    /// The thread that closes the ring has not fixed the end yet, and the producer has stored the
    /// cursor: the consumer that joined began beyond the end.
    #[test]
    fn a_consumer_that_joined_during_a_close_began_at_an_event_that_was_refused() {
        let graph = Graph::new(vec![Box::default()]).with_dynamic_stages(1, None);
        let control = Placed::alone(Control::for_test((4, None), graph, Waits::default()));
        control.life.begin_close();
        control.parking.published().raise(ENDED);
        control.publication.set(1);
        let joined = Joined::new(&control, StartAt::Now).unwrap();
        let end = control.life.fix_end(0);
        assert!(joined.start() <= end, "start={} end={end}", joined.start());
    }
}
