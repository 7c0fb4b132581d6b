//! What a verdict names. Not here: how the part is found (`stall`, `bottleneck`).

use std::fmt;

/// A part of a ring, which a verdict of a [`Monitor`](crate::monitor::Monitor) names.
///
/// [`Stall::culprit`] is the part that has stopped. [`Snapshot::bottleneck`] and
/// [`Throughput::bottleneck`] return the part that limits a running ring.
///
/// ```
/// use lapwing::{Disruptor, monitor::Part};
///
/// let (mut producer, mut consumers) = Disruptor::single_producer(4, || 0_u64)
///     .stage("decode").poller()
///     .stage("journal").poller()
///     .build()?;
/// let mut decode = consumers.take_poller("decode")?;
/// producer.publish_batch(4, |_| {})?;
/// decode.poll()?.consume_all();
///
/// let monitor = producer.monitor();
/// let journal = Part::Stage { name: "journal".into() };
/// let limit = monitor.snapshot().bottleneck().unwrap(); // no slot is free
/// assert_eq!(limit, journal);
/// assert_eq!(limit.to_string(), "stage \"journal\"");
/// assert_eq!(monitor.stall().unwrap().culprit, journal); // nothing has moved since the snapshot
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// [`Stall::culprit`]: crate::monitor::Stall::culprit
/// [`Snapshot::bottleneck`]: crate::monitor::Snapshot::bottleneck
/// [`Throughput::bottleneck`]: crate::monitor::Throughput::bottleneck
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// The producers. As a bottleneck: the stages keep up with the published events. Of an
    /// [idle](crate::monitor::Monitor::idle_for) ring: it waits for a publication.
    Producers,
    /// A claim of one of several producers that is neither published nor given up. Only a stall
    /// names it.
    Claim,
    /// A stage.
    Stage {
        /// Its name.
        name: String,
    },
    /// The threads that [acknowledge](crate::consumer::Acknowledger) the events of a stage.
    Acknowledgement {
        /// Name of the stage.
        stage: String,
    },
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Producers => f.write_str("the producers"),
            Self::Claim => f.write_str("a claim"),
            Self::Stage { name } => write!(f, "stage {name:?}"),
            Self::Acknowledgement { stage } => write!(f, "the acknowledgement of stage {stage:?}"),
        }
    }
}
