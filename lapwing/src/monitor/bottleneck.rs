//! The verdict on what limits a running ring. Not here: what has stopped (`stall`).
//!
//! ```text
//! producers ──> [ 1] A ──> [15] B ──> [ 0] C      a ring of 16 slots, none of them free
//!                          ^
//!                          events ready for B: B limits the ring, because no stage waits for a
//!                          downstream stage, so events pile up in front of B
//! ```

use std::cmp::Reverse;

use super::part::Part;
use super::snapshot::{Snapshot, StageSnapshot, StageState};
use super::state::RingState;

impl Snapshot {
    /// Returns what limits the ring, as far as one snapshot shows it.
    ///
    /// Two snapshots show more; see
    /// [`Throughput::bottleneck`](crate::monitor::Throughput::bottleneck).
    ///
    /// The result is `None` in these cases:
    ///
    /// - The ring is open, a slot is free, and no producer waits for a slot. One snapshot does not
    ///   show whether events pile up.
    /// - The ring is halted, or it is closed and drained.
    /// - A producer waits, although every slot is free at the moment of the snapshot.
    ///
    /// Otherwise, the result is the first of these that applies:
    ///
    /// 1. The stage with the most events ready for it ([`available`](StageSnapshot::available)). If
    ///    more events than that wait for an [acknowledgement](crate::Stage::acknowledged), it is
    ///    the acknowledgement. If another stage occupies the thread of the stage, it is that other
    ///    stage.
    /// 2. The producers, if all stages wait for a claim that is not published.
    ///
    /// The [`Display`](Self#impl-Display-for-Snapshot) output of the snapshot ends with this
    /// result.
    ///
    /// ```
    /// use lapwing::{Disruptor, monitor::Part};
    ///
    /// let (mut producer, mut consumers) = Disruptor::single_producer(4, || 0_u64)
    ///     .parallel(|parallel| parallel.stage("journal").poller().stage("replica").poller())
    ///     .build()?;
    /// let mut replica = consumers.take_poller("replica")?;
    /// let monitor = producer.monitor();
    /// producer.publish_batch(3, |_| {})?;
    /// replica.poll()?.consume_all();
    /// assert_eq!(monitor.snapshot().bottleneck(), None); // a slot is free
    ///
    /// producer.publish(|event| *event = 7)?;
    /// let limit = Part::Stage { name: "journal".into() };
    /// assert_eq!(monitor.snapshot().bottleneck(), Some(limit));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn bottleneck(&self) -> Option<Part> {
        limit_of(self, None)
    }

    /// Whether producers lack free slots.
    fn holds_producers_back(&self) -> bool {
        self.waiting_producers > 0 || self.free_slots == 0
    }
}

/// Returns what limits the ring of `later`, and of `earlier` if there are two snapshots. The rules
/// are those of [`Throughput::bottleneck`](crate::monitor::Throughput::bottleneck) and
/// [`Snapshot::bottleneck`].
pub(super) fn limit_of(later: &Snapshot, earlier: Option<&Snapshot>) -> Option<Part> {
    if later.state == RingState::Halted {
        return None;
    }
    let is_closed = later.state == RingState::Closed;
    let is_up_to_stages = is_closed || later.holds_producers_back();
    let was_held_back = earlier.is_some_and(Snapshot::holds_producers_back);
    let counts = |suspect: &Suspect<'_>| {
        let has_stayed = was_held_back && suspect.depth_before > 0;
        is_up_to_stages || has_stayed || suspect.was_never_without
    };
    let suspects: Vec<_> = suspects(later, earlier).filter(counts).collect();
    // The reverse order: of equal suspects, `max_by_key` returns the last.
    if let Some(worst) = suspects.iter().rev().max_by_key(|suspect| suspect.rank()) {
        return Some(worst.name(later));
    }
    let is_claim = is_up_to_stages && later.published < later.claimed;
    let has_flown = earlier.is_some_and(|earlier| later.published > earlier.published);
    (is_claim || (has_flown && !is_closed)).then_some(Part::Producers)
}

/// A part of the ring that has events waiting for it.
struct Suspect<'a> {
    stage: &'a StageSnapshot,
    is_acknowledgement: bool,
    /// Number of events waiting for it.
    depth: u64,
    /// The same in the earlier snapshot.
    depth_before: u64,
    /// Whether it has not finished what was waiting in the earlier snapshot. Then it had events to
    /// handle at each moment since.
    was_never_without: bool,
    /// How many times its thread parked since, and how many events it finished.
    parks: u64,
    finished: u64,
}

/// Returns the parts of the ring that have events waiting for them in `later`.
fn suspects<'a>(
    later: &'a Snapshot,
    earlier: Option<&'a Snapshot>,
) -> impl Iterator<Item = Suspect<'a>> {
    let suspects = later.stages.iter().flat_map(move |stage| {
        let before = earlier.and_then(|earlier| earlier.same_consumer(stage));
        let parks = before.map_or(0, |before| stage.parks.saturating_sub(before.parks));
        let suspect = |is_acknowledgement, queue_of: fn(&StageSnapshot) -> Option<Queue>| {
            let queue = queue_of(stage)?;
            let before = before.and_then(queue_of);
            Some(Suspect {
                stage,
                is_acknowledgement,
                depth: queue.depth(),
                depth_before: before.map_or(0, Queue::depth),
                was_never_without: before.is_some_and(|before| queue.next < before.end),
                parks,
                finished: before.map_or(0, |before| queue.next.saturating_sub(before.next)),
            })
        };
        [suspect(false, Queue::of_stage), suspect(true, Queue::of_acknowledgement)]
    });
    suspects.flatten().filter(|suspect| suspect.depth > 0)
}

/// The events that wait for a part of the ring.
#[derive(Clone, Copy)]
struct Queue {
    next: u64,
    end: u64,
}

impl Queue {
    fn of_stage(stage: &StageSnapshot) -> Option<Self> {
        let next = stage.sequence;
        Some(Self { next, end: next + stage.available })
    }

    fn of_acknowledgement(stage: &StageSnapshot) -> Option<Self> {
        stage.acknowledged.map(|next| Self { next, end: stage.sequence })
    }

    fn depth(self) -> u64 {
        self.end.saturating_sub(self.next)
    }
}

impl Suspect<'_> {
    /// Orders suspects: the greatest limits the ring most.
    fn rank(&self) -> impl Ord + use<> {
        let depth = self.depth.saturating_add(self.depth_before);
        (depth, Reverse(self.parks), Reverse(self.finished))
    }

    fn name(&self, snapshot: &Snapshot) -> Part {
        let name = &self.stage.name;
        if self.is_acknowledgement {
            return Part::Acknowledgement { stage: name.clone() };
        }
        let name = thread_holder(snapshot, self.stage).map_or(name, |holder| &holder.name);
        Part::Stage { name: name.clone() }
    }
}

/// Returns the stage that occupies a thread of `stage`, if all its threads run the handlers of
/// other stages.
fn thread_holder<'a>(snapshot: &'a Snapshot, stage: &StageSnapshot) -> Option<&'a StageSnapshot> {
    if stage.state == StageState::InHandler {
        return None;
    }
    let holder_of = |thread: &String| {
        let is_holder = |other: &&StageSnapshot| {
            other.state == StageState::InHandler && other.threads.contains(thread)
        };
        snapshot.stages.iter().find(is_holder)
    };
    let holders: Option<Vec<_>> = stage.threads.iter().map(holder_of).collect();
    holders?.first().copied()
}
