//! What happens to everyone when a thread loses its CPU at a bad moment, what the API keeps out of that
//! moment, and what to do where there are more threads than CPUs.
//!
//! No call of a producer takes a lock, and a claim is a few instructions. But an event counts only once it is
//! published, and events have an order. So there is a window, from the claim to the publication, in which one
//! thread that does not run holds up others:
//!
//! ```text
//! claim            write             publish
//!   |----------------|------------------|        whoever loses its CPU in between keeps the sequence
//!        the window: as short as what is done in it
//! ```
//!
//! A system without a real-time scheduler takes a CPU away for a time slice, some milliseconds; and for
//! as long as it likes where a machine is overbooked, a container has used its quota, or a page has to
//! come from disk.
//!
//! # Who loses its CPU, and who then waits
//!
//! | thread, moment | consumers | other producers |
//! |---|---|---|
//! | single producer, in the window | have all that is published, and then nothing new: as if it had stopped before the claim | there are none |
//! | one of several, in the window | stop before its sequence, and what others publish after it stays unseen | go on until the ring is full; then all wait |
//! | a producer in a batch, or a `claim_up_to` | as above, for all of the batch: none of it is seen before all of it is | as above, and the ring is full sooner, by the size of the batch |
//! | a producer between the publication and its wake-ups | those who are awake see the event; those who sleep, sleep on until it runs again or another one publishes | no difference |
//! | a producer before its claim, or on a full ring | no difference | no difference |
//! | a consumer within a batch | stages after it stop before the batch; stages beside it go on | go on until the ring is full |
//! | a consumer that shares its thread | as above; the stages beside it on the thread stand still as well | as above |
//! | a worker of a group | the others take the other events; stages after the group stop before the worker's | go on until the ring is full |
//! | a waiter that was woken and has no CPU yet | as a consumer within a batch, that has none yet | the next wake-ups cost nothing: whoever woke it took the mark away |
//!
//! Nothing is lost and nothing comes twice in any of these cases. All go on when the thread does.
//!
//! # A claim that is held
//!
//! The claim counter is lock-free: somebody always gets on, wherever a thread stands still. What follows it
//! is not, for a ring that keeps one order: nobody may pass an event that may yet be published. A
//! [`Monitor`](crate::monitor::Monitor) knows the difference between that and an idle ring, and says whose fault it is:
//!
//! ```
//! use lapwing::{Disruptor, error::{PollError, TryPublishError}, monitor::Culprit};
//!
//! let (mut slow, mut consumers) =
//!     Disruptor::multi_producer(4, || 0_u64).stage("book").poller().build()?;
//! let mut book = consumers.take_poller("book")?;
//! let mut quick = slow.clone();
//! let monitor = slow.monitor();
//!
//! quick.publish(|event| *event = 1)?;
//! let mut claim = slow.claim()?; // and now its thread loses its CPU
//! quick.publish(|event| *event = 3)?; // the others publish on
//! quick.publish(|event| *event = 4)?;
//!
//! assert_eq!(book.poll()?.as_slice(), [1]); // but consumers stop at the gap
//! book.poll()?.consume_all();
//! assert_eq!(book.poll().err(), Some(PollError::Empty));
//!
//! quick.publish(|event| *event = 5)?;
//! assert_eq!(quick.try_publish(|_| {}), Err(TryPublishError::Full)); // a lap later nobody gets on
//!
//! let _ = monitor.snapshot();
//! let stall = monitor.stall().unwrap(); // nothing has moved since
//! assert_eq!((stall.culprit, stall.sequence), (Culprit::Claim, 1));
//!
//! *claim = 2;
//! claim.publish()?; // it runs again: all comes, in order
//! assert_eq!(book.poll()?.iter().map(|(_, event)| *event).collect::<Vec<_>>(), [2, 3, 4]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! With a single producer there is no gap: its counter is its own, and consumers only see what it has
//! published.
//!
//! ```
//! use lapwing::Disruptor;
//!
//! let (mut producer, mut consumers) =
//!     Disruptor::single_producer(4, || 0_u64).stage("book").poller().build()?;
//! let mut book = consumers.take_poller("book")?;
//! let monitor = producer.monitor();
//! let claim = producer.claim()?; // and now its thread loses its CPU
//! let _ = monitor.snapshot();
//! assert!(monitor.stall().is_none()); // nobody is held up: there is nothing new
//! assert!(book.poll().is_err());
//! # drop(claim);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What the API keeps out of the window
//!
//! A call that waits for a free slot has no claim yet: it claims in the moment in which there is one. A thread
//! that waits for room, for however long, holds up nobody. A panic in the window gives the claim up.
//!
//! The closure of [`publish`](crate::Producer::publish) runs within the window. So what takes long is done
//! before it, and the closure only moves:
//!
//! ```
//! # use lapwing::Disruptor;
//! # #[derive(Default)] struct Order { id: u64, text: String }
//! # fn parse(line: &str) -> Option<u64> { line.parse().ok() }
//! # let (mut producer, mut consumers) =
//! #     Disruptor::multi_producer(8, Order::default).stage("book").poller().build()?;
//! # let mut book = consumers.take_poller("book")?;
//! let line = "42";
//! // Not within the closure: parsing, formatting, allocating, locking, reading a clock or a file.
//! let id = parse(line).ok_or("no number")?;
//! let text = line.to_owned();
//! producer.publish(|order| (order.id, order.text) = (id, text))?;
//! # let mut events = book.poll()?;
//! # assert_eq!(events.iter().map(|(_, order)| (order.id, &*order.text)).next(), Some((42, "42")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Moving over an event drops the old one within the window, and with it whatever it owned. Swap instead, and
//! drop what comes out afterwards; or write into what the event has already, which is what the slots are
//! for:
//!
//! ```
//! # use std::mem;
//! # use lapwing::Disruptor;
//! # let (mut producer, mut consumers) =
//! #     Disruptor::multi_producer(8, String::new).stage("book").poller().build()?;
//! # let mut book = consumers.take_poller("book")?;
//! let mut text = "42".to_owned();
//! producer.publish(|event| mem::swap(event, &mut text))?;
//! drop(text); // that of a lap ago
//! # assert_eq!(book.poll()?.as_slice(), ["42"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [channel](crate::channel) does so by construction: a value is complete when it is handed to `send`, which moves it
//! into the slot. No iterator and no drop of a value runs while a claim is held; hence also `send_batch` takes
//! a vector.
//!
//! ```
//! use lapwing::channel;
//!
//! let (mut sender, mut receiver) = channel::mpsc(8)?;
//! sender.send(format!("line {}", 7))?; // made here, before the claim
//! assert_eq!(receiver.recv()?, "line 7");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A claim in the caller's hand ([`claim`](crate::Producer::claim), [`claim_batch`](crate::Producer::claim_batch),
//! [`claim_up_to`](crate::Producer::claim_up_to)) is a window as long as it is kept. Of several producers, none
//! should keep one over a call that may block.
//!
//! # On oversubscribed machines
//!
//! - Fewer threads: [`Placement::automatic`](crate::graph::Placement::automatic) gives the stages as many as there are CPUs
//!   for them. A thread that does not exist cannot lose its CPU.
//! - The [default strategy](crate::wait::Adaptive) finds out when threads outnumber CPUs, and spins no more: a
//!   spinning waiter takes the CPU from the very thread that it waits for. A stage that keeps up with its producers, and so
//!   never waits, gives its CPU to the stages after it and beside it all the same. A strategy of your own learns both:
//!   [`Pacing::is_oversubscribed`](crate::wait::Pacing::is_oversubscribed).
//! - Smaller claims of several producers, and smaller batches of consumers
//!   ([`max_batch`](crate::Stage::max_batch)): less is held by whoever stands still.
//! - A larger ring: others go on for longer before they are held up too.
//! - One producer for each ring, where the order of different sources does not matter: no gap holds up
//!   anybody else.
//! - [`offer`](crate::Producer::offer), `try_` and `_timeout`: a full ring need not stop who has other things to do.
//! - A [`Monitor`](crate::monitor::Monitor) that is asked from a thread of its own says how long a claim has been held:
//!   [`claim_held_for`](crate::monitor::Snapshot::claim_held_for).
//! - Threads with a real-time priority (`SCHED_FIFO`), CPUs set aside (`isolcpus`, `cpuset`) and
//!   [pinning](crate::Stage::pin), where the system is yours. With strategies that park: a spinning thread of that
//!   priority never lets another one run on its CPU.
//!
//! # What no library can do
//!
//! Take a claim back from a thread that stands still: it may write the slot in the next moment, and who reads it
//! meanwhile reads half an event. So a claim has no timeout, and one that is
//! [forgotten](crate::producer::Claim) holds for ever. Nor can a library of user space keep its thread on a CPU, or see that another
//! thread has none; all that it sees is that nothing moves. Whoever cannot bear the window at all needs a
//! ring for each producer, or a structure without one order of events.
