//! The settings of a stage, apart from what it does: waiting, thread, CPU, batches, failures.

use std::time::Duration;

use super::Stage;
use crate::consumer::FailurePolicy;
use crate::unshared::Unshared;
use crate::wait::WaitStrategy;

impl<P> Stage<P> {
    /// Sets how this stage waits, instead of the [default](crate::Builder::wait_strategy) of the
    /// ring. A thread with several stages waits with the strategy of the first of them.
    ///
    /// ```
    /// use lapwing::{Disruptor, wait::BusySpin};
    ///
    /// let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("hot").wait_strategy(BusySpin).poller()
    ///     .build()?;
    /// let mut hot = consumers.take_poller("hot")?;
    /// producer.publish(|event| *event = 7)?;
    /// assert_eq!(hot.wait()?.as_slice(), [7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn wait_strategy(mut self, strategy: impl WaitStrategy) -> Self {
        self.settings.wait = Some(Box::new(strategy));
        self
    }

    /// Pins the thread of the stage to a CPU when it [starts](crate::Consumers::start). For a
    /// [group](crate::graph::WorkerStage), this is the CPU of the first worker, unless
    /// [`WorkerStage::pin`](crate::graph::WorkerStage::pin) gives it another.
    ///
    /// `cpu` is the number that the operating system uses, from 0. If the thread cannot be pinned,
    /// `start` returns [`StartError::Pin`](crate::error::StartError::Pin). Pinning is supported on
    /// Linux only.
    ///
    /// If the stages of one thread ask for different CPUs, [`build`](crate::Builder::build) returns
    /// [`BuildError::TwoPins`](crate::error::BuildError::TwoPins).
    /// [`Placement`](crate::graph::Placement) puts a pinned stage on the thread of another stage
    /// only if told to. A poller has no thread, so `build` returns
    /// [`UnusedSetting`](crate::error::BuildError::UnusedSetting) for it.
    ///
    /// ```
    /// use lapwing::{Disruptor, error::StartError};
    ///
    /// let (_producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("hot").pin(1).read(|_, _, _| {})
    ///     .build()?;
    /// let consumer = consumers.into_iter().next().unwrap();
    /// assert_eq!(consumer.pin(), Some(1));
    ///
    /// let (_producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("hot").pin(usize::MAX).read(|_, _, _| {})
    ///     .build()?;
    /// let error = consumers.start().unwrap_err(); // no machine has that many CPUs
    /// assert!(matches!(error, StartError::Pin { cpu: usize::MAX, .. }));
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    pub fn pin(mut self, cpu: usize) -> Self {
        self.settings.pin = Some(cpu);
        self
    }

    /// Runs the stage on the thread with this name, together with every other stage of the ring
    /// that names it. [`start`](crate::Consumers::start) makes one thread for all of them. All
    /// workers of a [group](crate::graph::WorkerStage) run there.
    ///
    /// Use it for stages that work on the same data. The stages of a thread take turns. In each
    /// turn, a stage handles one batch of at most 16 KiB, or of 16 events if an event is larger
    /// than 1 KiB. The stage's [longest batch](Self::max_batch) also applies. A stage that pauses
    /// before it retries an event does not hold up the others. A handler must not wait for another
    /// handler of its thread, by a channel or a lock: it would wait forever. The thread waits with
    /// the strategy of its first stage.
    ///
    /// If the name is that of a stage that names no thread, that stage runs there too.
    /// [`Placement`](crate::graph::Placement) does the same from outside of the graph, and
    /// distributes the stages that name no thread. Consumers that you run yourself are not grouped
    /// by this setting; use [`Consumer::run_together`](crate::consumer::Consumer::run_together).
    ///
    /// [`build`](crate::Builder::build) returns an error if the stage cannot run there:
    ///
    /// - [`InvalidName`](crate::error::BuildError::InvalidName) if the name is empty or contains a
    ///   NUL.
    /// - [`UnusedSetting`](crate::error::BuildError::UnusedSetting) for a poller, which has no
    ///   thread.
    /// - [`TwoThreads`](crate::error::BuildError::TwoThreads) if a
    ///   [group](crate::graph::Placement::group) puts the stage on another thread.
    /// - [`BlockingShares`](crate::error::BuildError::BlockingShares) if a
    ///   [blocking](Self::may_block) stage would share the thread.
    /// - [`TwoPins`](crate::error::BuildError::TwoPins) if the stages of the thread ask for
    ///   different CPUs.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (_orders, consumers) = Disruptor::single_producer(64, || 0_u64)
    ///     .stage("hold").on_thread("risk").read(|_, _, _| {})
    ///     .stage("match").read(|_, _, _| {})
    ///     .stage("free").on_thread("risk").read(|_, _, _| {})
    ///     .build()?;
    /// let threads: Vec<_> = consumers.threads().collect();
    /// assert_eq!(threads, [("risk", vec!["hold", "free"]), ("match", vec!["match"])]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_thread(mut self, thread: impl Into<String>) -> Self {
        self.settings.thread = Some(thread.into());
        self
    }

    /// Declares that the handler blocks on something other than the ring, such as a file or the
    /// network. The stage then has a thread of its own under every
    /// [`Placement`](crate::graph::Placement). In a group, each worker has one.
    ///
    /// If another stage is placed on that thread, [`build`](crate::Builder::build) returns
    /// [`BuildError::BlockingShares`](crate::error::BuildError::BlockingShares). Only the
    /// stage of [`clear`](crate::Builder::clear) may share it. A poller has no thread, so `build`
    /// returns [`UnusedSetting`](crate::error::BuildError::UnusedSetting) for it.
    ///
    /// ```
    /// use lapwing::{Disruptor, graph::Placement};
    ///
    /// let (_producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .placement(Placement::threads(1))
    ///     .stage("decode").read(|_, _, _| {})
    ///     .stage("journal").may_block().read(|_, _, _| { /* write, flush */ })
    ///     .stage("match").read(|_, _, _| {})
    ///     .build()?;
    /// let threads: Vec<_> = consumers.threads().collect();
    /// assert_eq!(threads, [("ring-0", vec!["decode", "match"]), ("journal", vec!["journal"])]);
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    pub fn may_block(mut self) -> Self {
        self.settings.is_blocking = true;
        self
    }

    /// Calls [`on_timeout`](crate::EventHandler::on_timeout) of the handler each time that the
    /// stage has waited this long for an event. A [worker](crate::graph::WorkerStage) that is
    /// parked because it is not active gets no such call.
    ///
    /// Closures and pollers have no `on_timeout`, so [`build`](crate::Builder::build) returns
    /// [`UnusedSetting`](crate::error::BuildError::UnusedSetting) for them. No error is reported
    /// for a handler that does not define `on_timeout`; the setting has no effect there.
    ///
    /// ```
    /// use std::{sync::mpsc, time::Duration};
    /// use lapwing::{Disruptor, EventHandler, Sequence};
    ///
    /// struct Watchdog(mpsc::Sender<Sequence>);
    ///
    /// impl EventHandler<u64> for Watchdog {
    ///     fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}
    ///     fn on_timeout(&mut self, next_sequence: Sequence) {
    ///         let _ = self.0.send(next_sequence);
    ///     }
    /// }
    ///
    /// let (alarm, alarms) = mpsc::channel();
    /// let stage = Disruptor::single_producer(8, || 0).stage("watchdog");
    /// let ring = stage.timeout_after(Duration::from_millis(1)).read_handler(Watchdog(alarm));
    /// let (_producer, consumers) = ring.build()?;
    /// let running = consumers.start()?;
    /// assert_eq!(alarms.recv()?, 0); // nothing is published
    /// assert_eq!(alarms.recv()?, 0); // after the next timeout
    /// running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn timeout_after(mut self, timeout: Duration) -> Self {
        self.settings.timeout = Some(timeout);
        self
    }

    /// Sets the greatest number of events in a batch. For 0, [`build`](crate::Builder::build)
    /// returns [`ZeroMaxBatch`](crate::error::BuildError::ZeroMaxBatch).
    ///
    /// A stage releases its events batch by batch. With shorter batches, downstream stages and
    /// producers follow more closely. Each release costs the transfer of a cache line. A batch also
    /// ends at the last slot of the ring. By default, the last line of this table that fits
    /// applies, with at least one event:
    ///
    /// | consumer | longest batch |
    /// |---|---|
    /// | a handler | 1/2 of the ring if the graph has one stage, 1/3 if it has two, 1/4 if it has more |
    /// | a handler, if the ring has several producers | 1/4 of the ring, at most 4096 events |
    /// | a worker, or a consumer in a [dynamic stage](crate::graph::DynamicStages) | 1/4 of the ring |
    /// | a poller | the whole ring |
    ///
    /// The second line does not apply if an event has 32 to 64 bytes and the batch by the first line
    /// has 1 MiB or more.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("few").max_batch(2).poller()
    ///     .build()?;
    /// let mut few = consumers.take_poller("few")?;
    /// producer.publish_batch(3, |_| {})?;
    /// assert_eq!(few.poll()?.len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn max_batch(mut self, events: usize) -> Self {
        self.settings.max_batch = Some(events);
        self
    }

    /// Makes events count as finished only after they are both handled and
    /// [acknowledged](crate::consumer::Acknowledger::acknowledge). Until then, they hold back
    /// producers and downstream stages.
    ///
    /// The program [takes](crate::Consumers::take_acknowledger) the acknowledger by the name of the
    /// stage before the start.
    ///
    /// A stage leaves the graph if it is [stopped](crate::consumer::StopHandle), if its handler or
    /// failure policy returns [`Stop`](crate::Action::Stop) or
    /// [`SkipAndStop`](crate::Action::SkipAndStop), or if its poller is dropped. It then holds back
    /// no producer and no other stage. All events go on to downstream stages, acknowledged or not.
    ///
    /// A [shutdown](crate::Running::shutdown) waits for stages. It does not wait for
    /// acknowledgements that no stage waits for. After it,
    /// [`Acknowledger::acknowledged`](crate::consumer::Acknowledger::acknowledged) says how far the
    /// acknowledgements of a last stage are.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("journal").acknowledged().poller()
    ///     .stage("reply").poller()
    ///     .build()?;
    /// let mut journal = consumers.take_poller("journal")?;
    /// let mut reply = consumers.take_poller("reply")?;
    /// let disk = consumers.take_acknowledger("journal")?;
    /// producer.publish_batch(3, |_| {})?;
    /// journal.poll()?.consume_all();
    /// assert!(reply.poll().is_err()); // nothing is on disk yet
    /// disk.acknowledge(2)?;
    /// assert_eq!(reply.poll()?.len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn acknowledged(mut self) -> Self {
        self.settings.is_acknowledged = true;
        self
    }

    /// Makes the stage handle events that an upstream stage has [skipped](crate::Action::Skip) as
    /// failed like any other.
    ///
    /// Without this setting, a skipped event is not given to a closure. A handler gets it in
    /// [`on_failed_event`](crate::EventHandler::on_failed_event) or
    /// [`on_failed_batch`](crate::consumer::BatchHandler::on_failed_batch), which are not called
    /// with this setting. Use it for a stage that must see every event, for example to count or to
    /// record all of them. The setting applies to this stage alone: stages downstream of it still
    /// get the events as failed.
    ///
    /// A poller gets all events in any case, so [`build`](crate::Builder::build) returns
    /// [`UnusedSetting`](crate::error::BuildError::UnusedSetting) for it.
    ///
    /// ```
    /// use lapwing::{Action, Disruptor};
    ///
    /// let mut counts = (0, 0);
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("refuse").read(|_, _, _| Action::Skip)
    ///     .stage("good").read(|_, _, _| counts.0 += 1)
    ///     .stage("all").with_failed_events().read(|_, _, _| counts.1 += 1)
    ///     .build()?;
    /// producer.publish(|event| *event = 7)?;
    /// drop(producer); // closes the ring
    /// consumers.into_iter().for_each(|stage| drop(stage.run()));
    /// assert_eq!(counts, (0, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_failed_events(mut self) -> Self {
        self.settings.takes_failed = true;
        self
    }

    /// Sets what to do when the handler returns an error. Without a policy, an error halts the
    /// ring.
    ///
    /// A handler that returns `()` or an [`Action`](crate::Action) returns no error, and a poller
    /// has no handler. For these, [`build`](crate::Builder::build) returns
    /// [`UnusedSetting`](crate::error::BuildError::UnusedSetting).
    ///
    /// ```
    /// use lapwing::{Action, Disruptor};
    ///
    /// let mut sum = 0;
    /// let (mut producer, consumers) = Disruptor::single_producer(8, String::new)
    ///     .stage("sum").on_error(Action::Skip).read(|line, _, _| {
    ///         sum += line.parse::<u64>()?;
    ///         Ok::<_, std::num::ParseIntError>(())
    ///     })
    ///     .build()?;
    /// for text in ["7", "eight", "9"] {
    ///     producer.publish(|line| line.push_str(text))?;
    /// }
    /// drop(producer); // closes the ring
    /// let finished = consumers.into_iter().next().unwrap().run();
    /// assert_eq!(finished.skipped(), 1);
    /// drop(finished);
    /// assert_eq!(sum, 16);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_error(mut self, policy: impl FailurePolicy) -> Self {
        self.settings.on_error = Some(Unshared::new(Box::new(policy)));
        self
    }

    /// Sets what to do when the handler panics. Without a policy, a panic halts the ring. A panic
    /// of the policy, of `on_start`, of `on_restart`, or of the closure that makes a
    /// [local](Self::read_local) handler always does.
    ///
    /// The handler is in the state in which the panic left it. So is the event, if the stage
    /// changes events. A handler whose stage ends is
    /// [dropped](crate::EventHandler#panics-of-a-handler) on its thread. If a call between batches
    /// panics, such as `on_timeout`, no event is skipped. A poller has no handler, so
    /// [`build`](crate::Builder::build) returns
    /// [`UnusedSetting`](crate::error::BuildError::UnusedSetting) for it.
    ///
    /// ```
    /// use lapwing::{Disruptor, consumer::Retries};
    ///
    /// let mut tries = 0;
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("send").on_panic(Retries::with_restart().attempts(3)).read(|_, _, _| {
    ///         tries += 1;
    ///         assert!(tries == 3, "not yet");
    ///     })
    ///     .build()?;
    /// producer.publish(|event| *event = 7)?;
    /// drop(producer); // closes the ring
    /// let finished = consumers.into_iter().next().unwrap().run();
    /// assert_eq!((finished.processed(), finished.skipped()), (1, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_panic(mut self, policy: impl FailurePolicy) -> Self {
        self.settings.on_panic = Some(Unshared::new(Box::new(policy)));
        self
    }
}
