//! Which thread runs which stage: what is asked for, apart from the graph. Not here: what comes of it for
//! the stages of a ring (`plan`, `spread`), who starts the threads (`lifecycle`).

mod plan;
mod spread;

use std::num::NonZero;
use std::thread;

pub(crate) use plan::{Place, Plan, Wish, WishedConsumer, is_thread_name};

/// Which thread runs which stage, apart from the graph: the same stages, with the same names, order and
/// life cycle, on as many threads as the machine has for them. Given to
/// [`Builder::placement`](crate::Builder::placement).
///
/// ```text
/// [ring] <-- a <-- b <-- c <-- d            arrow: "waits for"
///
/// thread_per_stage()             a   b   c   d       four threads; the default
/// threads(2)                     a b     c d         "ring-0" and "ring-1"
/// automatic()                    as `threads`, with a thread for each CPU that is left
/// any of them, .group("x", ["a", "d"])               a and d on "x", the others as before
/// ```
///
/// - [`thread_per_stage`](Self::thread_per_stage): each stage waits for nobody but those before it. The least
///   delay where there is a CPU for each, and the only choice for handlers that wait for each other by other
///   ways than the ring.
/// - [`threads`](Self::threads): a fixed number, such as the CPUs that are yours.
/// - [`automatic`](Self::automatic): the same program on a large machine and in a small container.
/// - [`group`](Self::group): stages that work on the same data, or that have little to do. Beside any of
///   the others.
///
/// Stages that share a thread take turns in the order of the graph: each handles what is there for it,
/// at most 16 KiB of events and at most its [longest batch](crate::Stage::max_batch), and the next one finds
/// those events still in the first-level cache. The thread waits by the strategy of its first stage, for
/// anything that any of them could do.
///
/// A handler that waits for another stage's handler, by a channel or a lock, must not share a thread with
/// it: it would wait for ever, and the library cannot see that. Hence a thread for each stage is the
/// default. One that waits for a file or the network holds up those beside it:
/// [`Stage::blocking`](crate::Stage::blocking) keeps a thread of its own for it.
///
/// Which thread a stage gets is decided once, by [`build`](crate::Builder::build):
///
/// 1. Pollers have none, and whoever joins later, in a [seat](crate::Builder::seats), has its own.
/// 2. A stage goes where a group or [`Stage::on_thread`](crate::Stage::on_thread) says. One whose own name
///    is said to be a thread is on that thread.
/// 3. A blocking stage has a thread of its own, and so has, except in a ring with a thread for each, one
///    that asks for a CPU ([`Stage::pin`](crate::Stage::pin), [`Workers::pin`](crate::graph::Workers::pin)).
/// 4. The others are spread: stages in their order, neighbours together, as many to each thread as to the
///    others; the workers of a group each on another thread, as far as there are threads.
///
/// A thread of one stage or worker has its name. Other threads that nobody named are called after the
/// [ring](crate::Builder::name), with a number: "ring-0", "ring-1"; a name that a stage or a thread has is
/// passed over. [`Consumers::threads`](crate::Consumers::threads) shows what came of it.
///
/// ```
/// use lapwing::{Disruptor, graph::Placement};
///
/// let (mut producer, consumers) = Disruptor::single_producer(64, || 0_u64)
///     .placement(Placement::threads(2).group("cold", ["audit"]))
///     .stage("decode").read(|_, _, _| {})
///     .stage("risk").read(|_, _, _| {})
///     .stage("match").read(|_, _, _| {})
///     .stage("audit").read(|_, _, _| {})
///     .build()?;
/// let threads: Vec<_> = consumers.threads().collect();
/// let expected =
///     [("ring-0", vec!["decode", "risk"]), ("match", vec!["match"]), ("cold", vec!["audit"])];
/// assert_eq!(threads, expected);
/// let running = consumers.start()?;
/// producer.publish_batch(10, |_| {})?;
/// let report = running.shutdown()?;
/// assert!(report.stages().all(|stage| stage.processed() == 10));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "it is given to a builder"]
pub struct Placement {
    spread: Spread,
    /// Busy threads beside the stages.
    producers: usize,
    /// Named threads, each with names of stages or workers.
    groups: Vec<(String, Vec<String>)>,
    /// Named threads and their CPUs.
    pins: Vec<(String, usize)>,
}

/// Over how many threads those are spread that do not say where they run.
#[derive(Debug, Clone, Copy)]
enum Spread {
    ThreadPerStage,
    AtMost(usize),
    Automatic,
}

impl Placement {
    fn new(spread: Spread) -> Self {
        Self { spread, producers: 1, groups: Vec::new(), pins: Vec::new() }
    }

    /// A thread for each stage, and for each worker of a group, with its name. The default of a ring.
    ///
    /// ```
    /// use lapwing::{Disruptor, graph::Placement};
    ///
    /// let (_producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .placement(Placement::thread_per_stage()) // as without it
    ///     .stage("decode").read(|_, _, _| {})
    ///     .stage("price").workers(2).read(|_| |_, _, _| {})
    ///     .build()?;
    /// let threads: Vec<_> = consumers.threads().map(|(thread, _)| thread).collect();
    /// assert_eq!(threads, ["decode", "price-0", "price-1"]);
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    pub fn thread_per_stage() -> Self {
        Self::new(Spread::ThreadPerStage)
    }

    /// At most `count` threads for all the stages that do not say where they run; at least 1, which
    /// [`build`](crate::Builder::build) checks. With as many threads as stages and workers, it is a
    /// thread for each.
    ///
    /// ```
    /// use lapwing::{Disruptor, graph::Placement};
    ///
    /// let ring = Disruptor::single_producer(8, || 0_u64)
    ///     .name("orders")
    ///     .placement(Placement::threads(2))
    ///     .stage("decode").read(|_, _, _| {})
    ///     .stage("check").read(|_, _, _| {})
    ///     .stage("price").workers(2).read(|_| |_, _, _| {});
    /// let (_producer, consumers) = ring.build()?;
    /// let threads: Vec<_> = consumers.threads().collect();
    /// let expected =
    ///     [("orders-0", vec!["decode", "price-0"]), ("orders-1", vec!["check", "price-1"])];
    /// assert_eq!(threads, expected);
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    pub fn threads(count: usize) -> Self {
        Self::new(Spread::AtMost(count))
    }

    /// As many threads as the process has CPUs, without those for its [producers](Self::producers) and for
    /// threads that are named or pinned; at least one. Blocking stages, which mostly sleep, are not counted.
    ///
    /// The number of CPUs is what [`std::thread::available_parallelism`] says to the thread that builds the ring: build it
    /// before you pin that thread. On
    /// Linux it knows the affinity mask (`taskset`, `cpuset`) and the CPU quota of the cgroup, version 1
    /// and 2, rounded down: a container with 2.5 CPUs has two. Where it knows nothing, it is one.
    ///
    /// ```
    /// use std::thread::available_parallelism;
    /// use lapwing::{Disruptor, graph::Placement};
    ///
    /// let (_producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .placement(Placement::automatic())
    ///     .stage("decode").read(|_, _, _| {})
    ///     .stage("journal").read(|_, _, _| {})
    ///     .stage("price").read(|_, _, _| {})
    ///     .build()?;
    /// let cpus = available_parallelism().map_or(1, |cpus| cpus.get());
    /// assert_eq!(consumers.threads().count(), (cpus - 1).clamp(1, 3)); // one for the producer
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    pub fn automatic() -> Self {
        Self::new(Spread::Automatic)
    }

    /// Number of threads beside the stages that keep a CPU busy, for [`automatic`](Self::automatic) to
    /// leave a CPU to each: producers, and who asks pollers; 1 by default. Of no effect with another kind.
    ///
    /// ```
    /// use lapwing::{Disruptor, graph::Placement};
    ///
    /// let (_producer, consumers) = Disruptor::multi_producer(8, || 0_u64)
    ///     .placement(Placement::automatic().producers(10_000)) // more than any machine has CPUs
    ///     .stage("decode").read(|_, _, _| {})
    ///     .stage("journal").read(|_, _, _| {})
    ///     .build()?;
    /// let threads: Vec<_> = consumers.threads().collect();
    /// assert_eq!(threads, [("ring-0", vec!["decode", "journal"])]);
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    pub fn producers(mut self, count: usize) -> Self {
        self.producers = count;
        self
    }

    /// The thread of this name runs these stages, and no others that do not ask for it: as
    /// [`Stage::on_thread`](crate::Stage::on_thread), from outside of the graph. The name of a worker group
    /// stands for all of its workers, that of a worker, such as "price-0", for one. Groups of one name are
    /// one.
    ///
    /// ```
    /// use lapwing::{Disruptor, graph::Placement};
    ///
    /// let (_producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .placement(Placement::thread_per_stage().group("risk", ["hold", "settle"]))
    ///     .stage("hold").read(|_, _, _| {})
    ///     .stage("match").read(|_, _, _| {})
    ///     .stage("settle").read(|_, _, _| {})
    ///     .build()?;
    /// let threads: Vec<_> = consumers.threads().collect();
    /// assert_eq!(threads, [("risk", vec!["hold", "settle"]), ("match", vec!["match"])]);
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    pub fn group(
        mut self,
        thread: impl Into<String>,
        stages: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        self.groups.push((thread.into(), stages.into_iter().map(Into::into).collect()));
        self
    }

    /// The CPU that the thread of this name is pinned to by [`start`](crate::Consumers::start), as
    /// [`Stage::pin`](crate::Stage::pin) does for that of a stage: the thread of a group, of a stage
    /// of its own, or one that is called after the ring. Which threads there are depends on the
    /// machine with [`automatic`](Self::automatic), so pin named ones there.
    ///
    /// ```
    /// use lapwing::{Disruptor, error::{BuildError, PlacementError}, graph::Placement};
    ///
    /// let ring = |placement| {
    ///     Disruptor::single_producer(8, || 0_u64)
    ///         .placement(placement)
    ///         .stage("hold").read(|_, _, _| {})
    ///         .stage("settle").read(|_, _, _| {})
    ///         .build()
    /// };
    /// let (_producer, consumers) = ring(Placement::threads(1).pin("ring-0", 3))?;
    /// assert!(consumers.into_iter().all(|stage| stage.pin() == Some(3)));
    ///
    /// let thread = "ring-1".to_owned();
    /// let unknown = BuildError::Placement(PlacementError::UnknownThread { thread });
    /// assert_eq!(ring(Placement::threads(1).pin("ring-1", 3)).err(), Some(unknown));
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn pin(mut self, thread: impl Into<String>, cpu: usize) -> Self {
        self.pins.push((thread.into(), cpu));
        self
    }

    /// Whether those share threads that do not say where they run.
    fn is_spread(&self) -> bool {
        !matches!(self.spread, Spread::ThreadPerStage)
    }

    /// Over how many threads those are spread that do not say where they run, beside `named` threads;
    /// `None` for a thread each.
    fn threads_beside(&self, named: usize) -> Option<usize> {
        match self.spread {
            Spread::ThreadPerStage => None,
            Spread::AtMost(count) => Some(count),
            Spread::Automatic => {
                let cpus = thread::available_parallelism().map_or(1, NonZero::get);
                Some(cpus.saturating_sub(self.producers).saturating_sub(named).max(1))
            }
        }
    }
}

impl Default for Placement {
    fn default() -> Self {
        Self::thread_per_stage()
    }
}

#[cfg(test)]
mod tests;
