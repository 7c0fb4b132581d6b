//! The number of events that passed through a ring between two snapshots.

use std::fmt;
use std::time::Duration;

use super::bottleneck::limit_of;
use super::part::Part;
use super::snapshot::{Snapshot, StageSnapshot, StageState};
use super::table::write_table;
use super::text::{counted, rounded_down, visible};

/// The number of events that passed through a ring and its stages between two snapshots, and what
/// limits the ring. Made by [`Snapshot::since`].
///
/// It prints as a table for a terminal:
///
/// ```text
/// ring "orders": 2000 events published in 2.0 s, 1000.0 a second, limited by stage "journal"
/// stage    finished  a second  queue depth
/// decode       2000    1000.0            0
/// journal      1984     992.0         1024
/// ```
///
/// ```
/// use lapwing::{Disruptor, monitor::Part};
///
/// let (mut producer, mut consumers) = Disruptor::single_producer(64, || 0_u64)
///     .parallel(|parallel| parallel.stage("replica").poller().stage("journal").poller())
///     .build()?;
/// let mut replica = consumers.take_poller("replica")?;
/// let mut journal = consumers.take_poller("journal")?;
/// let monitor = producer.monitor();
/// producer.publish_batch(40, |_| {})?;
///
/// let earlier = monitor.snapshot();
/// replica.poll()?.consume_all();
/// journal.poll_max(2)?.consume_all(); // slow, but it has not stopped
/// let throughput = monitor.snapshot().since(&earlier);
///
/// assert!(throughput.stages[0].per_second() > throughput.stages[1].per_second());
/// assert_eq!((throughput.stages[1].finished, throughput.stages[1].queue_depth), (2, 38));
/// let limit = Part::Stage { name: "journal".into() };
/// assert_eq!(throughput.bottleneck(), Some(&limit));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Throughput {
    /// The [name](crate::Builder::name) of the ring.
    pub ring: String,
    /// The time from the beginning of the earlier snapshot to that of the later one. Zero if they
    /// are the same or in the wrong order.
    pub elapsed: Duration,
    /// The increase of [`Snapshot::published`]. With several producers this includes claims that
    /// were given up.
    pub published: u64,
    /// Number of events that producers [dropped](crate::producer::WhenFull::DropNew) in between.
    pub dropped: u64,
    /// The stages that both snapshots show and that have not left the graph, upstream stages first.
    /// A consumer that took a [dynamic stage](crate::graph::DynamicStages) in between is not
    /// included.
    pub stages: Vec<StageThroughput>,
    bottleneck: Option<Part>,
}

/// The number of events that passed through a stage between two snapshots, in
/// [`Throughput::stages`].
///
/// ```
/// use lapwing::{Disruptor, monitor::StageThroughput};
///
/// let (mut producer, mut consumers) =
///     Disruptor::single_producer(8, || 0_u64).stage("ticks").poller().build()?;
/// let mut ticks = consumers.take_poller("ticks")?;
/// let monitor = producer.monitor();
/// let earlier = monitor.snapshot();
/// producer.publish_batch(5, |_| {})?;
/// ticks.poll_max(3)?.consume_all();
/// let throughput = monitor.snapshot().since(&earlier);
/// let stage: &StageThroughput = &throughput.stages[0];
/// assert_eq!((stage.name.as_str(), stage.finished, stage.queue_depth), ("ticks", 3, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StageThroughput {
    /// The name of the stage.
    pub name: String,
    /// The increase of [`StageSnapshot::sequence`]: the number of events that the stage has
    /// finished. Skipped events and claims that were given up are included. A stage shows no
    /// progress before the end of its batch. A worker group shows no progress beyond its first
    /// unfinished event.
    pub finished: u64,
    /// Number of events that were ready for the stage, or being handled, in the later snapshot:
    /// [`StageSnapshot::available`].
    pub queue_depth: u64,
    elapsed: Duration,
}

impl Snapshot {
    /// Returns what has passed through the ring since `earlier`, a snapshot of the same ring by any
    /// of its monitors.
    ///
    /// If `earlier` was taken later than `self`, all increases and rates are zero, stages may be
    /// missing, and the bottleneck means nothing.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, _consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("ticks").poller().build()?;
    /// let monitor = producer.monitor();
    /// let earlier = monitor.snapshot();
    /// producer.publish_batch(3, |_| {})?;
    /// let later = monitor.snapshot();
    /// assert_eq!(later.since(&earlier).published, 3);
    /// assert_eq!(later.since(&later).published_per_second(), 0.0); // no time has passed
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Throughput {
        let elapsed = self.taken_at.saturating_duration_since(earlier.taken_at);
        let has_left = |stage: &&StageSnapshot| stage.state == StageState::Left;
        let stages = self.stages.iter().filter(|stage| !has_left(stage)).filter_map(|stage| {
            let before = earlier.same_consumer(stage)?;
            Some(StageThroughput {
                name: stage.name.clone(),
                finished: stage.sequence.saturating_sub(before.sequence),
                queue_depth: stage.available,
                elapsed,
            })
        });
        Throughput {
            ring: self.ring.clone(),
            elapsed,
            published: self.published.saturating_sub(earlier.published),
            dropped: self.dropped.saturating_sub(earlier.dropped),
            stages: stages.collect(),
            bottleneck: limit_of(self, Some(earlier)),
        }
    }
}

impl Throughput {
    /// Returns the number of events published per second. It is zero if no time has passed.
    ///
    /// ```
    /// use std::{thread, time::Duration};
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, _consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("ticks").poller().build()?;
    /// let monitor = producer.monitor();
    /// let earlier = monitor.snapshot();
    /// producer.publish_batch(3, |_| {})?;
    /// thread::sleep(Duration::from_millis(1));
    /// let rate = monitor.snapshot().since(&earlier).published_per_second();
    /// assert!(rate > 0.0 && rate <= 3000.0); // three events in a millisecond or more
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn published_per_second(&self) -> f64 {
        per_second(self.published, self.elapsed)
    }

    /// Returns what limits the ring, or `None` if the two snapshots do not show it.
    ///
    /// No stage waits for a downstream stage. Events therefore pile up in front of the stage that
    /// limits the ring, until no slot is free and producers wait. The other stages have hardly any
    /// events ready. The result is the first of these that applies:
    ///
    /// 1. `None`, if the ring is halted.
    /// 2. The stage with the most events ready for it, added over both snapshots. This applies if
    ///    the ring is closed, or if producers lack slots in the later snapshot: one of them waits
    ///    for a slot, or no slot is free.
    /// 3. A stage that had events ready at each moment between the snapshots. Of several such
    ///    stages, it is the one with the most events ready.
    /// 4. The producers, if they lack slots or the ring is closed, while all stages wait for an
    ///    unpublished claim.
    /// 5. The producers, if they have published events and the ring is not closed. The stages keep
    ///    up.
    /// 6. `None`.
    ///
    /// In case 3, a stage certainly had events ready if it has not finished those of the earlier
    /// snapshot. The method assumes the same of a stage that has events ready in both snapshots, if
    /// producers lacked slots in the earlier one.
    ///
    /// Instead of a stage, the result may be the [acknowledgement](crate::Stage::acknowledged) of
    /// its events. Events that are finished and not acknowledged then count as ready. Of equal
    /// stages, the result is the one that parked less often, then the one that finished fewer
    /// events, then the first.
    ///
    /// - The workers of a group count as one stage.
    /// - Events of stages that [share a thread](crate::Stage::on_thread) pile up in front of the
    ///   first of them, even if another one is slow. The result is the stage whose handler runs on
    ///   the thread in the later snapshot. Several snapshots show which one runs most of the time.
    /// - A ring of a few slots has no free slot whenever a stage handles events. Its result is
    ///   reliable only if producers wait for slots, with calls such as
    ///   [`publish`](crate::Producer::publish).
    /// - A stage that has [stalled](Snapshot::stall) can also be the result.
    ///
    /// ```
    /// use lapwing::{Disruptor, monitor::Part};
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("ticks").poller().build()?;
    /// let mut ticks = consumers.take_poller("ticks")?;
    /// let monitor = producer.monitor();
    /// let earlier = monitor.snapshot();
    /// producer.publish_batch(3, |_| {})?;
    /// ticks.poll()?.consume_all();
    /// let later = monitor.snapshot();
    /// let limit = Some(&Part::Producers); // the stage keeps up
    /// assert_eq!(later.since(&earlier).bottleneck(), limit);
    /// assert_eq!(later.since(&later).bottleneck(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn bottleneck(&self) -> Option<&Part> {
        self.bottleneck.as_ref()
    }
}

impl StageThroughput {
    /// Returns the number of events finished per second. It is zero if no time has passed.
    ///
    /// ```
    /// use std::{thread, time::Duration};
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("ticks").poller().build()?;
    /// let mut ticks = consumers.take_poller("ticks")?;
    /// let monitor = producer.monitor();
    /// let earlier = monitor.snapshot();
    /// producer.publish_batch(3, |_| {})?;
    /// ticks.poll()?.consume_all();
    /// thread::sleep(Duration::from_millis(1));
    /// let throughput = monitor.snapshot().since(&earlier);
    /// let rate = throughput.stages[0].per_second();
    /// assert!(rate > 0.0 && rate <= 3000.0); // three events in a millisecond or more
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn per_second(&self) -> f64 {
        per_second(self.finished, self.elapsed)
    }
}

/// Returns `events` per second of `elapsed`; zero if no time has passed.
fn per_second(events: u64, elapsed: Duration) -> f64 {
    if elapsed.is_zero() { 0.0 } else { events as f64 / elapsed.as_secs_f64() }
}

impl fmt::Display for Throughput {
    /// Prints the ring on one line, then each stage on a line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let published = counted(self.published, "event", "events");
        write!(f, "ring {:?}: {published} published", self.ring)?;
        let per_second = self.published_per_second();
        write!(f, " in {}, {per_second:.1} a second", rounded_down(self.elapsed))?;
        if self.dropped > 0 {
            write!(f, ", {} dropped", self.dropped)?;
        }
        if let Some(bottleneck) = &self.bottleneck {
            write!(f, ", limited by {bottleneck}")?;
        }
        let heads = ["stage", "finished", "a second", "queue depth"].map(str::to_owned).to_vec();
        let row = |stage: &StageThroughput| {
            let (finished, depth) = (stage.finished.to_string(), stage.queue_depth.to_string());
            vec![visible(&stage.name), finished, format!("{:.1}", stage.per_second()), depth]
        };
        let rows: Vec<_> = [heads].into_iter().chain(self.stages.iter().map(row)).collect();
        write_table(f, &rows, &[true, false, false, false])
    }
}
