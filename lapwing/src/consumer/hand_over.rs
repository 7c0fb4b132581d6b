//! What a handler knows of a key, on its way from one worker to another: the public trait, and where it
//! lies meanwhile. Not here: when it is time for that (`group::moves`).

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::access::Access;
use super::action::IntoAction;
use super::handler::EventHandler;
use super::work::{Interruption, Progress, WholeLife, Work};
use crate::Sequence;
use crate::protocol::group::{KeyTransfer, MovedKeys};

/// A handler of workers [by key](crate::graph::Workers::by_key) that hands over what it knows of a key when the
/// key goes to another worker.
///
/// Keys change hands when the group is [resized](crate::lifecycle::WorkerGroup::resize) and when a worker leaves it.
/// Without this trait, the state that a handler keeps for a key stays with that handler, and the key's
/// new worker begins anew. Handlers with this trait are given to
/// [`read_keyed_handlers`](crate::graph::Workers::read_keyed_handlers).
///
/// # When it is called
///
/// Both methods run on the worker's own thread, between two events, so neither needs a lock:
///
/// 1. All workers finish the events that are routed to them. Nothing more is routed.
/// 2. [`give`](Self::give) is called for each worker that had keys.
/// 3. Events are routed to the new workers. Each has [`take`](Self::take) called for every state that is for it, before
///    its first such event.
///
/// A worker that leaves, since it [stopped](crate::Action::Stop) or was [asked to](crate::consumer::StopHandle), gives
/// everything, and the worker that gets its events takes it. A resize during a resize takes effect after
/// it, in the same way. A panic of either method halts the ring, whatever the stage's policy says.
///
/// # What is not handed over
///
/// - A worker whose panic ended it is not called again, so it gives nothing, not even if its
///   [policy](crate::Stage::on_panic) lets the group go on. Its state is in the handler that the
///   [report](crate::Report::take) hands back.
/// - A worker that leaves when nothing is left to do, or as the last of its group, takes back what it gave.
/// - When the ring halts, states that are on their way are dropped with it.
///
/// ```
/// use std::collections::HashMap;
/// use lapwing::{Disruptor, EventHandler, Sequence, consumer::{HandOver, MovedKeys}};
///
/// #[derive(Default)]
/// struct Reading { device: u64, value: u64, average: u64 }
///
/// /// Average of each device's readings so far.
/// #[derive(Default)]
/// struct Averages(HashMap<u64, Average>);
///
/// #[derive(Default)]
/// struct Average { readings: u64, sum: u64 }
///
/// impl EventHandler<Reading> for Averages {
///     fn on_event(&mut self, reading: &Reading, _: Sequence, _: bool) {
///         let average = self.0.entry(reading.device).or_default();
///         average.readings += 1;
///         average.sum += reading.value;
///     }
/// }
///
/// impl HandOver for Averages {
///     type State = Average;
///
///     fn give(&mut self, moved: &MovedKeys) -> Vec<(u64, Average)> {
///         self.0.extract_if(|&device, _| moved.contains(device)).collect()
///     }
///
///     fn take(&mut self, device: u64, average: Average) {
///         self.0.insert(device, average);
///     }
/// }
///
/// let (mut readings, consumers) = Disruptor::single_producer(64, Reading::default)
///     .stage("average")
///     .workers(1)
///     .up_to(3)
///     .by_key(|reading| reading.device)
///     .read_keyed_handlers(|_worker| Averages::default())
///     .build()?;
/// let running = consumers.start()?;
/// let group = running.workers("average").unwrap();
/// for number in 0..300 {
///     readings.publish(|reading| (reading.device, reading.value) = (number % 10, number))?;
///     if number % 50 == 0 {
///         group.resize(1 + number as usize / 50 % 3)?;
///     }
/// }
/// let mut report = running.shutdown()?;
/// let mut all = HashMap::new();
/// for worker in ["average-0", "average-1", "average-2"] {
///     let Averages(of_worker) = report.take(worker)?;
///     all.extend(of_worker);
/// }
/// assert_eq!(all.len(), 10);
/// for (device, average) in all {
///     assert_eq!(average.readings, 30); // no average has begun anew
///     assert_eq!(average.sum, (0..30).map(|round| 10 * round + device).sum());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait HandOver {
    /// What is known of one key.
    type State: Send + 'static;

    /// Takes the states of the keys in `moved` out of this handler, and returns them. A state that it
    /// returns for another key comes back to it.
    fn give(&mut self, moved: &MovedKeys) -> Vec<(u64, Self::State)>;

    /// Takes the state of a key that has come to this worker.
    fn take(&mut self, key: u64, state: Self::State);
}

/// Keys, each with what is known of it.
type States<S> = Vec<(u64, S)>;

/// States on their way, by the word of the worker that is to take them.
#[derive(Debug)]
pub(crate) struct Mailboxes<S>(Box<[Mutex<States<S>>]>);

impl<S> Mailboxes<S> {
    /// That of so many workers.
    pub(crate) fn new(workers: usize) -> Self {
        Self((0..workers).map(|_| Mutex::default()).collect())
    }

    fn of(&self, word: usize) -> MutexGuard<'_, States<S>> {
        // Nothing panics under this lock, and no code of the user's runs: states are only moved.
        self.0[word].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A handler that hands over what it knows of its keys.
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
    fn on_batch_with_failed(
        &mut self,
        events: A::Slice<'_, E>,
        first: Sequence,
        progress: &Progress,
        is_failed: &dyn Fn(Sequence) -> bool,
    ) -> Result<(), Interruption> {
        Work::<E, A>::on_batch_with_failed(&mut self.life, events, first, progress, is_failed)
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
