//! How much has passed through a ring between two looks.

use std::fmt;
use std::time::Duration;

use super::bottleneck::{Bottleneck, limit_of};
use super::snapshot::{Snapshot, StageSnapshot, StageState};
use super::table::write_table;
use super::text::{counted, rounded_down, visible};

/// How many events have passed through a ring and its stages between two snapshots, and what limits
/// the ring. Made by [`Snapshot::since`].
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
/// use lapwing::{Disruptor, monitor::Bottleneck};
///
/// let (mut producer, mut consumers) = Disruptor::single_producer(64, || 0_u64)
///     .stage("decode").poller()
///     .stage("journal").poller()
///     .build()?;
/// let mut decode = consumers.take_poller("decode")?;
/// let mut journal = consumers.take_poller("journal")?;
/// let monitor = producer.monitor();
/// producer.publish_batch(30, |_| {})?;
/// decode.poll()?.consume_all();
///
/// let earlier = monitor.snapshot();
/// producer.publish_batch(10, |_| {})?;
/// decode.poll()?.consume_all();
/// journal.poll_max(2)?.consume_all(); // slow, but it has not stopped
/// let later = monitor.snapshot();
///
/// let throughput = later.since(&earlier);
/// assert_eq!(throughput.published, 10);
/// let [decode, journal] = &throughput.stages[..] else { panic!("two stages") };
/// assert_eq!((decode.finished, decode.queue_depth), (10, 0));
/// assert_eq!((journal.finished, journal.queue_depth), (2, 38));
/// assert!(decode.per_second() > journal.per_second());
/// let limit = Bottleneck::Stage { name: "journal".into() };
/// assert_eq!(throughput.bottleneck(), Some(&limit));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Throughput {
    /// [Name](crate::Builder::name) of the ring.
    pub ring: String,
    /// Time from the beginning of the earlier look to that of the later one; zero if they are the
    /// same.
    pub elapsed: Duration,
    /// By how much [`Snapshot::published`] has grown. With several producers this counts claims that
    /// were given up.
    pub published: u64,
    /// Number of events that producers [dropped](crate::producer::WhenFull::DropNew).
    pub dropped: u64,
    /// The stages that both snapshots show and that have not left the graph, upstream ones first. A
    /// consumer that took a [seat](crate::graph::Seats) in between is not among them.
    pub stages: Vec<StageThroughput>,
    bottleneck: Option<Bottleneck>,
}

/// How many events have passed through a stage between two snapshots. See [`Throughput`], which has
/// an example.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StageThroughput {
    /// Its name.
    pub name: String,
    /// By how much [`StageSnapshot::sequence`] has grown: the number of events that the stage has
    /// finished, those that it skipped and claims that were given up included. A stage shows no
    /// progress before the end of its batch. Of a worker group, it is the progress of the worker
    /// that is furthest behind.
    pub finished: u64,
    /// Number of events that were ready for the stage, or in its hands, at the later look:
    /// [`StageSnapshot::available`].
    pub queue_depth: u64,
    elapsed: Duration,
}

impl Snapshot {
    /// What has passed through the ring since `earlier`, another snapshot of the same ring, by this or
    /// another of its monitors.
    ///
    /// An `earlier` snapshot that was taken later has nothing to count: the result has zeros, and may lack
    /// stages.
    ///
    /// ```
    /// # use lapwing::Disruptor;
    /// let (mut producer, _consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("ticks").poller().build()?;
    /// let monitor = producer.monitor();
    /// let earlier = monitor.snapshot();
    /// producer.publish_batch(3, |_| {})?;
    /// let later = monitor.snapshot();
    /// assert_eq!(later.since(&earlier).published, 3);
    /// assert_eq!(later.since(&later).published_per_second(), 0.0); // no time, no events
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
    /// Events published per second; zero if no time has passed.
    #[must_use]
    pub fn published_per_second(&self) -> f64 {
        per_second(self.published, self.elapsed)
    }

    /// What limits the ring: `None` if nothing was published, or if the ring is halted or drained.
    ///
    /// No stage waits for a stage after it. So events pile up in front of the stage that limits the
    /// ring, until no slot is free and producers wait. The stages before it and after it have hardly
    /// any event ready for them. The verdict goes by that. At the later look,
    ///
    /// 1. if a producer waits for a slot, if no slot is free, or if the ring is closed: the stage with
    ///    the most events ready for it, in both looks together.
    /// 2. Otherwise it is a stage that had events ready at each moment between the looks. That is
    ///    certain if it has not finished by the later look what was ready at the earlier one. It is
    ///    likely, and enough, if it has events ready at both looks and producers found no room at the
    ///    earlier one. Of several, it is the one with the most events.
    /// 3. Otherwise it is the producers, if they have published: the stages keep up.
    ///
    /// In place of a stage it may be the [acknowledgement](crate::Stage::acknowledged) of its events,
    /// of which those count that it has finished. If no stage has events ready in a ring without free
    /// slots, they wait for a claim that is not published, and it is the producers. Of equals, it is
    /// the stage that parked less often, then the one that finished fewer events, then the first.
    ///
    /// - The workers of a group are one stage.
    /// - Of stages that [share a thread](crate::Stage::on_thread), events pile up in front of the
    ///   first, whichever is slow. The verdict is the one whose handler has the thread at the later
    ///   look. Several looks show which one has it most of the time.
    /// - A ring of a few slots has none free whenever a stage is at work. There the verdict is certain
    ///   only if producers wait, as [`publish`](crate::Producer::publish) does and `try_publish` does
    ///   not.
    ///
    /// A stage that has [stopped](Snapshot::stall) is named as well.
    ///
    /// ```
    /// # use lapwing::{Disruptor, monitor::Bottleneck};
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("ticks").poller().build()?;
    /// let mut ticks = consumers.take_poller("ticks")?;
    /// let monitor = producer.monitor();
    /// let earlier = monitor.snapshot();
    /// producer.publish_batch(3, |_| {})?;
    /// ticks.poll()?.consume_all();
    /// let later = monitor.snapshot();
    /// assert_eq!(later.since(&earlier).bottleneck(), Some(&Bottleneck::Producers)); // it keeps up
    /// assert_eq!(later.since(&later).bottleneck(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn bottleneck(&self) -> Option<&Bottleneck> {
        self.bottleneck.as_ref()
    }
}

impl StageThroughput {
    /// Events finished per second; zero if no time has passed.
    #[must_use]
    pub fn per_second(&self) -> f64 {
        per_second(self.finished, self.elapsed)
    }
}

/// `events` in so much time; zero in none.
fn per_second(events: u64, elapsed: Duration) -> f64 {
    if elapsed.is_zero() { 0.0 } else { events as f64 / elapsed.as_secs_f64() }
}

impl fmt::Display for Throughput {
    /// The ring in one line, then a line for each stage.
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
