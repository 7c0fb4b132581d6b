//! The consumers of a ring that is built and not started.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::vec;

use super::completion::Completion;
use super::crew::{Body, crews, threads};
use super::running::{Handle, Running, RunningStage};
use super::worker_group::WorkerGroup;
use crate::consumer::{Acknowledger, Consumer, Exclusive, Poller};
use crate::error::{StartError, TakeError};
use crate::group::Group;
use crate::ring::Ring;
use crate::sync::Arc;
use crate::sync::threads::{Builder, Scope, spawn_scoped};
use crate::wait::AnyWaitStrategy;

/// The reading ends of a ring that is not started yet.
///
/// 1. Take each [poller](Self::take_poller) and each [acknowledger](Self::take_acknowledger) by the
///    name of its stage.
/// 2. [Start](Self::start) the stages that have handlers, on threads that the library makes. Or
///    iterate over `Consumers` to [run](Consumer::run) each of them on a thread of your own.
///
/// Dropping a stage that has a handler and has not run halts the ring, since its events would never
/// be finished.
///
/// `'env` is how long what the handlers borrow lives. A function that builds a ring whose handlers
/// own what they use returns `Consumers<'static, E>`. With `Consumers<'_, E>` it would borrow from
/// an argument of the function.
///
/// ```
/// use lapwing::Disruptor;
///
/// let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
///     .parallel(|parallel| parallel.stage("sum").read(|_, _, _| {}).stage("ticks").poller())
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
    /// All stages, upstream ones first, at their index in the ring.
    names: Vec<String>,
    pub(super) consumers: Vec<Consumer<'env>>,
    pollers: HashMap<String, Option<UntakenPoller<E>>>,
    /// By name; `None` once taken.
    acknowledgers: HashMap<String, Option<Acknowledger>>,
    pub(crate) ring: Ring<E>,
    /// The strategy of a consumer that joins the ring and sets none.
    pub(crate) guests_wait: Arc<Box<dyn AnyWaitStrategy>>,
    /// The worker groups, by name.
    groups: HashMap<String, Arc<Group>>,
}

/// A poller that is not taken yet. It leaves the graph when it is dropped.
#[derive(Debug)]
pub(crate) enum UntakenPoller<E> {
    Shared(Poller<E>),
    Exclusive(Poller<E, Exclusive>),
}

impl<'env, E: Send + 'env> Consumers<'env, E> {
    pub(crate) fn new(
        ring: Ring<E>,
        names: Vec<String>,
        consumers: Vec<Consumer<'env>>,
        pollers: HashMap<String, Option<UntakenPoller<E>>>,
        acknowledgers: HashMap<String, Option<Acknowledger>>,
        guests_wait: Box<dyn AnyWaitStrategy>,
    ) -> Self {
        let (guests_wait, groups) = (Arc::new(guests_wait), HashMap::new());
        Self { ring, names, consumers, pollers, acknowledgers, guests_wait, groups }
    }

    /// The same consumers with these worker groups, by name.
    pub(crate) fn with_groups(mut self, groups: HashMap<String, Arc<Group>>) -> Self {
        self.groups = groups;
        self
    }

    /// Returns the names of all stages, with pollers, upstream ones first. A group is one stage.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
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

    /// Takes the reading poller of the stage `name`.
    ///
    /// ```
    /// use lapwing::{Disruptor, error::TakeError};
    ///
    /// let (_producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("ticks").poller().build()?;
    /// let _ticks = consumers.take_poller("ticks")?;
    /// let again = consumers.take_poller("ticks").err();
    /// assert_eq!(again, Some(TakeError::AlreadyTaken { name: "ticks".into() }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - [`TakeError::UnknownName`] if no stage has this name.
    /// - [`TakeError::WrongType`] if the stage has no reading poller.
    /// - [`TakeError::AlreadyTaken`] if an earlier call took the stage's poller, of either kind.
    pub fn take_poller(&mut self, name: &str) -> Result<Poller<E>, TakeError>
    where
        E: Sync,
    {
        match self.untaken::<Poller<E>>(name)?.take() {
            Some(UntakenPoller::Shared(poller)) => Ok(poller),
            other => Err(self.put_back::<Poller<E>>(name, other)),
        }
    }

    /// Takes the poller of the stage `name` that changes events.
    ///
    /// ```
    /// let (_producer, mut consumers) =
    ///     lapwing::Disruptor::single_producer(8, || 0_u64).stage("ticks").poller_mut().build()?;
    /// assert!(consumers.take_poller("ticks").is_err()); // the stage has no reading poller
    /// assert!(consumers.take_poller_mut("ticks").is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - [`TakeError::UnknownName`] if no stage has this name.
    /// - [`TakeError::WrongType`] if the stage has no poller that changes events.
    /// - [`TakeError::AlreadyTaken`] if an earlier call took the stage's poller, of either kind.
    pub fn take_poller_mut(&mut self, name: &str) -> Result<Poller<E, Exclusive>, TakeError> {
        match self.untaken::<Poller<E, Exclusive>>(name)?.take() {
            Some(UntakenPoller::Exclusive(poller)) => Ok(poller),
            other => Err(self.put_back::<Poller<E, Exclusive>>(name, other)),
        }
    }

    /// Takes the acknowledger of the stage `name`, which was built with
    /// [`acknowledged`](crate::Stage::acknowledged).
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let stage = Disruptor::single_producer(8, || 0_u64).stage("journal").acknowledged();
    /// let (_producer, mut consumers) = stage.read(|_, _, _| {}).build()?;
    /// let journal = consumers.take_acknowledger("journal")?;
    /// assert_eq!(journal.acknowledged(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - [`TakeError::UnknownName`] if no stage has this name.
    /// - [`TakeError::WrongType`] if the stage waits for no acknowledgements.
    /// - [`TakeError::AlreadyTaken`] if an earlier call took it.
    pub fn take_acknowledger(&mut self, name: &str) -> Result<Acknowledger, TakeError> {
        match self.acknowledgers.get_mut(name) {
            Some(acknowledger) => acknowledger.take().ok_or_else(|| TakeError::already_taken(name)),
            None => Err(self.no_such::<Acknowledger>(name)),
        }
    }

    /// The error for a stage `name` that has no `T`.
    fn no_such<T>(&self, name: &str) -> TakeError {
        if self.names.iter().any(|known| known == name) {
            TakeError::wrong_type::<T>(name)
        } else {
            TakeError::unknown_name(name, self.names())
        }
    }

    /// The entry of a poller, empty once it is taken.
    fn untaken<P>(&mut self, name: &str) -> Result<&mut Option<UntakenPoller<E>>, TakeError> {
        let unknown = self.no_such::<P>(name);
        self.pollers.get_mut(name).ok_or(unknown)
    }

    /// Puts a poller of the other access back, and returns why it was not taken.
    fn put_back<P>(&mut self, name: &str, poller: Option<UntakenPoller<E>>) -> TakeError {
        if poller.is_none() {
            return TakeError::already_taken(name);
        }
        self.pollers.insert(name.to_owned(), poller);
        TakeError::wrong_type::<P>(name)
    }

    /// Returns the group of [workers](crate::graph::WorkerStage) named `name`, to resize it; `None`
    /// if there is none.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (_producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("work").workers(1).up_to(3).read(|_| |_, _, _| {})
    ///     .build()?;
    /// let work = consumers.workers("work").unwrap();
    /// assert_eq!((work.size(), work.max()), (1, 3));
    /// assert!(consumers.workers("work-0").is_none()); // the name of a worker
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn workers(&self, name: &str) -> Option<WorkerGroup> {
        self.groups.get(name).map(|group| WorkerGroup::new(name, Arc::clone(group)))
    }

    /// Returns the threads that [`start`](Self::start) makes, in the order of the graph. Each comes
    /// with the names of its stages and workers. [`on_thread`](crate::Stage::on_thread) and
    /// [`Placement`](crate::graph::Placement) choose them.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (_producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("decode").read(|_, _, _| {})
    ///     .stage("audit").on_thread("decode").read(|_, _, _| {})
    ///     .stage("ticks").poller() // has no thread
    ///     .build()?;
    /// assert_eq!(consumers.threads().collect::<Vec<_>>(), [("decode", vec!["decode", "audit"])]);
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    pub fn threads(&self) -> impl Iterator<Item = (&str, Vec<&str>)> {
        threads(&self.consumers)
    }

    /// Starts the [threads](Self::threads), and pins those that are to be pinned.
    ///
    /// By default, each stage that has a handler gets a thread with its name, and a group gets one
    /// for each worker, active or not.
    ///
    /// A closure that borrows needs [`start_scoped`](Self::start_scoped). With `move`, which rustc
    /// suggests instead, it changes its own copy of a number. To get results out of handlers, use
    /// [`read_handler`](crate::Stage::read_handler) and [`Report::take`](crate::Report::take).
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("sum").read(|_, _, _| {}).build()?;
    /// let running = consumers.start()?;
    /// producer.publish(|event| *event = 7)?;
    /// assert_eq!(running.shutdown()?.stages().next().unwrap().processed(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The threads that were started have ended. If a stage has a handler, or an acknowledger was
    /// not taken, the ring is halted. Otherwise, the pollers that were not taken have left it.
    ///
    /// - [`StartError::UntakenPoller`] if a poller was not taken.
    /// - [`StartError::UntakenAcknowledger`] if an acknowledger was not taken.
    /// - [`StartError::Spawn`] if the operating system refuses a thread.
    /// - [`StartError::Pin`] if a thread cannot be pinned.
    ///
    /// # Blocking
    ///
    /// Waits until every thread that is to be pinned is pinned. On an error, it waits until the
    /// threads that were started have ended. Otherwise, the call does not wait.
    pub fn start(self) -> Result<Running<'static>, StartError>
    where
        'env: 'static,
        E: 'static,
    {
        self.start_on(|name, body| Builder::new().name(name).spawn(body).map(Handle::Owned))
    }

    /// Starts the [threads](Self::threads) in a [scope](std::thread::scope), so that handlers may
    /// borrow from outside of it. The rest is the same as for [`start`](Self::start).
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let mut sum = 0;
    /// let (mut producer, consumers) =
    ///     Disruptor::single_producer(8, || 0).stage("sum").read(|event, _, _| sum += event).build()?;
    /// std::thread::scope(|scope| {
    ///     let running = consumers.start_scoped(scope)?;
    ///     for value in 1..=100 {
    ///         producer.publish(|event| *event = value)?;
    ///     }
    ///     running.shutdown()?;
    ///     Ok::<(), Box<dyn std::error::Error>>(())
    /// })?;
    /// assert_eq!(sum, 5050);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`StartError`], for the same reasons as [`start`](Self::start).
    ///
    /// # Blocking
    ///
    /// Waits for threads that are to be pinned and, on an error, for those that were started. The
    /// scope ends when the stages do: once all producers are dropped, or the ring is closed or
    /// halted. [`Running`] closes it when it is shut down or [dropped](Running#dropping).
    pub fn start_scoped<'scope>(
        self,
        scope: &'scope Scope<'scope, '_>,
    ) -> Result<Running<'scope>, StartError>
    where
        'env: 'scope,
    {
        self.start_on(|name, body| spawn_scoped(scope, name, body).map(Handle::Scoped))
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
        let mut running = Running::new(self.ring.shared, stages, Arc::clone(&completion));
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

    /// Returns the stages with handlers and the workers, to run them on threads of your own.
    ///
    /// A poller that was not taken leaves the graph. An [`Acknowledger`] that was not taken halts
    /// the ring, since no thread could acknowledge anything.
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
