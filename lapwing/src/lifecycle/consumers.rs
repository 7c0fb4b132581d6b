//! The consumers of a ring that is built and not started: threads are the user's choice.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::thread::{self, Scope};
use std::vec;

use super::completion::Completion;
use super::crew::{Body, crews, threads};
use super::running::{Handle, Running, RunningStage};
use super::worker_group::WorkerGroup;
use crate::consumer::{Acknowledger, Consumer, Exclusive, Poller};
use crate::description::Description;
use crate::error::{StartError, TakeError};
use crate::protocol::control::Control;
use crate::protocol::group::Group;
use crate::sync::Arc;
use crate::topology::Seats;

/// The reading ends of a ring: stages with handlers, to be started together or run one by one, and
/// pollers, to be taken by name.
///
/// If a stage with a handler is dropped without having run, the ring halts: its events would never
/// be done.
///
/// ```
/// use lapwing::Disruptor;
///
/// let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
///     .side_by_side(|side| side.stage("sum").read(|_, _, _| {}).stage("ticks").poller())
///     .build()?;
/// let mut ticks = consumers.take_poller("ticks")?;
/// let running = consumers.start()?; // one thread, named "sum"
/// producer.publish(|event| *event = 7)?;
/// assert_eq!(ticks.wait()?.as_slice(), [7]);
/// running.shutdown()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "consumers that are dropped without having run halt their ring"]
pub struct Consumers<'env, E> {
    pub(crate) control: Arc<Control>,
    pub(crate) description: Description,
    /// All stages, upstream ones first, at the index that they have in the ring.
    names: Vec<String>,
    pub(super) consumers: Vec<Consumer<'env>>,
    pollers: HashMap<String, Option<UntakenPoller<E>>>,
    /// By name; `None` once taken.
    acknowledgers: HashMap<String, Option<Acknowledger>>,
    seats: Seats<E>,
    /// The worker groups, by name.
    groups: HashMap<String, Arc<Group>>,
}

/// A poller that nobody has taken yet. It leaves the graph when it is dropped.
#[derive(Debug)]
pub(crate) enum UntakenPoller<E> {
    Shared(Poller<E>),
    Exclusive(Poller<E, Exclusive>),
}

impl<'env, E: Send + 'env> Consumers<'env, E> {
    pub(crate) fn new(
        control: Arc<Control>,
        description: Description,
        names: Vec<String>,
        consumers: Vec<Consumer<'env>>,
        pollers: HashMap<String, Option<UntakenPoller<E>>>,
        acknowledgers: HashMap<String, Option<Acknowledger>>,
        seats: Seats<E>,
    ) -> Self {
        let groups = HashMap::new();
        Self { control, description, names, consumers, pollers, acknowledgers, seats, groups }
    }

    /// The same with these worker groups, by name.
    pub(crate) fn with_groups(mut self, groups: HashMap<String, Arc<Group>>) -> Self {
        self.groups = groups;
        self
    }

    /// The ring's [seats](crate::Builder::seats), for consumers that join while it runs.
    ///
    /// ```
    /// # use lapwing::{Disruptor, graph::StartAt};
    /// let (mut producer, consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).seats(1).stage("sum").read(|_, _, _| {}).build()?;
    /// let seats = consumers.seats();
    /// let running = consumers.start()?;
    /// let mut late = seats.take("late", StartAt::Now)?.poller();
    /// producer.publish(|event| *event = 7)?;
    /// assert_eq!(late.poll()?.as_slice(), [7]);
    /// # running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn seats(&self) -> Seats<E>
    where
        E: Sync,
    {
        self.seats.clone()
    }

    /// Names of all stages, pollers included, upstream ones first. A group is one stage.
    ///
    /// ```
    /// # use lapwing::Disruptor;
    /// let (_producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("decode").read(|_, _, _| {})
    ///     .stage("ticks").poller()
    ///     .build()?;
    /// assert_eq!(consumers.names().collect::<Vec<_>>(), ["decode", "ticks"]);
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Takes the poller of the stage `name`, which reads.
    ///
    /// ```
    /// # use lapwing::{Disruptor, error::TakeError};
    /// let (_producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("ticks").poller().build()?;
    /// let mut ticks = consumers.take_poller("ticks")?;
    /// assert!(ticks.poll().is_err()); // empty
    /// let again = consumers.take_poller("ticks").err();
    /// assert_eq!(again, Some(TakeError::AlreadyTaken { name: "ticks".into() }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TakeError`] if no stage has this name, if it is no poller that reads, or if it was taken
    /// before.
    pub fn take_poller(&mut self, name: &str) -> Result<Poller<E>, TakeError>
    where
        E: Sync,
    {
        match self.untaken::<Poller<E>>(name)?.take() {
            Some(UntakenPoller::Shared(poller)) => Ok(poller),
            other => Err(self.put_back::<Poller<E>>(name, other)),
        }
    }

    /// Takes the poller of the stage `name`, which changes events.
    ///
    /// ```
    /// # use lapwing::{Disruptor, error::TakeError};
    /// let (_producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("ticks").poller_mut().build()?;
    /// let shared = consumers.take_poller("ticks").err();
    /// assert!(matches!(shared, Some(TakeError::WrongType { .. })));
    /// let mut ticks = consumers.take_poller_mut("ticks")?; // still there
    /// assert!(ticks.poll().is_err()); // empty
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TakeError`] if no stage has this name, if it is no poller that changes events, or if it
    /// was taken before.
    pub fn take_poller_mut(&mut self, name: &str) -> Result<Poller<E, Exclusive>, TakeError> {
        match self.untaken::<Poller<E, Exclusive>>(name)?.take() {
            Some(UntakenPoller::Exclusive(poller)) => Ok(poller),
            other => Err(self.put_back::<Poller<E, Exclusive>>(name, other)),
        }
    }

    /// Takes what says how far the events of the stage `name` are done; the stage was
    /// [asked](crate::Stage::acknowledged) to wait for it.
    ///
    /// ```
    /// # use lapwing::{Disruptor, error::TakeError};
    /// let (_producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("journal").acknowledged().read(|_, _, _| {})
    ///     .stage("reply").read(|_, _, _| {})
    ///     .build()?;
    /// let journal = consumers.take_acknowledger("journal")?;
    /// assert_eq!(journal.acknowledged(), 0);
    /// let again = consumers.take_acknowledger("journal").err();
    /// assert_eq!(again, Some(TakeError::AlreadyTaken { name: "journal".into() }));
    /// let reply = consumers.take_acknowledger("reply").err();
    /// assert!(matches!(reply, Some(TakeError::WrongType { .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TakeError`] if no stage has this name, if it does not wait for one, or if it was taken
    /// before.
    pub fn take_acknowledger(&mut self, name: &str) -> Result<Acknowledger, TakeError> {
        match self.acknowledgers.get_mut(name) {
            Some(acknowledger) => acknowledger.take().ok_or_else(|| TakeError::already_taken(name)),
            None => Err(self.no_such::<Acknowledger>(name)),
        }
    }

    /// Why a stage `name` has no `T`.
    fn no_such<T>(&self, name: &str) -> TakeError {
        if self.names.iter().any(|known| known == name) {
            TakeError::wrong_type::<T>(name)
        } else {
            TakeError::unknown_name(name, self.names())
        }
    }

    /// The place of a poller, empty once it was taken.
    fn untaken<P>(&mut self, name: &str) -> Result<&mut Option<UntakenPoller<E>>, TakeError> {
        let unknown = self.no_such::<P>(name);
        self.pollers.get_mut(name).ok_or(unknown)
    }

    /// Leaves a poller of the other access where it was, and says why it was not taken.
    fn put_back<P>(&mut self, name: &str, poller: Option<UntakenPoller<E>>) -> TakeError {
        if poller.is_none() {
            return TakeError::already_taken(name);
        }
        self.pollers.insert(name.to_owned(), poller);
        TakeError::wrong_type::<P>(name)
    }

    /// The group of [`Workers`](crate::graph::Workers) with this name, to resize it; `None` if there is none.
    ///
    /// ```
    /// # use lapwing::Disruptor;
    /// let (_producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("work").workers(1).up_to(3).read(|_| |_, _, _| {})
    ///     .build()?;
    /// let work = consumers.workers("work").unwrap();
    /// assert_eq!((work.size(), work.max()), (1, 3));
    /// assert!(consumers.workers("work-0").is_none()); // a worker, no group
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn workers(&self, name: &str) -> Option<WorkerGroup> {
        self.groups.get(name).map(|group| WorkerGroup::new(name, Arc::clone(group)))
    }

    /// The threads that [`start`](Self::start) makes, each with the names of its stages and workers, in the
    /// order of the graph: what came of the ring's [`Placement`](crate::graph::Placement).
    ///
    /// ```
    /// use lapwing::{Disruptor, graph::Placement};
    ///
    /// let (_producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .placement(Placement::threads(2))
    ///     .stage("decode").read(|_, _, _| {})
    ///     .stage("match").read(|_, _, _| {})
    ///     .stage("audit").read(|_, _, _| {})
    ///     .stage("ticks").poller() // has none
    ///     .build()?;
    /// let threads: Vec<_> = consumers.threads().collect();
    /// assert_eq!(threads, [("ring-0", vec!["decode", "match"]), ("audit", vec!["audit"])]);
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    pub fn threads(&self) -> impl Iterator<Item = (&str, Vec<&str>)> {
        threads(&self.consumers)
    }

    /// Starts the [threads](Self::threads): one for each stage that has a handler, with the stage's name, and
    /// for a group one for each worker, unless a [`Placement`](crate::graph::Placement) says otherwise. They are
    /// pinned where that is asked for.
    ///
    /// To get results out of handlers, own them ([`read_handler`](crate::Stage::read_handler),
    /// and [`Report::take`](crate::Report::take) at the end), or let closures borrow, with
    /// [`start_scoped`](Self::start_scoped).
    ///
    /// ```
    /// # use lapwing::Disruptor;
    /// # let (mut producer, consumers) =
    /// #     Disruptor::single_producer(8, || 0_u64).stage("sum").read(|_, _, _| {}).build()?;
    /// let running = consumers.start()?;
    /// producer.publish(|event| *event = 7)?;
    /// let report = running.shutdown()?;
    /// assert_eq!(report.stages().next().unwrap().processed(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`StartError`] if a thread cannot be had or pinned, or if a poller was not taken. The ring
    /// is then halted and the threads that had begun have ended.
    ///
    /// # Blocking
    ///
    /// Until every thread that is to be pinned is.
    pub fn start(self) -> Result<Running<'static>, StartError>
    where
        'env: 'static,
        E: 'static,
    {
        self.start_on(|name, body| thread::Builder::new().name(name).spawn(body).map(Handle::Owned))
    }

    /// As [`start`](Self::start), on scoped threads: handlers may borrow from the scope's
    /// surroundings.
    ///
    /// ```
    /// use std::thread;
    /// use lapwing::Disruptor;
    ///
    /// let (mut sum, mut seen) = (0, 0);
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .side_by_side(|side| side
    ///         .stage("sum").read(|event, _, _| sum += event)
    ///         .stage("count").read(|_, _, _| seen += 1))
    ///     .build()?;
    /// thread::scope(|scope| {
    ///     let running = consumers.start_scoped(scope)?;
    ///     for value in 1..=100 {
    ///         producer.publish(|event| *event = value)?;
    ///     }
    ///     running.shutdown()?;
    ///     Ok::<(), Box<dyn std::error::Error>>(())
    /// })?;
    /// assert_eq!((sum, seen), (5050, 100));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    ///
    /// # Blocking
    ///
    /// As [`start`](Self::start). The scope itself ends when the stages do: when the producers are gone, or
    /// when [`Running`] was shut down or [dropped](Running#dropping).
    pub fn start_scoped<'scope>(
        self,
        scope: &'scope Scope<'scope, '_>,
    ) -> Result<Running<'scope>, StartError>
    where
        'env: 'scope,
    {
        self.start_on(|name, body| {
            thread::Builder::new().name(name).spawn_scoped(scope, body).map(Handle::Scoped)
        })
    }

    fn start_on<'scope>(
        self,
        mut spawn: impl FnMut(String, Body<'scope>) -> io::Result<Handle<'scope>>,
    ) -> Result<Running<'scope>, StartError>
    where
        'env: 'scope,
    {
        let is_untaken = |name: &&String| matches!(self.pollers.get(*name), Some(Some(_)));
        if let Some(name) = self.names.iter().find(is_untaken) {
            return Err(StartError::UntakenPoller { stage: name.clone() });
        }
        let is_untaken = |name: &&String| matches!(self.acknowledgers.get(*name), Some(Some(_)));
        if let Some(name) = self.names.iter().find(is_untaken) {
            return Err(StartError::UntakenAcknowledger { stage: name.clone() });
        }
        let completion = Arc::new(Completion::default());
        let (pollers, groups) = (&self.pollers, &self.groups);
        let stages = self.names.into_iter().enumerate();
        let stages = stages.filter(|(_, name)| !pollers.contains_key(name));
        let of_one = |(index, name): (_, String)| RunningStage::new(index, groups.get(&name), name);
        let stages = stages.map(of_one).collect();
        let mut running =
            Running::new(self.control, self.description, stages, Arc::clone(&completion));
        for crew in crews(self.consumers) {
            match crew.start(&completion, &mut spawn) {
                Ok(handle) => running.add(handle),
                Err(error) => {
                    running.abort();
                    return Err(error);
                }
            }
        }
        Ok(running)
    }
}

impl<'env, E> IntoIterator for Consumers<'env, E> {
    type Item = Consumer<'env>;
    type IntoIter = vec::IntoIter<Consumer<'env>>;

    /// The stages with handlers, to be run on threads of the caller's own. A poller that was not
    /// taken leaves the graph; an [`Acknowledger`](crate::consumer::Acknowledger) that was not taken halts it,
    /// since nobody would acknowledge anything.
    fn into_iter(self) -> Self::IntoIter {
        self.consumers.into_iter()
    }
}

impl<E> fmt::Debug for Consumers<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let threads: Vec<_> = threads(&self.consumers).collect();
        f.debug_struct("Consumers")
            .field("names", &self.names)
            .field("threads", &threads)
            .finish_non_exhaustive()
    }
}
