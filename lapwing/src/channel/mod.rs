//! Bounded channels that move values from thread to thread.
//!
//! A channel is a ring buffer with the interface of a queue. To let several stages share an event
//! in place, or to run stages in an order, use a [`Disruptor`](crate::Disruptor).
//!
//! | function | senders | receivers | a value goes to |
//! |---|---|---|---|
//! | [`spsc`] | one | one | the receiver, moved |
//! | [`mpsc`] | one, and its clones | one | the receiver, moved |
//! | [`broadcast`] | one | 1 to 1,024, fixed | each receiver, cloned or lent |
//! | [`multi_broadcast`] | one, and its clones | 1 to 1,024, fixed | each receiver, cloned or lent |
//!
//! ```
//! use std::thread;
//! use lapwing::channel;
//!
//! let (mut sender, receiver) = channel::spsc(1024)?;
//! let thread = thread::spawn(move || (1..=100).try_for_each(|number| sender.send(number)));
//! let sum: u64 = receiver.into_iter().sum(); // ends once the sender is gone and 100 is received
//! thread.join().unwrap()?;
//! assert_eq!(sum, 5050);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Methods and errors have the names of `std::sync::mpsc`, as far as that has them. Unlike in
//! `std`, sending and receiving take `&mut self`, so each end belongs to one thread at a time. This
//! makes the channel fast.
//!
//! # Guarantees
//!
//! - While a receiver exists, it gets each of its values exactly once. The values of one sender
//!   arrive in the order in which it sent them.
//! - When the last sender is dropped, receivers get the values that were sent, and then an error.
//!   When the last receiver is dropped, senders get their values back with an error, and senders
//!   that wait are woken.
//! - Each value has one owner. It comes back with the error, it is received, or it is dropped with
//!   the receiver. In a broadcast a value that was sent stays in its slot. It is dropped when the
//!   slot is used again, by the thread that sends, or when all ends of the channel are gone.
//! - `Ok` from a sender means that the value was accepted. If the last receiver is dropped too
//!   early, no receiver gets it.
//! - Sending and receiving do not allocate.
//!
//! # Large values
//!
//! Sending and receiving move the value, so the stack of the thread must have room for it. A debug
//! build needs room for several copies: a value of 512 KiB overflows a stack of 2 MiB. Send a `Box`
//! of such a value, or use a [`Disruptor`](crate::Disruptor), whose events are written in place.
//!
//! # Capacity
//!
//! The capacity is rounded up to a power of two, which is the number of slots in the ring. The
//! method `capacity` returns that number. A [`Disruptor`](crate::Disruptor) returns an error
//! instead, since the number of slots is also the number of events that its factory makes.
//!
//! A capacity of 0 is an error, since a ring cannot be a rendezvous channel. So is a capacity above
//! [`MAX_CAPACITY`](crate::MAX_CAPACITY).
//!
//! # Waiting
//!
//! Both sides use [`Adaptive`](crate::wait::Adaptive). A [`Builder`] sets another strategy for
//! either side. A call that waits passes a panic of its strategy on to the caller.
//!
//! A thread that receives from several channels waits for them with
//! [`select`](crate::select::select). To serve several rings on one thread, use
//! [`Consumer::run_together`](crate::consumer::Consumer::run_together).
//!
//! # Tasks
//!
//! The calls that end in `_async` wait as a task: other tasks run on the thread meanwhile, and the
//! other end wakes this one. They need no runtime and work in any, and the other end may be a
//! thread. Wait strategies have no effect on them.
//!
//! `poll_recv` and `poll_send` do the same without a future, for code that is polled itself. The
//! crate `lapwing-stream` makes a `Stream` of a receiver and a `Sink` of a sender.
//!
//! A future that is dropped before it is ready has received nothing, so the next call gets the same
//! values. It has sent nothing either, and a value that it was to send is dropped with it. Only
//! [`send_batch_async`](Sender::send_batch_async) may have sent some of its values, and leaves the
//! others in the vector.
//!
//! After 1,024 values without a wait, a call lets other tasks of the thread run once. A runtime
//! cannot do that, since an `.await` that is ready at once does not return to it.
//!
//! # Latency
//!
//! With one sender, a value lies next to the word that marks it as sent. If the value is small,
//! both are usually on one cache line. A receiver that waits for a single value fetches only this
//! cache line from the sender. A ring's consumer fetches the cache line of a cursor, and then that
//! of the event. The events of a ring lie side by side instead, so that a batch is a slice.

mod error;
mod iter;
mod message_slot;

mod inbox;
mod sender;
mod values;

mod broadcast;
mod receiver;
mod send_batch;

mod awaited;
mod deadlines;
mod lengths;

mod builder;
mod into_iter;

#[cfg(all(test, not(loom)))]
mod tests;

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

/// Makes a channel of at least `capacity` values, with one sender and one receiver.
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
/// - [`BuildError::Capacity`] if `capacity` is 0 or above [`MAX_CAPACITY`](crate::MAX_CAPACITY).
/// - [`BuildError::OutOfMemory`] if the allocator refuses the memory.
pub fn spsc<T: Send>(capacity: usize) -> Result<(SingleSender<T>, Receiver<T>), BuildError> {
    Builder::new(capacity).spsc()
}

/// Makes a channel of at least `capacity` values, with a sender that can be cloned and one
/// receiver.
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
/// - [`BuildError::Capacity`] if `capacity` is 0 or above [`MAX_CAPACITY`](crate::MAX_CAPACITY).
/// - [`BuildError::OutOfMemory`] if the allocator refuses the memory.
pub fn mpsc<T: Send>(capacity: usize) -> Result<(MultiSender<T>, Receiver<T>), BuildError> {
    Builder::new(capacity).mpsc()
}

/// Makes a channel of at least `capacity` values, with one sender and `receivers` receivers.
///
/// Each receiver gets every value. The sender waits for the slowest receiver, so no receiver misses
/// a value.
///
/// ```
/// use lapwing::channel;
///
/// let (mut sender, mut receivers) = channel::broadcast(8, 2)?;
/// sender.send(String::from("tick"))?;
/// assert_eq!(receivers[0].recv().as_deref(), Ok("tick")); // a clone
/// assert_eq!(receivers[1].recv_batch()?.iter().next().unwrap(), "tick"); // the string itself, lent
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Several receivers read a value at the same time, so its type must be `Sync`:
///
/// ```compile_fail,E0277
/// let _ = lapwing::channel::broadcast::<std::cell::Cell<u8>>(8, 2);
/// ```
///
/// A channel with one receiver has no such bound:
///
/// ```
/// assert!(lapwing::channel::spsc::<std::cell::Cell<u8>>(8).is_ok());
/// ```
///
/// # Errors
///
/// - [`BuildError::Capacity`] if `capacity` is 0 or above [`MAX_CAPACITY`](crate::MAX_CAPACITY).
/// - [`BuildError::OutOfMemory`] if the allocator refuses the memory.
/// - [`BuildError::NoConsumers`] if `receivers` is 0.
/// - [`BuildError::Receivers`] if `receivers` is above [`MAX_RECEIVERS`](crate::MAX_RECEIVERS).
#[allow(clippy::type_complexity)] // a pair of ends, as for every channel
pub fn broadcast<T: Send + Sync>(
    capacity: usize,
    receivers: usize,
) -> Result<(SingleSender<T>, Vec<BroadcastReceiver<T>>), BuildError> {
    Builder::new(capacity).broadcast(receivers)
}

/// Makes a channel of at least `capacity` values, with a sender that can be cloned and `receivers`
/// receivers.
///
/// Each receiver gets every value, and all receivers get the values in the same order.
///
/// ```
/// use lapwing::channel;
///
/// let (mut first, mut receivers) = channel::multi_broadcast(8, 2)?;
/// let mut second = first.clone();
/// first.send(1)?;
/// second.send(2)?;
/// for receiver in &mut receivers {
///     assert_eq!(receiver.recv(), Ok(1));
///     assert_eq!(receiver.recv(), Ok(2));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// - [`BuildError::Capacity`] if `capacity` is 0 or above [`MAX_CAPACITY`](crate::MAX_CAPACITY).
/// - [`BuildError::OutOfMemory`] if the allocator refuses the memory.
/// - [`BuildError::NoConsumers`] if `receivers` is 0.
/// - [`BuildError::Receivers`] if `receivers` is above [`MAX_RECEIVERS`](crate::MAX_RECEIVERS).
#[allow(clippy::type_complexity)] // a pair of ends, as for every channel
pub fn multi_broadcast<T: Send + Sync>(
    capacity: usize,
    receivers: usize,
) -> Result<(MultiSender<T>, Vec<BroadcastReceiver<T>>), BuildError> {
    Builder::new(capacity).multi_broadcast(receivers)
}
