//! Streams and sinks over the ends of [Lapwing](lapwing) channels and rings.
//!
//! The ends of Lapwing have calls for tasks, such as [`recv_async`](lapwing::channel::Receiver::recv_async).
//! This crate is for code that asks for a [`Stream`](futures_core::Stream) or a
//! [`Sink`](futures_sink::Sink): the adapters of the crate `futures`, a web framework, or a codec.
//!
//! | type | trait | over | item or error |
//! |---|---|---|---|
//! | [`ReceiverStream`] | `Stream` | the receiver of [`spsc`] or [`mpsc`] | each value, moved |
//! | [`BroadcastStream`] | `Stream` | a receiver of [`broadcast`] or [`multi_broadcast`] | each value, cloned |
//! | [`PollerStream`] | `Stream` | a [`Poller`](lapwing::Poller) of a ring | each event, cloned, or the cause of a halt |
//! | [`SenderSink`] | `Sink` | either kind of [`Sender`](lapwing::channel::Sender) | [`SendError`](lapwing::channel::SendError) with the value |
//!
//! Here a thread sends numbers, and a task doubles them and passes them on to another thread:
//!
//! ```
//! use std::thread;
//! use futures::StreamExt;
//! use lapwing::channel;
//! use lapwing_stream::{ReceiverStream, SenderSink};
//!
//! let (mut numbers, receiver) = channel::spsc(8)?;
//! let (sender, doubled) = channel::spsc(8)?;
//! let first = thread::spawn(move || (1..=100).try_for_each(|number| numbers.send(number)));
//! let last = thread::spawn(move || doubled.into_iter().sum::<u64>());
//!
//! let numbers = ReceiverStream::new(receiver).map(|number| Ok(2 * number));
//! pollster::block_on(numbers.forward(SenderSink::new(sender)))?; // closes the sink at the end
//!
//! first.join().unwrap()?;
//! assert_eq!(last.join().unwrap(), 10_100);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! No type of this crate allocates or starts a thread, and none needs a runtime. Each of them polls its end by
//! [`poll_recv`](lapwing::channel::Receiver::poll_recv), [`poll_wait`](lapwing::Poller::poll_wait) or
//! [`poll_send`](lapwing::channel::Sender::poll_send), so what those say about wakers and about the budget of a
//! task holds here. The other end may be a thread.
//!
//! # Dropped futures
//!
//! A future that borrows a stream, such as that of `StreamExt::next`, loses nothing if it is dropped: a value
//! leaves the channel in the poll that returns it. An adapter that keeps values, such as `buffered`, drops
//! those with itself.
//!
//! [`spsc`]: lapwing::channel::spsc
//! [`mpsc`]: lapwing::channel::mpsc
//! [`broadcast`]: lapwing::channel::broadcast
//! [`multi_broadcast`]: lapwing::channel::multi_broadcast
#![forbid(unsafe_code)]

mod broadcast;
mod poller;
mod receiver;
mod sender;

pub use broadcast::BroadcastStream;
pub use poller::PollerStream;
pub use receiver::ReceiverStream;
pub use sender::SenderSink;

/// The examples of the README run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
