//! Reads the shared words of a ring once, in an order that keeps the results consistent.
//!
//! ```text
//! 0. the claims, a first time            every event a lap before them is finished, whatever is
//!                                        read later
//! 1. sequences, downstream stages first  a stage releases its sequence after its upstream stages,
//! 2. acknowledgements, workers           so reading those later shows at least as much: no stage
//! 3. the claims, a second time           appears ahead of its upstream stages
//! 4. close or halt, the end              after the cursor, in the same order as in a stage (O8)
//! 5. the stamps (multi only)             from the furthest stage to the claims
//! ```

use lapwing_core::{DETACHED, StageIndex, View};

use super::state::RingState;
use crate::Sequence;
use crate::activity::Figures;
use crate::sync::Ordering;
use crate::watched::Watched;

/// The values of a ring's words.
#[derive(Debug)]
pub(super) struct Look {
    pub(super) state: RingState,
    pub(super) published: Sequence,
    pub(super) claimed: Sequence,
    pub(super) waiting_producers: u64,
    pub(super) dropped: u64,
    /// By index of the stage in the ring, followed by the words of acknowledgements and of workers.
    /// A group shows as one stage.
    pub(super) stages: Vec<StageLook>,
}

/// The values of a stage's words.
#[derive(Debug, Clone, Copy)]
pub(super) struct StageLook {
    /// `None` if the stage has left.
    pub(super) sequence: Option<Sequence>,
    pub(super) figures: Figures,
}

impl Look {
    pub(super) fn at(watched: &Watched) -> Self {
        Self::after(watched, watched.view.claimed())
    }

    /// Reads the words, given the number of claims `before`. Every event a lap before that is
    /// finished, so no stage shows less. The published sequence therefore never goes back between
    /// two calls, although the bound of a worker may fall.
    ///
    /// A close that has not fixed the end yet is the exception. The cursor of a single producer may
    /// then count events that the close refuses, and a later call shows fewer. The state of the
    /// ring is [`RingState::Closing`] meanwhile, or [`RingState::Halted`] after a halt.
    fn after(watched: &Watched, before: Sequence) -> Self {
        let view = &watched.view;
        // O13, Relaxed: figures only.
        let waiting_producers = watched.words.waiting_producers.load(Ordering::Relaxed);
        let dropped = watched.words.dropped.load(Ordering::Relaxed);
        let mut stages = look_at_stages(watched);
        let claimed = view.claimed();
        // O8: after the load of the cursor.
        let state = RingState::of(view.state());
        // A single producer's cursor may be past the end of a closed ring.
        let claimed = view.end().map_or(claimed, |end| claimed.min(end));
        let floor = before.saturating_sub(view.capacity());
        let lap = end_of_lap(&stages, view.capacity()).max(before);
        let claimed = claimed.min(lap);
        for sequence in stages.iter_mut().filter_map(|stage| stage.sequence.as_mut()) {
            *sequence = (*sequence).clamp(floor, lap);
        }
        let published = if view.is_multi() {
            // Everything below is settled: a stage has finished it, or its slot was claimed again.
            let a_lap_ago = claimed.saturating_sub(view.capacity());
            let finished = (0..stages.len()).filter(|&index| !is_part(view, index));
            let furthest = finished.filter_map(|index| stages[index].sequence).max();
            view.settled_prefix(furthest.unwrap_or(0).max(a_lap_ago), claimed)
        } else {
            claimed
        };
        Self { state, published, claimed, waiting_producers, dropped, stages }
    }

    /// The first sequence that some stage has not finished; the claimed sequence if all stages have
    /// left.
    pub(super) fn gate(&self) -> Sequence {
        furthest_behind(&self.stages).unwrap_or(self.claimed)
    }

    /// The limit up to which each stage may read. It is the least finished and acknowledged
    /// sequence of the stages that it depends on. A stage that has left is replaced by its own
    /// upstream stages.
    pub(super) fn limits(&self, view: &View) -> Vec<Sequence> {
        let mut limits = Vec::with_capacity(self.stages.len());
        // `DETACHED` for the acknowledgements of a stage that has left: they hold back no stage.
        let mut finished = vec![DETACHED; self.stages.len()];
        for (finished, look) in finished.iter_mut().zip(&self.stages) {
            *finished = look.sequence.unwrap_or(DETACHED);
        }
        for index in 0..view.words() {
            let upstream = view.upstream_of(index).iter().map(|&upstream| finished[upstream]);
            let limit = upstream.min().unwrap_or(self.published).min(self.published);
            limits.push(limit);
            if !is_part(view, index) {
                finished[index] = finished[index].min(limit);
            }
        }
        limits
    }

    /// The sequence up to which the finished events of a stage are acknowledged. `None` if the
    /// stage asks for no acknowledgements or has left.
    pub(super) fn acknowledged(&self, view: &View, stage: StageIndex) -> Option<Sequence> {
        let words = view.acknowledgement_of(stage)?;
        let finished = self.stages[stage].sequence?;
        Some(self.stages[words].sequence?.min(finished))
    }
}

/// The least sequence of `stages`; `None` if all have left.
fn furthest_behind(stages: &[StageLook]) -> Option<Sequence> {
    stages.iter().filter_map(|stage| stage.sequence).min()
}

/// The least sequence of `stages` plus one lap: an upper bound for everything shown. If this thread
/// lost its CPU between two reads, the ring may have gone on for many laps; it did pass this bound.
fn end_of_lap(stages: &[StageLook], capacity: u64) -> Sequence {
    furthest_behind(stages).map_or(Sequence::MAX, |gate| gate.saturating_add(capacity))
}

/// Whether the words at `index` belong to a stage: to its acknowledgement or to one of its workers.
pub(super) fn is_part(view: &View, index: StageIndex) -> bool {
    (0..view.words()).any(|stage| {
        view.acknowledgement_of(stage) == Some(index) || view.workers_of(stage).contains(&index)
    })
}

/// Reads all words of the stages and returns their values in index order.
fn look_at_stages(watched: &Watched) -> Vec<StageLook> {
    let view = &watched.view;
    let downstream_first = (0..view.words()).rev();
    let (parts, stages): (Vec<_>, Vec<_>) =
        downstream_first.partition(|&index| is_part(view, index));
    let look = |index: StageIndex| (index, StageLook::at(watched, index));
    let mut looks: Vec<_> = stages.into_iter().chain(parts).map(look).collect();
    looks.sort_unstable_by_key(|&(index, _)| index);
    let mut looks: Vec<_> = looks.into_iter().map(|(_, look)| look).collect();
    for index in 0..view.words() {
        for &worker in view.workers_of(index) {
            let of_worker = looks[worker];
            looks[index].include(of_worker);
        }
    }
    raise_to_those_after(view, &mut looks);
    looks
}

/// Raises each group to the stages after it, because the bound of a worker may fall for a moment. A
/// dynamic consumer is exempt: it has read nothing below the sequence at which it joined.
fn raise_to_those_after(view: &View, looks: &mut [StageLook]) {
    for index in (0..view.dynamic_stages().start).rev() {
        let least = looks[index].sequence;
        let is_group = |near: &&StageIndex| !view.workers_of(**near).is_empty();
        for &group in view.upstream_of(index).iter().filter(is_group) {
            let shown = &mut looks[group].sequence;
            *shown = (*shown).max(least);
        }
    }
}

impl StageLook {
    fn at(watched: &Watched, stage: StageIndex) -> Self {
        let figures = watched.activity(stage).figures();
        // O18: acquires what the stage had waited for, so that it shows at least as far.
        let sequence = watched.view.sequence_of(stage);
        Self { sequence: (sequence != DETACHED).then_some(sequence), figures }
    }

    /// Merges a worker into this group: the group takes the lower sequence and the busier activity.
    fn include(&mut self, worker: Self) {
        self.sequence = self.sequence.min(worker.sequence);
        let Figures { doing, batches, parks, wakes } = &mut self.figures;
        *doing = (*doing).busier(worker.figures.doing);
        // The words of another process may have any value.
        *batches = batches.wrapping_add(worker.figures.batches);
        *parks = parks.wrapping_add(worker.figures.parks);
        *wakes = wakes.wrapping_add(worker.figures.wakes);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::monitor::Monitor;
    use crate::{Disruptor, Poller, SingleProducer};

    /// A ring of 8 slots with two stages, in a row or side by side.
    struct Ends {
        monitor: Monitor,
        producer: SingleProducer<u64>,
        pollers: [Poller<u64>; 2],
    }

    impl Ends {
        fn new(in_a_row: bool, first: Sequence) -> Self {
            let ring = Disruptor::single_producer(8, || 0).first_sequence(first);
            let ring = if in_a_row {
                ring.stage("a").poller().stage("b").poller()
            } else {
                ring.parallel(|parallel| parallel.stage("a").poller().stage("b").poller())
            };
            let (producer, mut consumers) = ring.build().unwrap();
            let pollers = ["a", "b"].map(|name| consumers.take_poller(name).unwrap());
            Self { monitor: producer.monitor(), producer, pollers }
        }

        fn watched(&self) -> &Watched {
            &self.monitor.watched
        }

        /// Publishes, and lets the stages finish, everything below these sequences.
        fn go_to(&mut self, published: Sequence, finished: [Sequence; 2]) {
            while self.watched().view.claimed() < published {
                let end = self.producer.publish(|_| {}).unwrap() + 1;
                for (poller, finished) in self.pollers.iter_mut().zip(finished) {
                    let left = finished.min(end).saturating_sub(poller.sequence());
                    if left > 0 {
                        poller.poll_max(left as usize).unwrap().consume_all();
                    }
                }
            }
        }
    }

    #[test]
    fn nothing_shows_more_than_a_lap_ahead_when_the_ring_goes_on_during_the_look() {
        let mut ends = Ends::new(true, 0);
        for (cursor, shown) in [(3, 3), (10, 10), (11, 11)] {
            ends.go_to(cursor, [cursor, 3]);
            let look = Look::after(ends.watched(), 3);
            assert_eq!((look.claimed, look.published, look.gate()), (shown, shown, 3));
            assert_eq!((look.stages[0].sequence, look.stages[1].sequence), (Some(shown), Some(3)));
        }
    }

    #[test]
    fn nothing_shows_less_than_a_lap_behind_what_was_claimed_before() {
        let mut ends = Ends::new(false, 90);
        ends.go_to(95, [95, 92]);
        for (before, shown) in [(95, 92), (100, 92), (101, 93), (103, 95)] {
            let look = Look::after(ends.watched(), before);
            assert_eq!(look.stages[1].sequence, Some(shown), "{before}");
        }
    }
}
