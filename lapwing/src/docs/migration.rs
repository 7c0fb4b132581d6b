//! Coming from somewhere else: the LMAX Disruptor in Java, the crate `disruptor`, or a channel. What is
//! on the left there stands on the right here; the Rust on this page compiles and runs.
//!
//! # From LMAX's Disruptor (Java)
//!
//! ```java
//! Disruptor<Trade> disruptor = new Disruptor<>(
//!     Trade::new, 1024, threadFactory, ProducerType.SINGLE, new BlockingWaitStrategy());
//! disruptor.handleEventsWith(journal, replicator).then(logic);
//! disruptor.setDefaultExceptionHandler(new IgnoreExceptionHandler());
//! RingBuffer<Trade> ring = disruptor.start();
//! ring.publishEvent((trade, sequence, price) -> trade.price = price, 42L);
//! disruptor.shutdown(10, TimeUnit.SECONDS);
//! ```
//!
//! ```
//! use std::time::Duration;
//! use lapwing::{Action, Disruptor, wait::Blocking};
//!
//! #[derive(Default)]
//! struct Trade { price: u64 }
//!
//! let (mut ring, consumers) = Disruptor::single_producer(1024, Trade::default)
//!     .wait(Blocking::default())
//!     .side_by_side(|side| side
//!         .stage("journal").read(|_trade, _sequence, _end_of_batch| {})
//!         .stage("replicator").read(|_, _, _| {}))
//!     .stage("logic")
//!     .on_error(Action::Skip)
//!     .on_panic(Action::Skip)
//!     .write(|trade, _, _| { trade.price += 1; Ok::<(), std::io::Error>(()) })
//!     .build()?; // starts nothing
//! let mut running = consumers.start()?;
//! let price = 42;
//! ring.publish(|trade| trade.price = price)?;
//! running.shutdown_timeout(Duration::from_secs(10))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | there | here | what is different |
//! |---|---|---|
//! | `Sequence`, first value 0, a consumer's is the last one done, initially -1 | [`Sequence`](crate::Sequence), first value 0, a consumer's is the number done | no -1: add one to a consumer's sequence |
//! | `ringBuffer.next()`, `get`, `publish` in a `finally` | [`claim`](crate::Producer::claim), write through it, [`publish`](crate::producer::Claim::publish) | dropping a claim gives it up: nothing half written is ever seen, and nobody waits for it |
//! | `publishEvent(translator, a, b)` and 29 more | [`publish`](crate::Producer::publish) with a closure that captures `a` and `b` | a translator that throws publishes the slot there; a closure that panics does not |
//! | `next(n)`, `publish(lo, hi)` | [`claim_batch`](crate::Producer::claim_batch), [`publish_batch`](crate::Producer::publish_batch) | slices instead of sequences |
//! | `tryNext` throws `InsufficientCapacityException` | [`try_claim`](crate::Producer::try_claim), [`try_publish`](crate::Producer::try_publish) return `Err(Full)` | |
//! | `ProducerType.SINGLE`, unchecked | [`single_producer`](crate::Disruptor::single_producer): the producer has no `Clone` | two threads that publish do not compile |
//! | `handleEventsWith(a, b).then(c)` | [`side_by_side`](crate::Builder::side_by_side), [`stage`](crate::Builder::stage) | stages have names; what one does is said by a [verb](crate::Stage); only a stage that runs alone gets `&mut E` |
//! | `after(a).handleEventsWith(b)` | [`Graph`](crate::graph::Graph), [`Stage::after`](crate::Stage::after), [`Side::chain`](crate::graph::Side::chain) | checked when built |
//! | `EventHandler` | a closure, or [`EventHandler`](crate::EventHandler) | the same calls; a handler comes back at the end |
//! | exception, `ExceptionHandler` | `Result` or [`Action`](crate::Action), [`Stage::on_error`](crate::Stage::on_error), [`on_panic`](crate::Stage::on_panic) | the default halts the ring, where there the thread died and producers hung |
//! | `RewindableException`, `BatchRewindStrategy` | [`Action::Rewind`](crate::Action::Rewind), [`Retries::of_batch`](crate::consumer::Retries::of_batch) | one event can be retried too |
//! | `setSequenceCallback` | [`Action::ReleaseNow`](crate::Action::ReleaseNow), [`Stage::acknowledged`](crate::Stage::acknowledged) | holding back works as well as letting go early |
//! | `BatchEventProcessorBuilder.setMaxBatchSize` | [`Stage::max_batch`](crate::Stage::max_batch) | for every stage |
//! | `AggregateEventHandler` | a pair or a `Vec` of [handlers](crate::EventHandler#several-handlers-in-one-stage) | every call is forwarded |
//! | `EventPoller.poll(handler)` | [`Poller::poll`](crate::Poller::poll) returns a batch | may wait, and may let go of a part |
//! | one `WaitStrategy` for a ring | [`Builder::wait`](crate::Builder::wait), [`Stage::wait`](crate::Stage::wait), [`producer_wait`](crate::Builder::producer_wait) | a stage parks on a slow stage and a producer on a full ring too; see [`wait`](crate::wait) |
//! | `TimeoutBlockingWaitStrategy`, `onTimeout` | [`Stage::timeout`](crate::Stage::timeout) with any strategy | |
//! | `shutdown()` returns before the handlers have | [`Running::shutdown`](crate::Running::shutdown) | drains, joins, reports |
//! | `halt()` | [`Running::halt`](crate::Running::halt) | producers are told |
//! | `getCursor()`: with many producers what is claimed | [`Snapshot::published`](crate::monitor::Snapshot::published), [`claimed`](crate::monitor::Snapshot::claimed) | [`Monitor::stall`](crate::monitor::Monitor::stall) also says who holds up the ring |
//! | `addGatingSequences`, `removeGatingSequence` | [`Builder::seats`](crate::Builder::seats), [`StopHandle`](crate::consumer::StopHandle) | nobody loses an event |
//! | a producer waits in `next()` for ever | [`offer`](crate::Producer::offer) with a [`WhenFull`](crate::producer::WhenFull) | wait, wait for a time, refuse, or drop and count |
//! | `WorkerPool` (before 4.0) | [`Stage::workers`](crate::Stage::workers) | claimed by the batch, and resized at run time; [by key](crate::graph::Workers::by_key), if order matters |
//! | events keep what they refer to until overwritten | [`Builder::clear`](crate::Builder::clear) | |
//!
//! [`docs::lmax`](crate::docs::lmax) has every row of LMAX's features.
//!
//! # From the crate `disruptor`
//!
//! ```text
//! let mut producer = disruptor::build_single_producer(1024, factory, BusySpin)
//!     .thread_name("journal").pin_at_core(1).handle_events_with(journal)
//!     .and_then()
//!         .handle_events_and_state_with(logic, || State::default())
//!     .build();                                   // threads run from here on
//! producer.publish(|trade| trade.price = 42);
//! producer.batch_publish(5, |trades| for trade in trades { .. });
//! drop(producer);                                 // drains and joins
//! ```
//!
//! ```
//! use lapwing::{Disruptor, EventHandler, Sequence, wait::BusySpin};
//!
//! # #[derive(Default)]
//! # struct Trade { price: u64 }
//! #[derive(Default)]
//! struct Logic { sum: u64 }
//!
//! impl EventHandler<Trade> for Logic {
//!     fn on_event(&mut self, trade: &Trade, _: Sequence, _: bool) {
//!         self.sum += trade.price;
//!     }
//! }
//!
//! let (mut producer, consumers) = Disruptor::single_producer(1024, Trade::default)
//!     .wait(BusySpin)
//!     .stage("journal").read(|_, _, _| {}) // and `.pin(1)`
//!     .stage("logic").read_local(Logic::default) // its state may be `!Send`
//!     .build()?;
//! let running = consumers.start()?;
//! producer.publish(|trade| trade.price = 42)?;
//! producer.publish_batch(5, |trades| trades.iter_mut().for_each(|trade| trade.price = 7))?;
//! running.shutdown()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | there | here | what is different |
//! |---|---|---|
//! | `build()` starts the threads | [`start`](crate::Consumers::start), [`start_scoped`](crate::Consumers::start_scoped), or run them yourself | handlers may borrow |
//! | handlers get `&E` | [`write`](crate::Stage::write) gives `&mut E` | no `UnsafeCell` in events |
//! | `try_publish` returns `RingBufferFull` | [`TryPublishError`](crate::error::TryPublishError) | also `Closed` and `Halted` |
//! | `publish` spins on a full ring | waits by [`producer_wait`](crate::Builder::producer_wait), or with a timeout | |
//! | a panic in a handler ends the process or hangs it | halts, or follows [`Stage::on_panic`](crate::Stage::on_panic) | |
//! | `handle_events_and_state_with` | [`read_local`](crate::Stage::read_local) | or a handler by value, which comes back |
//! | `event_poller()`, `poll()` | [`poller`](crate::Stage::poller), [`Poller`](crate::Poller) | may wait; releases what was consumed |
//! | dropping the producer joins | [`Running::shutdown`](crate::Running::shutdown) | with a report; a drop drains and joins as well, for 10 s at most |
//! | pinning panics on a wrong core | [`StartError::Pin`](crate::error::StartError::Pin) | |
//!
//! # From a channel (crossbeam, flume, `std::sync::mpsc`)
//!
//! ```text
//! let (sender, receiver) = crossbeam_channel::bounded(1024);
//! let worker = thread::spawn(move || for trade in receiver { .. });
//! sender.send(trade)?;
//! drop(sender);
//! worker.join();
//! ```
//!
//! Where one thread takes what others send, and nothing else is wanted, the smallest step is
//! [`channel`](crate::channel), which moves values and has the calls that you know. The ring itself is for
//! several stages that see every event, in place:
//!
//! ```
//! use lapwing::Disruptor;
//!
//! # #[derive(Default)]
//! # struct Trade { price: u64 }
//! let (mut trades, consumers) = Disruptor::multi_producer(1024, Trade::default)
//!     .stage("worker").read(|trade, _, _| assert!(trade.price > 0))
//!     .build()?;
//! let running = consumers.start()?;
//! let mut another = trades.clone(); // one for each thread that publishes
//! trades.publish(|trade| trade.price = 7)?; // written in place, not moved
//! another.publish(|trade| trade.price = 8)?;
//! running.shutdown()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | there | here | what is different |
//! |---|---|---|
//! | `send(value)` moves | [`publish`](crate::Producer::publish) writes into a slot that exists | no allocation for each message |
//! | each value goes to one receiver | each event goes to every stage | for one of several: [`workers`](crate::Stage::workers) |
//! | `try_send` gives the value back | [`try_publish`](crate::Producer::try_publish) has not called the closure | |
//! | `recv` one by one | a batch of all that is there: [`Poller::poll`](crate::Poller::poll) | a consumer that lags catches up faster |
//! | `select!` | [`Consumer::run_together`](crate::consumer::Consumer::run_together), or pollers asked in turn | |
//! | a pool runs what is ready | a [`Placement`](crate::graph::Placement): each stage on a thread that is known beforehand | no stage moves from cache to cache |
//! | unbounded | there is none: a full ring is the back-pressure | |
//! | any capacity | a power of two | |
//! | dropping the receiver disconnects | dropping the last consumer halts: producers get `Halted` | |
