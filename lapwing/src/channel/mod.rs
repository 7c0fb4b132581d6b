//! Bounded channels: a ring for those who want to hand values from thread to thread and nothing
//! else. Not here: how it works (everywhere else); stages that share events in place, in an order
//! ([`Disruptor`](crate::Disruptor)).
//!
//! | | senders | receivers | a value goes to |
//! |---|---|---|---|
//! | [`spsc`] | one | one | the receiver, moved |
//! | [`mpsc`] | one, and its clones | one | the receiver, moved |
//! | [`broadcast`] | one | any number, fixed | each receiver, cloned or lent |
//! | [`multi_broadcast`] | one, and its clones | any number, fixed | each receiver, cloned or lent |
//!
//! ```
//! use std::thread;
//! use lapwing::channel;
//!
//! let (mut sender, receiver) = channel::spsc(1024)?;
//! let thread = thread::spawn(move || (1..=100).try_for_each(|number| sender.send(number)));
//! let sum: u64 = receiver.into_iter().sum(); // ends when the sender is gone
//! thread.join().unwrap()?;
//! assert_eq!(sum, 5050);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The calls and the errors are those of `std::sync::mpsc`, but that they take `&mut self`: an end
//! belongs to one thread at a time, which is what makes it fast.
//!
//! # What is promised
//!
//! - Values arrive once, and in the order in which each sender sent them.
//! - When no sender is left, receivers get what was sent, and then an error. When no receiver is
//!   left, senders get their values back, and those that wait are woken.
//! - A value has one owner. It comes back with the error, or it is received, or it is dropped when
//!   the last receiver goes; of a broadcast, which cannot take values back, when its slot is used
//!   again or the channel is gone.
//! - `Ok` from a sender means that the value was accepted, not that it will be received: the
//!   receiver may go before.
//! - Neither sending nor receiving allocates.
//!
//! # Large values
//!
//! Sending and receiving move the value, so the stack of the thread needs room for it. A debug build
//! needs room for several copies: a value of 512 KiB overflows a stack of 2 MiB there. Send a `Box` of
//! such a value, or use a [`Disruptor`](crate::Disruptor), whose events are written in place.
//!
//! # Capacity
//!
//! A capacity is rounded up to the next power of two, which a ring has of slots; `capacity` says
//! how many there are. Who asks for a channel means "about as many", so that an error would help
//! nobody, unlike in a [`Disruptor`](crate::Disruptor), whose slots are filled by a factory. A
//! capacity above [`MAX_CAPACITY`](crate::MAX_CAPACITY) is an error, and so is 0: a ring has no
//! rendezvous.
//!
//! # Waiting
//!
//! Both sides wait by [`Adaptive`](crate::wait::Adaptive); [`Builder`] takes any other strategy
//! for either. Nothing waits for several channels: whoever reads several asks each by a `try_` call, and a channel's
//! strategy is then never asked. To serve several rings on one thread there is
//! [`Consumer::run_together`](crate::consumer::Consumer::run_together).
//!
//! # Latency
//!
//! Where there is one sender, a value lies beside the word that says that it is there, on one cache line if both fit.
//! A receiver that waits for a lone value takes that line from the sender and no other, where a ring's consumer takes a
//! cursor's line and then the event's. In a ring events lie side by side instead, which is what makes a batch a slice.

mod broadcast;
mod builder;
mod error;
mod inbox;
mod iter;
mod letter;
mod receiver;
mod send_batch;
mod sender;
mod values;

pub use broadcast::BroadcastReceiver;
pub use builder::Builder;
pub use error::{
    RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError,
};
pub use iter::{IntoIter, Iter, TryIter};
pub use receiver::Receiver;
pub use sender::{MultiSender, Sender, SingleSender};
pub use values::{SharedValues, Values};

use crate::error::BuildError;

/// A channel of at least `capacity` values, with one sender and one receiver.
///
/// ```
/// use lapwing::channel;
///
/// let (mut sender, mut receiver) = channel::spsc(1000)?;
/// assert_eq!((sender.capacity(), receiver.capacity()), (1024, 1024));
/// sender.send("tick")?;
/// assert_eq!(receiver.recv(), Ok("tick"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// As [`Builder::spsc`].
pub fn spsc<T: Send>(capacity: usize) -> Result<(SingleSender<T>, Receiver<T>), BuildError> {
    Builder::new(capacity).spsc()
}

/// A channel of at least `capacity` values, with a sender that can be cloned and one receiver.
///
/// ```
/// use std::thread;
/// use lapwing::channel;
///
/// let (sender, receiver) = channel::mpsc(8)?;
/// for number in [1, 2, 3] {
///     let mut sender = sender.clone();
///     thread::spawn(move || sender.send(number));
/// }
/// drop(sender); // the clones go with their threads
/// let mut numbers: Vec<u64> = receiver.into_iter().collect();
/// numbers.sort(); // the threads race
/// assert_eq!(numbers, [1, 2, 3]);
/// # Ok::<(), lapwing::error::BuildError>(())
/// ```
///
/// # Errors
///
/// As [`Builder::spsc`].
pub fn mpsc<T: Send>(capacity: usize) -> Result<(MultiSender<T>, Receiver<T>), BuildError> {
    Builder::new(capacity).mpsc()
}

/// A channel of at least `capacity` values, with one sender and `receivers` receivers that each see
/// every value. The sender waits for the slowest of them: none ever misses a value.
///
/// ```
/// use lapwing::channel;
///
/// let (mut sender, mut receivers) = channel::broadcast(8, 2)?;
/// sender.send(String::from("tick"))?;
/// assert_eq!(receivers[0].recv().as_deref(), Ok("tick")); // a clone
/// assert_eq!(receivers[1].recv_with(|line| line.len()), Ok(4)); // the same string, lent
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Receivers look at a value at the same time, so it is one that threads may share:
///
/// ```compile_fail,E0277
/// let _ = lapwing::channel::broadcast::<std::cell::Cell<u8>>(8, 2);
/// ```
///
/// ```
/// let _ = lapwing::channel::spsc::<std::cell::Cell<u8>>(8);
/// ```
///
/// # Errors
///
/// As [`Builder::broadcast`].
#[allow(clippy::type_complexity)] // a pair, as every channel is
pub fn broadcast<T: Send + Sync>(
    capacity: usize,
    receivers: usize,
) -> Result<(SingleSender<T>, Vec<BroadcastReceiver<T>>), BuildError> {
    Builder::new(capacity).broadcast(receivers)
}

/// As [`broadcast`], with a sender that can be cloned. All receivers see the values in one order.
///
/// ```
/// use lapwing::channel;
///
/// let (mut first, mut receivers) = channel::multi_broadcast(8, 2)?;
/// let mut second = first.clone();
/// first.send(1)?;
/// second.send(2)?;
/// for receiver in &mut receivers {
///     assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Ok(2)));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// As [`Builder::broadcast`].
#[allow(clippy::type_complexity)] // a pair, as every channel is
pub fn multi_broadcast<T: Send + Sync>(
    capacity: usize,
    receivers: usize,
) -> Result<(MultiSender<T>, Vec<BroadcastReceiver<T>>), BuildError> {
    Builder::new(capacity).multi_broadcast(receivers)
}
