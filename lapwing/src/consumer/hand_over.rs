//! The handover of a handler's state for a key from one worker to another: the public trait, and
//! where the state is kept in between. Not here: when it happens (`group::moves`).

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::access::Access;
use super::action::IntoAction;
use super::failure::Failure;
use super::handler::EventHandler;
use super::progress::Progress;
use super::work::{Interruption, WholeLife, Work};
use crate::Sequence;
use crate::group::{KeyTransfer, MovedKeys};

/// A handler that hands over its state for a key when the key moves to another worker.
///
/// The workers of a group [by key](crate::graph::WorkerStage::by_key) may keep state per key. Keys move
/// when the group is [resized](crate::lifecycle::WorkerGroup::resize) and when a worker leaves it.
/// With this trait, the state moves too. Without it, the state stays in the old handler, and the
/// new worker of the key begins without any.
///
/// [`read_keyed_handlers`](crate::graph::WorkerStage::read_keyed_handlers) and
/// [`write_keyed_handlers`](crate::graph::WorkerStage::write_keyed_handlers) take handlers with this
/// trait.
///
/// # When the library calls the methods
///
/// Both methods run on the worker's own thread, between two batches, so neither needs a lock:
///
/// 1. All workers finish the events that are routed to them. Nothing more is routed.
/// 2. The library calls [`give`](Self::give) on each worker that had keys.
/// 3. Events are routed to the new workers. Before the first such event, the library calls
///    [`take`](Self::take) on a worker for each state that belongs to it.
///
/// A worker leaves its group if its handler or its [error policy](crate::Stage::on_error) returns
/// [`Action::Stop`](crate::Action::Stop), or if a [`StopHandle`](crate::consumer::StopHandle) stops
/// it. It then gives all of its states, and the workers that get its events take them. A resize
/// during another resize takes effect after it, in the same way. A panic of either method halts the
/// ring, whatever the stage's policy says.
///
/// # What is not handed over
///
/// - A worker that a panic has ended gives nothing, even if its [policy](crate::Stage::on_panic)
///   lets the group continue. Its states are [dropped](crate::EventHandler#panics-of-a-handler) with
///   its handler, and its keys begin anew with their next worker.
/// - A worker takes back what it gave if it leaves when no event is left, or as the last worker of
///   its group.
/// - When the ring halts, states that are not taken yet are dropped with it.
///
/// ```
/// use std::collections::HashMap;
/// use lapwing::{Disruptor, EventHandler, Sequence, consumer::{HandOver, MovedKeys}};
///
/// #[derive(Default)]
/// struct Counts(HashMap<u64, u64>); // number of events of each key
///
/// impl EventHandler<u64> for Counts {
///     fn on_event(&mut self, key: &u64, _: Sequence, _: bool) {
///         *self.0.entry(*key).or_default() += 1;
///     }
/// }
///
/// impl HandOver for Counts {
///     type State = u64;
///
///     fn give(&mut self, moved: &MovedKeys) -> Vec<(u64, u64)> {
///         self.0.extract_if(|&key, _| moved.contains(key)).collect()
///     }
///
///     fn take(&mut self, key: u64, count: u64) {
///         self.0.insert(key, count);
///     }
/// }
///
/// let (mut producer, consumers) = Disruptor::single_producer(64, || 0_u64)
///     .stage("count").workers(1).up_to(2).by_key(|key| *key)
///     .read_keyed_handlers(|_worker| Counts::default())
///     .build()?;
/// let running = consumers.start()?;
/// for number in 0..300 {
///     producer.publish(|key| *key = number % 10)?;
///     if number == 100 {
///         running.workers("count").unwrap().resize(2)?;
///     }
/// }
/// let mut report = running.shutdown()?;
/// let (Counts(first), Counts(second)) = (report.take("count-0")?, report.take("count-1")?);
/// let counts: HashMap<_, _> = first.into_iter().chain(second).collect();
/// assert_eq!(counts, (0..10).map(|key| (key, 30)).collect()); // no count began again
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait HandOver {
    /// The state of one key.
    type State: Send + 'static;

    /// Takes the states of the keys in `moved` out of this handler, and returns them.
    ///
    /// If it returns a state for another key, this handler gets that state back.
    /// [`MovedKeys`] has an example.
    fn give(&mut self, moved: &MovedKeys) -> Vec<(u64, Self::State)>;

    /// Stores the state of a key that has moved to this worker.
    fn take(&mut self, key: u64, state: Self::State);
}

/// Keys with their states.
type States<S> = Vec<(u64, S)>;

/// States that are given and not taken, indexed by the word of the worker that takes them.
#[derive(Debug)]
pub(crate) struct Mailboxes<S>(Box<[Mutex<States<S>>]>);

impl<S> Mailboxes<S> {
    /// Creates the mailboxes of a group of `workers`.
    pub(crate) fn new(workers: usize) -> Self {
        Self((0..workers).map(|_| Mutex::default()).collect())
    }

    fn of(&self, word: usize) -> MutexGuard<'_, States<S>> {
        // A poisoned lock is harmless: under it states are only moved, and no user code runs.
        self.0[word].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A handler that hands over the states of its keys.
pub(crate) struct Keyed<H: HandOver, R> {
    life: WholeLife<H, R>,
    mailboxes: Arc<Mailboxes<H::State>>,
}

impl<H: HandOver, R> Keyed<H, R> {
    pub(crate) fn new(handler: H, mailboxes: Arc<Mailboxes<H::State>>) -> Self {
        Self { life: WholeLife::new(handler), mailboxes }
    }

    pub(crate) fn into_handler(self) -> H {
        self.life.0
    }
}

impl<H: HandOver, R> KeyTransfer for Keyed<H, R> {
    fn give(&mut self, moved: &MovedKeys) -> u64 {
        let mut words = 0;
        for (key, state) in self.life.0.give(moved) {
            let word = moved.destination(key);
            self.mailboxes.of(word).push((key, state));
            words |= 1 << word;
        }
        words
    }

    fn take(&mut self, word: usize) {
        let states = mem::take(&mut *self.mailboxes.of(word));
        for (key, state) in states {
            self.life.0.take(key, state);
        }
    }
}

impl<E, A, R, H> Work<E, A> for Keyed<H, R>
where
    A: Access,
    R: IntoAction,
    H: EventHandler<E, A, R> + HandOver,
{
    const LOOKS_AT_DEPTH: bool = true;
    const HEARS_RELEASES: bool = true;
    const HEARS_TIMEOUTS: bool = true;

    fn transfer(&mut self) -> Option<&mut dyn KeyTransfer> {
        Some(self)
    }

    fn on_start(&mut self) {
        Work::<E, A>::on_start(&mut self.life);
    }

    fn on_batch_start(&mut self, batch_size: u64, queue_depth: u64) {
        Work::<E, A>::on_batch_start(&mut self.life, batch_size, queue_depth);
    }

    #[inline]
    fn on_batch(
        &mut self,
        events: A::Slice<'_, E>,
        first: Sequence,
        progress: &Progress,
    ) -> Result<(), Interruption> {
        Work::<E, A>::on_batch(&mut self.life, events, first, progress)
    }

    #[cold]
    fn on_failed(
        &mut self,
        events: A::Slice<'_, E>,
        first: Sequence,
        progress: &Progress,
        failure: &Failure<'_>,
    ) -> Result<(), Interruption> {
        Work::<E, A>::on_failed(&mut self.life, events, first, progress, failure)
    }

    fn on_released(&mut self, next_sequence: Sequence) {
        Work::<E, A>::on_released(&mut self.life, next_sequence);
    }

    fn on_timeout(&mut self, next_sequence: Sequence) {
        Work::<E, A>::on_timeout(&mut self.life, next_sequence);
    }

    fn on_restart(&mut self) {
        Work::<E, A>::on_restart(&mut self.life);
    }

    fn on_shutdown(&mut self) {
        Work::<E, A>::on_shutdown(&mut self.life);
    }
}
