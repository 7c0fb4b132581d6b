//! What has limited a ring over a time, as several snapshots show it. Not here: what limits it
//! between two snapshots (`bottleneck`).

use std::cmp::Reverse;
use std::fmt;
use std::time::Duration;

use super::part::Part;
use super::text::{counted, rounded_down};
use super::throughput::Throughput;

/// For how long each part of a ring has limited it, over a time with several snapshots.
///
/// A program takes snapshots at intervals and adds the [`Throughput`] of each interval. The whole
/// interval counts for its [bottleneck](Throughput::bottleneck), which is determined by the two
/// snapshots at its ends. So the result is a sample, and nothing is known about what happened in
/// between: the shorter the intervals, the more exact the shares. An interval without a bottleneck
/// counts too, so the shares add up to 1.
///
/// It prints as a table for a terminal, the greatest share first:
///
/// ```text
/// 20 intervals, 10.0 s
///  75 %  stage "journal"
///  20 %  the producers
///   5 %  not known
/// ```
///
/// The program decides when to take snapshots. Here it takes one after each of three steps:
///
/// ```
/// use lapwing::{Disruptor, monitor::{Part, Limits}};
///
/// let (mut producer, mut consumers) =
///     Disruptor::single_producer(4, || 0_u64).stage("journal").poller().build()?;
/// let mut journal = consumers.take_poller("journal")?;
/// let monitor = producer.monitor();
/// let (mut limits, mut before) = (Limits::new(), monitor.snapshot());
/// for step in 0..3 {
///     producer.publish_batch(4, |_| {})?; // no slot is free
///     if step == 0 {
///         journal.poll()?.consume_all(); // the first time, the stage keeps up
///     }
///     let now = monitor.snapshot();
///     limits.add(&now.since(&before));
///     before = now;
///     if step == 1 {
///         journal.poll()?.consume_all();
///     }
/// }
/// let journal = Part::Stage { name: "journal".into() };
/// assert_eq!(limits.of(Some(&journal)).unwrap().intervals, 2);
/// assert_eq!(limits.of(Some(&Part::Producers)).unwrap().intervals, 1);
/// let shares: f64 = limits.shares().iter().map(|part| part.share()).sum();
/// assert!((shares - 1.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    parts: Vec<LimitShare>,
}

/// For how long one part of a ring has limited it, in [`Limits::shares`].
///
/// ```
/// use lapwing::{Disruptor, monitor::{Part, LimitShare, Limits}};
///
/// let (mut producer, _consumers) =
///     Disruptor::single_producer(1, || 0_u64).stage("journal").poller().build()?;
/// let (monitor, mut limits) = (producer.monitor(), Limits::new());
/// let before = monitor.snapshot();
/// producer.publish(|event| *event = 7)?; // no slot is free
/// limits.add(&monitor.snapshot().since(&before));
///
/// let part: &LimitShare = limits.shares()[0];
/// assert_eq!(part.limit, Some(Part::Stage { name: "journal".into() }));
/// assert_eq!((part.intervals, part.share()), (1, 1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitShare {
    /// What has limited the ring; `None` for the intervals that do not show it.
    pub limit: Option<Part>,
    /// Number of intervals in which it has.
    pub intervals: u64,
    /// The sum of these intervals: of [`Throughput::elapsed`].
    pub elapsed: Duration,
    /// The sum of all intervals.
    total: Duration,
}

impl Limits {
    /// Creates a sum without intervals.
    ///
    /// ```
    /// assert!(lapwing::monitor::Limits::new().shares().is_empty());
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an interval: its whole [time](Throughput::elapsed) counts for its
    /// [bottleneck](Throughput::bottleneck).
    ///
    /// The intervals need not follow each other. Memory grows with the number of different
    /// bottlenecks only: the stages, their acknowledgements, and consumers in
    /// [dynamic stages](crate::graph::DynamicStages) by their names.
    ///
    /// ```
    /// use lapwing::{Disruptor, monitor::Limits};
    ///
    /// let (producer, _consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// let (monitor, mut limits) = (producer.monitor(), Limits::new());
    /// let before = monitor.snapshot();
    /// limits.add(&monitor.snapshot().since(&before));
    /// assert_eq!(limits.of(None).unwrap().intervals, 1); // an idle ring
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    pub fn add(&mut self, throughput: &Throughput) {
        let limit = throughput.bottleneck();
        let known = self.parts.iter().position(|part| part.limit.as_ref() == limit);
        let place = known.unwrap_or_else(|| {
            let (intervals, elapsed, total) = (0, Duration::ZERO, self.total());
            self.parts.push(LimitShare { limit: limit.cloned(), intervals, elapsed, total });
            self.parts.len() - 1
        });
        self.parts[place].intervals += 1;
        let elapsed = throughput.elapsed;
        self.parts[place].elapsed = self.parts[place].elapsed.saturating_add(elapsed);
        for part in &mut self.parts {
            part.total = part.total.saturating_add(elapsed);
        }
    }

    /// Returns the parts that have limited the ring, the one with the longest time first. Of equal
    /// times, the one with more intervals is the first.
    ///
    /// ```
    /// use lapwing::{Disruptor, monitor::Limits};
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// let mut all = consumers.take_poller("all")?;
    /// let (monitor, mut limits) = (producer.monitor(), Limits::new());
    /// let before = monitor.snapshot();
    /// producer.publish(|event| *event = 7)?;
    /// all.poll()?.consume_all();
    /// limits.add(&monitor.snapshot().since(&before));
    /// let longest = limits.shares()[0];
    /// assert_eq!(longest.limit.as_ref().unwrap().to_string(), "the producers");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn shares(&self) -> Vec<&LimitShare> {
        let mut parts: Vec<_> = self.parts.iter().collect();
        parts.sort_by_key(|part| Reverse((part.elapsed, part.intervals)));
        parts
    }

    /// Returns the part with this limit; `None` if it has limited the ring in no interval. A
    /// `limit` of `None` stands for the intervals that do not show a limit.
    ///
    /// ```
    /// use lapwing::monitor::{Part, Limits};
    ///
    /// assert!(Limits::new().of(Some(&Part::Producers)).is_none());
    /// ```
    #[must_use]
    pub fn of(&self, limit: Option<&Part>) -> Option<&LimitShare> {
        self.parts.iter().find(|part| part.limit.as_ref() == limit)
    }

    /// The sum of all intervals.
    fn total(&self) -> Duration {
        self.parts.first().map_or(Duration::ZERO, |part| part.total)
    }
}

impl LimitShare {
    /// Returns the share of the time of all intervals, from 0.0 to 1.0. It is 0.0 if no time has
    /// passed.
    ///
    /// ```
    /// use lapwing::{Disruptor, monitor::Limits};
    ///
    /// let (producer, _consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// let (snapshot, mut limits) = (producer.monitor().snapshot(), Limits::new());
    /// limits.add(&snapshot.since(&snapshot)); // no time
    /// assert_eq!(limits.shares()[0].share(), 0.0);
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn share(&self) -> f64 {
        if self.total.is_zero() { 0.0 } else { self.elapsed.div_duration_f64(self.total) }
    }
}

impl fmt::Display for Limits {
    /// Prints the number of intervals and their time, then each part on a line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let intervals = self.parts.iter().map(|part| part.intervals).sum();
        let intervals = counted(intervals, "interval", "intervals");
        write!(f, "{intervals}, {}", rounded_down(self.total()))?;
        for part in self.shares() {
            write!(f, "\n{part}")?;
        }
        Ok(())
    }
}

impl fmt::Display for LimitShare {
    /// Prints the share in percent, rounded, and the limit.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>3.0} %  ", 100.0 * self.share())?;
        match &self.limit {
            Some(limit) => limit.fmt(f),
            None => f.write_str("not known"),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn part(limit: Option<Part>, intervals: u64, seconds: u64) -> LimitShare {
        let total = Duration::from_secs(10);
        LimitShare { limit, intervals, elapsed: Duration::from_secs(seconds), total }
    }

    #[test]
    fn the_longest_time_is_printed_first() {
        let journal = Part::Stage { name: "journal".to_owned() };
        let parts =
            vec![part(None, 9, 1), part(Some(Part::Producers), 1, 2), part(Some(journal), 2, 7)];
        let text = "12 intervals, 10.0 s\n 70 %  stage \"journal\"\n 20 %  the producers\n 10 %  not known";
        assert_eq!(Limits { parts }.to_string(), text);
        assert_eq!(Limits::new().to_string(), "0 intervals, 0 ms");
    }
}
