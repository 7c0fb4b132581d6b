//! What a stage may be asked to be, apart from what it does: waiting, CPU, batches, failures.

use std::time::Duration;

use super::Stage;
use crate::consumer::FailurePolicy;
use crate::unshared::Unshared;
use crate::wait::WaitStrategy;

impl<P> Stage<P> {
    /// How this stage waits, instead of the ring's [default](crate::Builder::wait).
    ///
    /// ```
    /// use lapwing::{Disruptor, wait::BusySpin};
    ///
    /// let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("hot").wait(BusySpin).poller()
    ///     .build()?;
    /// let mut hot = consumers.take_poller("hot")?;
    /// producer.publish(|event| *event = 7)?;
    /// assert_eq!(hot.wait()?.as_slice(), [7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn wait(mut self, strategy: impl WaitStrategy) -> Self {
        self.settings.wait = Some(Box::new(strategy));
        self
    }

    /// The CPU that [`start`](crate::Consumers::start) pins the stage's thread to, as the system
    /// numbers them, from 0; where it cannot, `start` returns
    /// [`StartError::Pin`](crate::error::StartError::Pin). Pinning is for Linux. Of a [group](crate::graph::Workers), this is the
    /// CPU of the first worker.
    ///
    /// Stages of one thread that ask for different CPUs are
    /// [`PlacementError::TwoPins`](crate::error::PlacementError::TwoPins); [`Placement`](crate::graph::Placement) puts one that
    /// asks beside no other unless told to. A poller has no thread: there [`build`](crate::Builder::build) returns
    /// [`UnusedSetting`](crate::error::BuildError::UnusedSetting).
    ///
    /// ```
    /// use lapwing::{Disruptor, error::StartError};
    ///
    /// let (_producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("hot").pin(usize::MAX).read(|_, _, _| {})
    ///     .build()?;
    /// let error = consumers.start().unwrap_err(); // no machine has that many
    /// assert!(matches!(error, StartError::Pin { cpu: usize::MAX, .. }));
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    pub fn pin(mut self, cpu: usize) -> Self {
        self.settings.pin = Some(cpu);
        self
    }

    /// The thread of this name runs the stage, and every other stage of the ring that names it:
    /// [`start`](crate::Consumers::start) makes one thread for all of them, and they take turns, a
    /// batch of at most 16 KiB of events each; one that pauses before it tries again holds up no other. For
    /// stages that work on the same data. [`Placement`](crate::graph::Placement) says it from outside of the graph, and
    /// spreads the stages that say nothing.
    ///
    /// Such a thread waits by the strategy of its first stage. A stage's own name is that of its
    /// thread, if nothing else is said; so naming that one joins it. Stages that are run one by one
    /// are grouped by you: [`Consumer::run_together`](crate::consumer::Consumer::run_together). A poller has no
    /// thread: there [`build`](crate::Builder::build) returns
    /// [`UnusedSetting`](crate::error::BuildError::UnusedSetting).
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    /// use lapwing::Disruptor;
    ///
    /// /// Holds money back before the match, gives the rest free after it.
    /// #[derive(Default)]
    /// struct Risk { held: u64, free: u64 }
    ///
    /// let risk = Arc::new(Mutex::new(Risk::default())); // locked once a batch, by one thread only
    /// let (before, after) = (Arc::clone(&risk), Arc::clone(&risk));
    /// let (mut orders, consumers) = Disruptor::single_producer(64, || 0_u64)
    ///     .stage("hold").on_thread("risk").read_batch(move |orders, _| {
    ///         before.lock().unwrap().held += orders.iter().sum::<u64>();
    ///     })
    ///     .stage("match").read(|_, _, _| {})
    ///     .stage("free").on_thread("risk").read_batch(move |orders, _| {
    ///         after.lock().unwrap().free += orders.iter().sum::<u64>();
    ///     })
    ///     .build()?;
    /// let running = consumers.start()?; // two threads: "risk" and "match"
    /// for price in 1..=100 {
    ///     orders.publish(|order| *order = price)?;
    /// }
    /// running.shutdown()?;
    /// let risk = risk.lock().unwrap();
    /// assert_eq!((risk.held, risk.free), (5050, 5050));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_thread(mut self, thread: impl Into<String>) -> Self {
        self.settings.thread = Some(thread.into());
        self
    }

    /// The stage waits for files, the network or whatever else is not the ring: it keeps a thread of its own
    /// under every [`Placement`](crate::graph::Placement), and each worker does, of a group. That somebody else is
    /// put on its thread is [`PlacementError::BlockingShares`](crate::error::PlacementError::BlockingShares). A poller has
    /// no thread: there [`build`](crate::Builder::build) returns
    /// [`UnusedSetting`](crate::error::BuildError::UnusedSetting).
    ///
    /// ```
    /// use lapwing::{Disruptor, graph::Placement};
    ///
    /// let (_producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .placement(Placement::threads(1))
    ///     .stage("decode").read(|_, _, _| {})
    ///     .stage("journal").blocking().read(|_, _, _| { /* write, flush */ })
    ///     .stage("match").read(|_, _, _| {})
    ///     .build()?;
    /// let threads: Vec<_> = consumers.threads().collect();
    /// assert_eq!(threads, [("ring-0", vec!["decode", "match"]), ("journal", vec!["journal"])]);
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    pub fn blocking(mut self) -> Self {
        self.settings.is_blocking = true;
        self
    }

    /// Longest wait before [`on_timeout`](crate::EventHandler::on_timeout) is called, again after
    /// each further one.
    ///
    /// Closures and pollers have no such call: there [`build`](crate::Builder::build) returns
    /// [`UnusedSetting`](crate::error::BuildError::UnusedSetting). A handler that does not define `on_timeout` is not told
    /// either, and no error says so.
    ///
    /// ```
    /// use std::{sync::mpsc, time::Duration};
    /// use lapwing::{Disruptor, EventHandler, Sequence, Stage};
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
    /// let stage = Stage::new("watchdog").timeout(Duration::from_millis(1));
    /// let (_producer, consumers) =
    ///     Disruptor::single_producer(8, || 0).stage(stage).read_handler(Watchdog(alarm)).build()?;
    /// let running = consumers.start()?;
    /// assert_eq!((alarms.recv()?, alarms.recv()?), (0, 0)); // nothing is published
    /// running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeout = Some(timeout);
        self
    }

    /// Most events of a batch, at least 1; [`build`](crate::Builder::build) checks it.
    ///
    /// By default it is half of the ring for the handler of a stage alone, a third if there are two stages, and a quarter
    /// if there are more, in a ring of 32 KiB or less, for a worker, and for whoever takes a [seat](crate::graph::Seats). With
    /// several producers it is a quarter for any handler, and 4096 events at most; but as above for events of 32 to 64
    /// bytes that fill 1 MiB by then. For a poller it is the whole ring.
    ///
    /// A stage lets go of its events by the batch, so a shorter one lets stages downstream and
    /// producers follow more closely, and costs a cache line each.
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

    /// Events count as finished only once somebody has
    /// [acknowledged](crate::consumer::Acknowledger::acknowledge) them, besides being handled: until then they
    /// hold back producers and the stages after this one. Who does so is
    /// [taken](crate::Consumers::take_acknowledger) by the stage's name before the start.
    ///
    /// A stage that leaves the graph, since it was [stopped](crate::consumer::StopHandle) or its policy says so,
    /// holds nobody back any more: what it has handled goes on to the stages after it, acknowledged or
    /// not. And a [shutdown](crate::Running::shutdown) waits for stages, not for acknowledgements that no
    /// stage waits for: after it, [`Acknowledger::acknowledged`](crate::consumer::Acknowledger::acknowledged)
    /// says how far those of a last stage are.
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

    /// What to do when the handler returns an error; without a policy it halts the ring.
    ///
    /// A handler that returns `()` or an [`Action`](crate::Action) returns no error, and a poller has no handler: there
    /// [`build`](crate::Builder::build) returns [`UnusedSetting`](crate::error::BuildError::UnusedSetting).
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
    /// drop(producer);
    /// let finished = consumers.into_iter().next().unwrap().run();
    /// assert_eq!(finished.skipped(), 1);
    /// # drop(finished);
    /// assert_eq!(sum, 16);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_error(mut self, policy: impl FailurePolicy) -> Self {
        self.settings.on_error = Some(Unshared::new(Box::new(policy)));
        self
    }

    /// What to do when the handler panics; without a policy it halts the ring. A panic of `on_start`
    /// always does. The handler, and with `&mut E` the event, are as the panic left them. For a call
    /// between batches, such as `on_timeout`, no event is skipped.
    ///
    /// A poller has no handler: there [`build`](crate::Builder::build) returns
    /// [`UnusedSetting`](crate::error::BuildError::UnusedSetting).
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
    /// drop(producer);
    /// let finished = consumers.into_iter().next().unwrap().run();
    /// assert_eq!((finished.processed(), finished.skipped()), (1, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_panic(mut self, policy: impl FailurePolicy) -> Self {
        self.settings.on_panic = Some(Unshared::new(Box::new(policy)));
        self
    }
}
