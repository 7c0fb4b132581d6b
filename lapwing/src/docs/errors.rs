//! The state of an event after a publishing call, for each result of each call.
//!
//! # Two rules
//!
//! - **An error means that the event was not published.** No consumer has handled it, and none ever
//!   will. The call holds no slot. A call that took a value hands it back with the error.
//! - **`Ok` means that the event was published.** If the ring is closed, before or after, every
//!   stage still gets the event. If the ring is halted, stages stop after their batch and may not
//!   get it.
//!
//! A consumer that leaves after its last event does not change the result of the call that
//! published this event. The next call returns `Halted`, if that consumer was the last one.
//!
//! # Each error
//!
//! The variants have the same meaning in [`PublishError`](crate::error::PublishError),
//! [`TryPublishError`](crate::error::TryPublishError),
//! [`WhenFullError`](crate::error::WhenFullError), [`BatchError`](crate::error::BatchError) and
//! [`RingError`](crate::error::RingError). In each case the event is not published. A batch is
//! published as a whole or not at all.
//!
//! | error | calls that return it | cause | has the closure run? | a later call |
//! |---|---|---|---|---|
//! | `Full` | `try_` calls; calls with [`WhenFull::Refuse`](crate::producer::WhenFull::Refuse) | too few slots are free | no | can succeed |
//! | `TimedOut` | calls with [`WhenFull::Timeout`](crate::producer::WhenFull::Timeout) | too few slots became free in time | no | can succeed |
//! | `WouldDeadlock` | calls that wait, as a thread or as a task | too few slots are free, and only this thread could free one | no | can succeed after this thread has gone on |
//! | `Zero` | batch calls | the batch has no events | no | fails in the same way |
//! | `TooLarge` | batch calls | the batch is larger than the ring | no | fails in the same way |
//! | `Closed` | all | the ring was closed before the event was published | only if the ring has one producer and was closed while the closure ran | returns `Closed`, or `Halted` after a halt |
//! | `Halted` | all | the ring was halted before the event was published, for the [`HaltCause`](crate::error::HaltCause) in the error | only if the ring was halted while the closure ran | fails in the same way |
//!
//! `Zero` and `TooLarge` come first, because they depend on the call alone: a batch that no ring of this
//! capacity accepts is refused for its length in a closed or halted ring too.
//!
//! `Ok(None)` from a call that takes a [`WhenFull`](crate::producer::WhenFull) means that the event
//! was dropped, by [`WhenFull::DropNew`](crate::producer::WhenFull::DropNew): it is not published,
//! and the producer [counts](crate::Producer::dropped) it.
//!
//! If the closure panics, the panic passes through and the event is not published.
//!
//! # A claim that is held while the ring ends
//!
//! A claim is held between [`claim`](crate::Producer::claim) and
//! [`Claim::publish`](crate::producer::Claim::publish), or while the closure of
//! [`publish`](crate::Producer::publish) runs. The table shows what the publication then returns:
//!
//! | the ring ends by | one producer | several producers |
//! |---|---|---|
//! | a close, while the claim is held | `Closed` | `Ok`: a ring with several producers accepts each claim that it granted before the close, and its stages wait for the event |
//! | a halt, while the claim is held | `Halted` | `Halted` |
//! | a close at the moment of the publication | `Ok` if the close counted the event, and every stage gets it; else `Closed` | `Ok` |
//! | a halt at the moment of the publication | `Ok` if the halt counted the event; else `Halted` | `Ok` if the publication came before the producer saw the halt; else `Halted` |
//!
//! The last consumer that leaves halts the ring, with the cause
//! [`NoConsumers`](crate::error::HaltCause::NoConsumers). A stage that fails or panics halts it
//! with [`StageFailed`](crate::error::HaltCause::StageFailed): the event at which it failed was
//! published, so its call returns `Ok`.
//!
//! # Channels
//!
//! | error | calls | cause | the value |
//! |---|---|---|---|
//! | [`SendError`](crate::channel::SendError) | `send`, `send_async`, `poll_send` | no receiver is left | in the error; no receiver gets it |
//! | [`TrySendError::Full`](crate::channel::TrySendError::Full) | `try_send` | no slot is free | in the error |
//! | [`TrySendError::Disconnected`](crate::channel::TrySendError::Disconnected) | `try_send` | no receiver is left | in the error; no receiver gets it |
//! | [`SendTimeoutError::Timeout`](crate::channel::SendTimeoutError::Timeout) | `send_timeout`, `send_deadline` | no slot became free in time | in the error |
//! | [`SendTimeoutError::Disconnected`](crate::channel::SendTimeoutError::Disconnected) | `send_timeout`, `send_deadline` | no receiver is left | in the error; no receiver gets it |
//! | the same, without a value | `send_batch`, `send_batch_async`, `try_send_batch` | the same | what was not sent is still in the vector, in order |
//!
//! `Ok` means that the value was sent. If the last receiver is dropped before it has received the
//! value, the value is dropped too.
//!
//! # Example
//!
//! A server answers one request and leaves. The request was published, although the server has
//! left. The next request is not published.
//!
//! ```
//! use std::thread;
//! use lapwing::{Disruptor, error::{HaltCause, PublishError}};
//!
//! let (mut requests, mut consumers) =
//!     Disruptor::single_producer(8, || 0_u64).stage("server").poller().build()?;
//! let mut server = consumers.take_poller("server")?;
//! let thread = thread::spawn(move || server.wait().map(|mut batch| batch.consume_all()));
//!
//! assert_eq!(requests.publish(|request| *request = 7), Ok(0));
//! assert!(thread.join().unwrap().is_ok()); // it has handled the request
//!
//! let refused = PublishError::Halted(HaltCause::NoConsumers);
//! assert_eq!(requests.publish(|request| *request = 8), Err(refused));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The scenarios in `tests/conformance/errors.rs` check these tables for both sequencers and for
//! each wait strategy.
