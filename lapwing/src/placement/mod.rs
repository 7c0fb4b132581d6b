//! The placement of stages on threads, as the user asks for it. Not here: the thread of each stage
//! (`plan`, `spread`), the start of the threads (`lifecycle`).

mod spread;

mod plan;

use std::num::NonZero;
use std::thread;

pub(crate) use plan::{Plan, ThreadPlace, Wish, WishedConsumer, is_thread_name};

/// The assignment of the stages of a ring to threads.
///
/// A placement does not change the graph: stages keep their names, their order and their life
/// cycle. [`Builder::placement`](crate::Builder::placement) takes it.
///
/// ```text
/// [ring] ──> a ──> b ──> c ──> d
///
/// thread_per_stage()             a   b   c   d       four threads; the default
/// threads(2)                     a b     c d         "ring-0" and "ring-1"
/// automatic()                    like `threads`, with a thread for each remaining CPU
/// any of them, .group("x", ["a", "d"])               a and d on "x", the others by the same rule
/// ```
///
/// - [`thread_per_stage`](Self::thread_per_stage): a stage waits only for its upstream stages. Use
///   it if there is a CPU for each stage: it has the lowest latency. Use it also for handlers that
///   wait for each other outside the ring.
/// - [`threads`](Self::threads): a fixed number of threads, for instance the number of CPUs that
///   you reserve for the ring.
/// - [`automatic`](Self::automatic): the number of threads follows the machine. Use it for a
///   program that runs on large machines and in small containers.
/// - [`group`](Self::group): the given stages share a thread, for instance because they use the
///   same data or do little work. It combines with each of the others.
///
/// # Sharing a thread
///
/// Stages that share a thread take turns, in the order of the graph. In each turn, a stage handles
/// the events that are available to it: at most 16 KiB, or 16 events if an event is larger than
/// 1 KiB. The stage's [longest batch](crate::Stage::max_batch) also applies. The next stage then
/// finds these events in the first-level cache. The thread waits with the strategy of its first
/// stage, until any of its stages has something to do.
///
/// A handler must not share a thread with another handler that it waits for, by a channel or a
/// lock. It would wait forever, and the library cannot detect that. For this reason, the default is
/// a thread for each stage. A handler that waits for a file or the network delays the other stages
/// of its thread. [`Stage::may_block`](crate::Stage::may_block) gives it a thread of its own.
///
/// # Which thread a stage gets
///
/// [`build`](crate::Builder::build) decides this once, by these rules:
///
/// 1. A poller has no thread. A consumer that joins later, in a [dynamic
///    stage](crate::Builder::dynamic_stages), runs on the thread that the program chooses.
/// 2. A stage or worker that a [`group`](Self::group) or
///    [`Stage::on_thread`](crate::Stage::on_thread) puts on a thread runs there. A stage or worker
///    with the name of such a thread runs there too, unless it is put on another.
/// 3. A blocking stage has a thread of its own. Unless the placement is `thread_per_stage`, so has
///    a stage that asks for a CPU ([`Stage::pin`](crate::Stage::pin),
///    [`WorkerStage::pin`](crate::graph::WorkerStage::pin)).
/// 4. The stage of [`clear`](crate::Builder::clear) runs on the thread of the stage before it, if
///    that stage has a single handler.
/// 5. The other stages are spread over the threads in their order, neighbours together, evenly. The
///    workers of a group go to different threads, as far as there are enough.
///
/// A thread of one stage or worker has the name of that stage or worker, even if `clear` shares it.
/// Other threads without a name get the name of the [ring](crate::Builder::name), without NULs, and
/// a number: "ring-0", "ring-1". The number skips names that a stage, a worker or a thread has.
/// [`Consumers::threads`](crate::Consumers::threads) shows the result.
///
/// # Examples
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
    /// Number of busy threads besides those of the stages.
    producers: usize,
    /// Named threads, each with the names of its stages or workers.
    groups: Vec<(String, Vec<String>)>,
    /// Named threads, each with its CPU.
    pins: Vec<(String, usize)>,
}

/// The number of threads for stages that do not name a thread.
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

    /// Runs each stage, and each worker of a group, on a thread of its own. This is the default.
    ///
    /// The thread has the name of the stage or the worker. There are three exceptions:
    ///
    /// - A poller has no thread.
    /// - A stage or worker that a group or [`Stage::on_thread`](crate::Stage::on_thread) puts on a
    ///   thread runs there. So does one that has the name of such a thread.
    /// - The stage of [`clear`](crate::Builder::clear) shares the thread of the stage before it, if
    ///   that stage has a single handler.
    ///
    /// ```
    /// use lapwing::{Disruptor, graph::Placement};
    ///
    /// let (_producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .placement(Placement::thread_per_stage())
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

    /// Runs stages on at most `count` threads. Named threads, and those of blocking and pinned
    /// stages, do not count.
    ///
    /// With a `count` of 0, [`build`](crate::Builder::build) returns
    /// [`BuildError::ZeroThreads`](crate::error::BuildError::ZeroThreads). If `count` is at
    /// least the number of the other stages and workers, each has a thread of its own.
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

    /// Runs stages on as many threads as there are CPUs for them. Named threads, and those of
    /// blocking and pinned stages, come in addition.
    ///
    /// The limit is the number of CPUs of the process, less one for each
    /// [producer](Self::producers), each named thread and each thread of a pinned stage. It is at
    /// least one. Threads of blocking stages do not count, since they are mostly parked.
    ///
    /// The number of CPUs is the result of [`std::thread::available_parallelism`] on the thread
    /// that builds the ring. So build the ring before you pin that thread. On Linux, the result
    /// respects the affinity mask (`taskset`, `cpuset`) and the CPU quota of the cgroup, version 1
    /// and 2. It is rounded down: a container with 2.5 CPUs has two. If the number is unknown, it
    /// counts as one.
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
    /// assert_eq!(consumers.threads().count(), (cpus - 1).clamp(1, 3)); // less the producer
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    pub fn automatic() -> Self {
        Self::new(Spread::Automatic)
    }

    /// Sets the number of threads besides those of the stages that keep a CPU busy. 1 by default.
    ///
    /// These are the producer threads and the threads that call pollers.
    /// [`automatic`](Self::automatic) leaves a CPU to each of them. The other placements ignore
    /// this number.
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

    /// Runs `stages` on a thread with the name `thread`. Other stages run there only if they have
    /// this name, or ask for it with [`Stage::on_thread`](crate::Stage::on_thread).
    ///
    /// The name of a worker group means all of its workers. The name of a worker, such as
    /// "price-0", means that worker alone. Several groups with the same name are one group.
    ///
    /// [`build`](crate::Builder::build) checks the names. It returns
    /// [`InvalidName`](crate::error::BuildError::InvalidName) for a thread name that is empty or
    /// contains a NUL. For the names of stages, it returns
    /// [`UnknownInGroup`](crate::error::BuildError::UnknownInGroup),
    /// [`PollerInGroup`](crate::error::BuildError::PollerInGroup), or, if a stage is on another
    /// named thread, [`TwoThreads`](crate::error::BuildError::TwoThreads).
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

    /// Pins the thread with the name `thread` to `cpu`.
    ///
    /// [`Consumers::start`](crate::Consumers::start) pins it, with the same errors as for
    /// [`Stage::pin`](crate::Stage::pin), by which a stage asks for its CPU itself. The thread may
    /// belong to a group or to one stage, or have the name of the ring and a number. With
    /// [`automatic`](Self::automatic), the number of those threads depends on the machine, so pin
    /// only others there.
    ///
    /// [`build`](crate::Builder::build) returns
    /// [`UnknownThread`](crate::error::BuildError::UnknownThread) if there is no such thread,
    /// and [`TwoPins`](crate::error::BuildError::TwoPins) if it is also pinned to another CPU.
    ///
    /// ```
    /// use lapwing::{Disruptor, error::BuildError, graph::Placement};
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
    /// let unknown = BuildError::UnknownThread { thread: "ring-1".to_owned() };
    /// assert_eq!(ring(Placement::threads(1).pin("ring-1", 3)).err(), Some(unknown));
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn pin(mut self, thread: impl Into<String>, cpu: usize) -> Self {
        self.pins.push((thread.into(), cpu));
        self
    }

    /// Whether stages that do not name a thread may share one.
    fn is_spread(&self) -> bool {
        !matches!(self.spread, Spread::ThreadPerStage)
    }

    /// The number of threads for stages that do not name one, besides `named` threads. `None` means
    /// a thread for each.
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
