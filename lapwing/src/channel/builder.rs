//! Settings of a channel: its capacity and its wait strategies. Also makes the ring of the channel.

use std::fmt;

use super::broadcast::BroadcastReceiver;
use super::message_slot::{Keeping, MessageSlot};
use super::receiver::Receiver;
use super::sender::{MultiSender, Sender, SingleSender};
use crate::error::BuildError;
use crate::producer::{Multi, Sequencer, Single};
use crate::topology::{Builder as RingBuilder, Graph};
use crate::wait::{Adaptive, WaitStrategy};
use crate::{MAX_CAPACITY, MAX_RECEIVERS};

/// Name of the only stage of a channel that moves its values.
const RECEIVER: &str = "receiver";

/// Settings of a channel that is not yet made: its capacity, and how its ends wait.
///
/// [`spsc`](Self::spsc), [`mpsc`](Self::mpsc), [`broadcast`](Self::broadcast) or
/// [`multi_broadcast`](Self::multi_broadcast) makes the channel.
///
/// ```
/// use lapwing::channel::Builder;
/// use lapwing::wait::{Blocking, BusySpin};
///
/// let (mut sender, mut receiver) = Builder::new(1024)
///     .receiver_wait_strategy(BusySpin) // a CPU of its own
///     .sender_wait_strategy(Blocking::default())
///     .spsc()?;
/// sender.send(7)?;
/// assert_eq!(receiver.recv(), Ok(7));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[must_use = "no channel exists before `spsc`, `mpsc` or `broadcast` is called"]
pub struct Builder<R = Adaptive, S = Adaptive> {
    capacity: usize,
    receiver_wait: R,
    sender_wait: S,
    observable: Option<String>,
}

impl Builder {
    /// Creates the settings of a channel for at least `capacity` values. The capacity is rounded up
    /// to a power of two.
    ///
    /// The call that makes the channel, such as [`spsc`](Self::spsc), returns an error if the
    /// capacity is 0 or above [`MAX_CAPACITY`].
    ///
    /// ```
    /// use lapwing::channel::Builder;
    ///
    /// let (sender, _receiver) = Builder::new(1000).spsc::<u64>()?;
    /// assert_eq!(sender.capacity(), 1024);
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    pub fn new(capacity: usize) -> Self {
        let (receiver_wait, sender_wait) = (Adaptive::default(), Adaptive::default());
        Self { capacity, receiver_wait, sender_wait, observable: None }
    }
}

impl<R: WaitStrategy, S: WaitStrategy> Builder<R, S> {
    /// Sets how receivers wait on an empty channel. Each receiver gets a clone of `strategy`. The
    /// default is [`Adaptive`].
    ///
    /// ```
    /// use lapwing::{channel::Builder, wait::Blocking};
    ///
    /// let (mut sender, mut receiver) =
    ///     Builder::new(8).receiver_wait_strategy(Blocking { yields: 0 }).spsc()?;
    /// let thread = std::thread::spawn(move || receiver.recv()); // may park
    /// sender.send(7)?;
    /// assert_eq!(thread.join().unwrap(), Ok(7));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn receiver_wait_strategy<W: WaitStrategy>(self, strategy: W) -> Builder<W, S> {
        let Self { capacity, sender_wait, observable, .. } = self;
        Builder { capacity, receiver_wait: strategy, sender_wait, observable }
    }

    /// Sets how senders wait on a full channel. Each sender has its own clone of `strategy`. The
    /// default is [`Adaptive`].
    ///
    /// ```
    /// use lapwing::{channel::Builder, wait::Yielding};
    ///
    /// let (mut sender, receiver) = Builder::new(1).sender_wait_strategy(Yielding::default()).spsc()?;
    /// let thread = std::thread::spawn(move || receiver.into_iter().sum::<u64>());
    /// (1..=10).try_for_each(|number| sender.send(number))?; // waits for the one slot
    /// drop(sender);
    /// assert_eq!(thread.join().unwrap(), 55);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sender_wait_strategy<W: WaitStrategy>(self, strategy: W) -> Builder<R, W> {
        let Self { capacity, receiver_wait, observable, .. } = self;
        Builder { capacity, receiver_wait, sender_wait: strategy, observable }
    }

    /// Lets other processes of the same user monitor the channel, as
    /// [`observable`](crate::Builder::observable) does for a ring. Linux only.
    ///
    /// A channel has no `monitor` method, so this is the only way to monitor one. Its receiver shows as
    /// the stage "receiver". The receivers of a broadcast show as the stages "0", "1" and so on. The
    /// call that makes the channel returns [`BuildError::ObservableName`] if `name` breaks the rules for
    /// the name of a ring, and [`BuildError::ObservableFile`] if the file cannot be made.
    ///
    #[cfg_attr(target_os = "linux", doc = "```")]
    #[cfg_attr(not(target_os = "linux"), doc = "```no_run")]
    /// use lapwing::{channel::Builder, observe};
    ///
    /// let (mut sender, _receiver) = Builder::new(8).observable("example-channel").spsc()?;
    /// sender.send(7)?;
    /// let files = observe::ring_files()?;
    /// let file = files.iter().find(|file| file.name() == "example-channel").unwrap();
    /// assert_eq!(file.observe()?.monitor().snapshot().published, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn observable(mut self, name: impl Into<String>) -> Self {
        self.observable = Some(name.into());
        self
    }

    /// Makes a channel with one sender and one receiver.
    ///
    /// ```
    /// use lapwing::{channel::Builder, error::BuildError};
    ///
    /// let (mut sender, mut receiver) = Builder::new(8).spsc()?;
    /// sender.send(7)?;
    /// assert_eq!(receiver.recv(), Ok(7));
    /// let error = Builder::new(0).spsc::<u64>().unwrap_err();
    /// assert_eq!(error, BuildError::Capacity { requested: 0 });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - [`BuildError::Capacity`] if the capacity is 0 or above [`MAX_CAPACITY`].
    /// - [`BuildError::OutOfMemory`] if the allocator refuses the memory.
    /// - [`BuildError::ObservableName`] or [`BuildError::ObservableFile`] if the channel is to be
    ///   [`observable`](Self::observable) and its file cannot be made.
    ///
    /// # Panics
    ///
    /// If the `clone` of a wait strategy panics.
    pub fn spsc<T: Send>(self) -> Result<(SingleSender<T>, Receiver<T>), BuildError> {
        let ring = RingBuilder::<_, Single>::new(slots(self.capacity), MessageSlot::factory());
        let ring = ring.look_at_published_marks();
        self.with_one_receiver(ring)
    }

    /// Makes a channel with a sender that can be cloned and one receiver.
    ///
    /// ```
    /// use lapwing::channel::Builder;
    ///
    /// let (mut first, mut receiver) = Builder::new(8).mpsc()?;
    /// let mut second = first.clone();
    /// first.send(1)?;
    /// second.send(2)?;
    /// assert_eq!(receiver.recv(), Ok(1));
    /// assert_eq!(receiver.recv(), Ok(2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - [`BuildError::Capacity`] if the capacity is 0 or above [`MAX_CAPACITY`].
    /// - [`BuildError::OutOfMemory`] if the allocator refuses the memory.
    /// - [`BuildError::ObservableName`] or [`BuildError::ObservableFile`] if the channel is to be
    ///   [`observable`](Self::observable) and its file cannot be made.
    ///
    /// # Panics
    ///
    /// If the `clone` of a wait strategy panics.
    pub fn mpsc<T: Send>(self) -> Result<(MultiSender<T>, Receiver<T>), BuildError> {
        let ring = RingBuilder::<_, Multi>::new(slots(self.capacity), MessageSlot::factory());
        self.with_one_receiver(ring)
    }

    /// Makes a channel with one sender and `receivers` receivers. Each receiver gets every value.
    ///
    /// ```
    /// use lapwing::{channel::Builder, error::BuildError};
    ///
    /// let (mut sender, mut receivers) = Builder::new(8).broadcast(2)?;
    /// sender.send(7)?;
    /// assert!(receivers.iter_mut().all(|receiver| receiver.recv() == Ok(7)));
    /// assert_eq!(Builder::new(8).broadcast::<u64>(0).unwrap_err(), BuildError::NoConsumers);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - [`BuildError::Capacity`] if the capacity is 0 or above [`MAX_CAPACITY`].
    /// - [`BuildError::OutOfMemory`] if the allocator refuses the memory.
    /// - [`BuildError::ObservableName`] or [`BuildError::ObservableFile`] if the channel is to be
    ///   [`observable`](Self::observable) and its file cannot be made.
    /// - [`BuildError::NoConsumers`] if `receivers` is 0.
    /// - [`BuildError::Receivers`] if `receivers` is above [`MAX_RECEIVERS`].
    ///
    /// # Panics
    ///
    /// If the `clone` of a wait strategy panics.
    #[allow(clippy::type_complexity)] // a pair of ends, as for every channel
    pub fn broadcast<T: Send + Sync>(
        self,
        receivers: usize,
    ) -> Result<(SingleSender<T>, Vec<BroadcastReceiver<T>>), BuildError> {
        let ring = RingBuilder::<_, Single>::new(slots(self.capacity), MessageSlot::factory());
        let ring = ring.look_at_published_marks();
        self.with_receivers(ring, receivers)
    }

    /// Makes a channel with a sender that can be cloned and `receivers` receivers.
    ///
    /// Each receiver gets every value, and all receivers get the values in the same order.
    ///
    /// ```
    /// use lapwing::channel::Builder;
    ///
    /// let (mut first, mut receivers) = Builder::new(8).multi_broadcast(2)?;
    /// let mut second = first.clone();
    /// first.send(1)?;
    /// second.send(2)?;
    /// assert!(receivers.iter_mut().all(|receiver| receiver.try_iter().eq([1, 2])));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - [`BuildError::Capacity`] if the capacity is 0 or above [`MAX_CAPACITY`].
    /// - [`BuildError::OutOfMemory`] if the allocator refuses the memory.
    /// - [`BuildError::ObservableName`] or [`BuildError::ObservableFile`] if the channel is to be
    ///   [`observable`](Self::observable) and its file cannot be made.
    /// - [`BuildError::NoConsumers`] if `receivers` is 0.
    /// - [`BuildError::Receivers`] if `receivers` is above [`MAX_RECEIVERS`].
    ///
    /// # Panics
    ///
    /// If the `clone` of a wait strategy panics.
    #[allow(clippy::type_complexity)] // a pair of ends, as for every channel
    pub fn multi_broadcast<T: Send + Sync>(
        self,
        receivers: usize,
    ) -> Result<(MultiSender<T>, Vec<BroadcastReceiver<T>>), BuildError> {
        let ring = RingBuilder::<_, Multi>::new(slots(self.capacity), MessageSlot::factory());
        self.with_receivers(ring, receivers)
    }

    /// Applies the settings of the channel to `ring`.
    fn set<'env, E: Send + 'env, Q: Sequencer>(
        self,
        ring: RingBuilder<'env, E, Q>,
    ) -> RingBuilder<'env, E, Q> {
        let ring = ring.wait_strategy(self.receiver_wait).producer_wait_strategy(self.sender_wait);
        match self.observable {
            Some(name) => ring.observable(name),
            None => ring,
        }
    }

    fn with_one_receiver<'env, T: Send + 'env, Q: Sequencer>(
        self,
        ring: RingBuilder<'env, MessageSlot<T>, Q>,
    ) -> Result<(Sender<T, Q>, Receiver<T>), BuildError> {
        let (producer, mut consumers) = self.set(ring).stage(RECEIVER).poller_mut().build()?;
        let poller = consumers.take_poller_mut(RECEIVER).expect("the stage was added above");
        let receiver = Receiver::new(poller, producer.capacity());
        Ok((Sender::new(producer, Keeping::Moved), receiver))
    }

    #[allow(clippy::type_complexity)] // a pair of ends, as for every channel
    fn with_receivers<'env, T: Send + Sync + 'env, Q: Sequencer>(
        self,
        ring: RingBuilder<'env, MessageSlot<T>, Q>,
        receivers: usize,
    ) -> Result<(Sender<T, Q>, Vec<BroadcastReceiver<T>>), BuildError> {
        if receivers > MAX_RECEIVERS {
            return Err(BuildError::Receivers { requested: receivers });
        }
        let mut graph = Graph::new();
        let names: Vec<String> = (0..receivers).map(|index| index.to_string()).collect();
        for name in &names {
            graph.stage(name.as_str()).poller();
        }
        let (producer, mut consumers) = self.set(ring).graph(graph).build()?;
        let capacity = producer.capacity();
        let pollers = names
            .iter()
            .map(|name| consumers.take_poller(name).expect("each name was added above, once"));
        let receivers = pollers.map(|poller| BroadcastReceiver::new(poller, capacity)).collect();
        Ok((Sender::new(producer, Keeping::Kept), receivers))
    }
}

impl<R, S> fmt::Debug for Builder<R, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("capacity", &self.capacity).finish_non_exhaustive()
    }
}

/// Number of slots for `capacity` values. A capacity that no ring can have is returned as it is, so
/// that the ring refuses it.
fn slots(capacity: usize) -> usize {
    match capacity {
        1..=MAX_CAPACITY => capacity.next_power_of_two(),
        impossible => impossible,
    }
}
