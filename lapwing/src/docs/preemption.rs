//! What happens when a thread loses its CPU at a critical moment, and how the API shortens that
//! moment. Also what to do if more threads are runnable than there are CPUs.
//!
//! A claim and a publication are a few instructions and take no [lock](crate::docs::locks), unless
//! the publication wakes others. But
//! consumers see an event only once it is published, and events are ordered. Between the claim and
//! the publication there is a window in which one stopped thread holds up other threads:
//!
//! ```text
//! claim            write             publish
//!   |----------------|------------------|        a thread that loses its CPU here keeps its claim
//!        the window: as long as the code in it takes
//! ```
//!
//! A system without a real-time scheduler takes a CPU away for a time slice of some milliseconds.
//! The pause can be arbitrarily long if a virtual machine is overbooked, a container has used up
//! its quota, or a page has to be read from disk.
//!
//! # What waits for a stopped thread
//!
//! | stopped thread | consumers | other producers |
//! |---|---|---|
//! | the single producer, in the window | receive all published events, then nothing new, as if it had stopped before the claim | there are none |
//! | one of several producers, in the window | stop before its sequence, and do not see what others publish after it | continue until the ring is full, then wait |
//! | a producer in a batch, or a `claim_up_to` | as above, for the whole batch: no event of it is visible before the whole batch is published | as above, and the ring is full earlier, by the size of the batch |
//! | a producer between the publication and its wake-ups | threads that are awake see the event; parked threads stay parked until it runs again or another producer publishes | no difference |
//! | a producer before its claim, or on a full ring | no difference | no difference |
//! | a consumer within a batch | downstream stages stop before the batch; parallel stages continue | continue until the ring is full |
//! | a consumer that shares its thread | as above; the other stages on the thread stop as well | as above |
//! | a worker of a group | the other workers take the other events; stages after the group stop before the worker's event | continue until the ring is full |
//! | a worker that is about to claim events, or a consumer that is taking a dynamic stage | no difference | may find the ring full although slots are free: such a thread first stores a sequence that holds producers back, and it may be stopped while that sequence is out of date. `try_` calls return `Full`, and [`WhenFull::DropNew`](crate::producer::WhenFull::DropNew) drops |
//! | a thread in a close or a halt | may get no further event, and parked ones stay parked, until it runs again | do not wait: a producer that finds the close in progress fixes the end of the ring itself, and its call says whether the event counts |
//! | a producer that has the [turn](crate::producer#several-producers-on-a-full-ring), or a thread that is about to pass it on | no difference | those that wait on a full ring continue after 2 ms at most, when the turn ends by the clock; `try_` calls take no turns |
//! | a thread that registers a task to be woken, or takes the wakers of tasks | those that wake threads or tasks at the same place wait for it: it holds the [lock of the wakers](crate::docs::locks) for a few instructions | the same |
//! | a thread that was woken and has no CPU yet | as for a consumer that is at the start of its batch | the next wake-ups cost nothing: the thread that woke it has cleared the mark |
//!
//! In none of these cases is an event lost or delivered twice. All threads continue when the
//! stopped thread does.
//!
//! # A claim that is held
//!
//! The claim counter is lock-free: some producer always makes progress, wherever a thread stops.
//! The following steps are not, in a ring that keeps one order: no consumer may pass an event that
//! may still be published. A [`Monitor`](crate::monitor::Monitor) tells this case from an idle ring
//! and names the cause:
//!
//! ```
//! use lapwing::{Disruptor, error::TryPublishError, monitor::Part};
//!
//! let (mut slow, mut consumers) =
//!     Disruptor::multi_producer(4, || 0_u64).stage("book").poller().build()?;
//! let mut book = consumers.take_poller("book")?;
//! let (mut quick, monitor) = (slow.clone(), slow.monitor());
//! quick.publish(|event| *event = 1)?;
//! let mut claim = slow.claim()?; // suppose that this thread loses its CPU here
//! quick.publish_batch(2, |events| events.iter_mut().for_each(|event| *event = 3))?;
//! assert_eq!(book.poll()?.as_slice(), [1]); // consumers stop at the gap
//! book.poll()?.consume_all();
//! quick.publish(|event| *event = 5)?;
//! assert_eq!(quick.try_publish(|_| {}), Err(TryPublishError::Full)); // one lap after the claim
//! let _ = monitor.snapshot();
//! let stall = monitor.stall().unwrap(); // nothing has moved since the snapshot
//! assert_eq!((stall.culprit, stall.sequence), (Part::Claim, 1));
//! *claim = 2;
//! claim.publish()?; // the thread runs again
//! assert_eq!(book.poll()?.iter().map(|(_, event)| *event).collect::<Vec<_>>(), [2, 3, 3]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! With a single producer there is no gap. Its claim counter is private, and consumers see only
//! what it has published.
//!
//! ```
//! use lapwing::Disruptor;
//!
//! let (mut producer, mut consumers) =
//!     Disruptor::single_producer(4, || 0_u64).stage("book").poller().build()?;
//! let mut book = consumers.take_poller("book")?;
//! let monitor = producer.monitor();
//! let claim = producer.claim()?; // suppose that this thread loses its CPU here
//! let _ = monitor.snapshot();
//! assert!(monitor.stall().is_none()); // nothing is held up: there is no new event
//! assert!(book.poll().is_err());
//! drop(claim);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How the API shortens the window
//!
//! A call that waits for a free slot has no claim yet; it claims at the moment when a slot becomes
//! free. A thread that waits for a free slot therefore holds up no other thread, however long it
//! waits. A panic in the window gives the claim up.
//!
//! The closure of [`publish`](crate::Producer::publish) runs within the window. Do slow work before
//! the call, such as parsing, formatting, allocating, locking, or reading a clock or a file. Let
//! the closure only move the result:
//!
//! ```
//! use lapwing::Disruptor;
//!
//! #[derive(Default)]
//! struct Order { id: u64, text: String }
//!
//! let (mut producer, mut consumers) =
//!     Disruptor::multi_producer(8, Order::default).stage("book").poller().build()?;
//! let mut book = consumers.take_poller("book")?;
//! let line = "42";
//! let (id, text) = (line.parse()?, line.to_owned()); // before the call
//! producer.publish(|order| (order.id, order.text) = (id, text))?;
//! let ids: Vec<_> = book.poll()?.iter().map(|(_, order)| order.id).collect();
//! assert_eq!(ids, [42]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Assigning a new event drops the old one within the window, with everything that it owns.
//! Instead, swap the two and drop the old event afterwards, or reuse what the event already owns:
//!
//! ```
//! use std::mem;
//! use lapwing::Disruptor;
//!
//! let (mut producer, mut consumers) =
//!     Disruptor::multi_producer(8, String::new).stage("book").poller().build()?;
//! let mut book = consumers.take_poller("book")?;
//! let mut text = "42".to_owned();
//! producer.publish(|event| mem::swap(event, &mut text))?;
//! drop(text); // the event of the last lap
//! assert_eq!(book.poll()?.as_slice(), ["42"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [channel](crate::channel) works this way by construction: a value is complete when it is
//! passed to `send`, which moves it into the slot. No iterator and no `drop` of a value runs while
//! a claim is held. For the same reason `send_batch` takes a vector.
//!
//! ```
//! use lapwing::channel;
//!
//! let (mut sender, mut receiver) = channel::mpsc(8)?;
//! sender.send(format!("line {}", 7))?; // formatted here, before the claim
//! assert_eq!(receiver.recv()?, "line 7");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A claim that the caller holds ([`claim`](crate::Producer::claim),
//! [`claim_batch`](crate::Producer::claim_batch), [`claim_up_to`](crate::Producer::claim_up_to))
//! keeps the window open until it is published or dropped. If there are several producers, do not
//! hold a claim across a call that may block.
//!
//! # On oversubscribed machines
//!
//! - Use fewer threads: [`Placement::automatic`](crate::graph::Placement::automatic) gives the
//!   stages as many threads as there are CPUs for them.
//! - The [default strategy](crate::wait::Adaptive) detects oversubscription and then stops
//!   spinning, because a spinning thread takes the CPU from the thread that it waits for. Even a
//!   stage that keeps up with its producers, and so never waits, then yields its CPU to the other
//!   stages. A custom strategy can ask
//!   [`Waiting::is_oversubscribed`](crate::wait::Waiting::is_oversubscribed) and
//!   [`Pacing::is_oversubscribed`](crate::wait::Pacing::is_oversubscribed).
//! - With several producers, make claims smaller. Make the batches of consumers smaller
//!   ([`max_batch`](crate::Stage::max_batch)). A stopped thread then holds up less.
//! - Use a larger ring: other threads can then continue for longer before they are held up.
//! - Use one ring per producer where the order of different sources does not matter: a gap then
//!   holds up no other producer.
//! - Use [`publish_or`](crate::Producer::publish_or) with a time limit, or the `try_` calls, if a
//!   producer thread has other work to do on a full ring.
//! - Run a [`Monitor`](crate::monitor::Monitor) on a thread of its own. It shows how long a claim
//!   has been held: [`claim_held_for`](crate::monitor::Snapshot::claim_held_for).
//! - If you control the system, use threads with real-time priority (`SCHED_FIFO`), reserved CPUs
//!   (`isolcpus`, `cpuset`) and [pinning](crate::Stage::pin). Combine real-time priority with
//!   strategies that park: a spinning thread of that priority lets no other thread run on its CPU.
//!
//! # What no library can do
//!
//! Without `membarrier`, a library cannot order the stores of a thread on another CPU. If a
//! system-call filter refuses `membarrier` after a ring with one producer was built, a close or a
//! halt sleeps for 20 ms instead. In that time a CPU empties its store buffer by itself, and the
//! interrupts of the system clock empty it for certain. A CPU of `nohz_full` that runs one thread
//! gets no such interrupt, so only its hardware is left, and no manual says how long it takes. So
//! install such a filter before you build rings: they then run full fences and need no sleep.
//!
//! No library can take a claim back from a stopped thread: the thread may write to the slot at the
//! next moment, and a reader would see half an event. So a claim has no timeout, and a
//! [forgotten](crate::producer::Claim) claim is held for ever. A library in user space cannot keep
//! its thread on a CPU, nor see that another thread has none; it only sees that nothing moves. If
//! the window is not acceptable at all, use one ring per producer, or a structure without a single
//! order of events.
