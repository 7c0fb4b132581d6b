//! Migration from the LMAX Disruptor in Java, from the crate `disruptor`, or from a channel. Each
//! table maps the calls of the other library to those of Lapwing. The Rust examples compile and
//! run.
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
//!     .wait_strategy(Blocking::default())
//!     .parallel(|parallel| parallel
//!         .stage("journal").read(|_trade, _sequence, _end_of_batch| {})
//!         .stage("replicator").read(|_, _, _| {}))
//!     .stage("logic").on_error(Action::Skip).on_panic(Action::Skip)
//!     .write(|trade, _, _| { trade.price += 1; Ok::<(), std::io::Error>(()) })
//!     .build()?; // starts nothing
//! let mut running = consumers.start()?;
//! ring.publish(|trade| trade.price = 42)?;
//! let report = running.shutdown_timeout(Duration::from_secs(10))?;
//! assert_eq!(report.stages().count(), 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | LMAX | Lapwing | what is different |
//! |---|---|---|
//! | `Sequence`: the first value is 0; a consumer's sequence is the last finished event, initially -1 | [`Sequence`](crate::Sequence): the first value is 0; a consumer's sequence is the number of finished events | no -1: add one to a consumer's sequence |
//! | `ringBuffer.next()`, `get`, `publish` in a `finally` | [`claim`](crate::Producer::claim), write through it, [`publish`](crate::producer::Claim::publish) | dropping a claim gives it up: no consumer sees a half-written event, and none waits for it |
//! | `publishEvent(translator, a, b)` and 29 more | [`publish`](crate::Producer::publish) with a closure that captures `a` and `b` | a translator that throws publishes the slot; a closure that panics does not |
//! | `next(n)`, `publish(lo, hi)` | [`claim_batch`](crate::Producer::claim_batch), [`publish_batch`](crate::Producer::publish_batch) | slices instead of sequences |
//! | `tryNext` throws `InsufficientCapacityException` | [`try_claim`](crate::Producer::try_claim), [`try_publish`](crate::Producer::try_publish) return `Err(Full)` | |
//! | `ProducerType.SINGLE`, unchecked | [`single_producer`](crate::Disruptor::single_producer): the producer has no `Clone` | two threads that publish do not compile |
//! | `handleEventsWith(a, b).then(c)` | [`parallel`](crate::Builder::parallel), [`stage`](crate::Builder::stage) | stages have names; a [method](crate::Stage) says what a stage does; only a stage that runs alone gets `&mut E` |
//! | `after(a).handleEventsWith(b)` | [`Graph`](crate::graph::Graph), [`Stage::after`](crate::Stage::after), [`Parallel::chain`](crate::graph::Parallel::chain) | checked when built |
//! | `EventHandler` | a closure, or [`EventHandler`](crate::EventHandler) | the same calls; a handler is returned at the end |
//! | exception, `ExceptionHandler` | `Result` or [`Action`](crate::Action), [`Stage::on_error`](crate::Stage::on_error), [`on_panic`](crate::Stage::on_panic) | by default an error halts the ring; in LMAX the thread ends and producers hang |
//! | an event that threw goes on to the next handlers | after [`Action::Skip`](crate::Action::Skip), only to those that ask: [`on_failed_event`](crate::EventHandler::on_failed_event), [`with_failed_events`](crate::Stage::with_failed_events) | a stage that does not know of failures does not act on a failed event |
//! | a handler that threw stays alive, with what it holds | a handler [whose panic ended its stage](crate::EventHandler#panics-of-a-handler) is dropped on its thread | its senders and files are closed; the report has only handlers that did not panic |
//! | `RewindableException`, `BatchRewindStrategy` | [`Action::Rewind`](crate::Action::Rewind), [`Retries::of_batch`](crate::consumer::Retries::of_batch) | one event can be retried too |
//! | `setSequenceCallback` | [`Action::ReleaseNow`](crate::Action::ReleaseNow), [`Stage::acknowledged`](crate::Stage::acknowledged) | events can be released late as well as early |
//! | `BatchEventProcessorBuilder.setMaxBatchSize` | [`Stage::max_batch`](crate::Stage::max_batch) | for every stage |
//! | `AggregateEventHandler` | a pair or a `Vec` of [handlers](crate::EventHandler#several-handlers-in-one-stage) | every call is forwarded |
//! | `EventPoller.poll(handler)` | [`Poller::poll`](crate::Poller::poll) returns a batch | can wait, and can release a part of a batch |
//! | one `WaitStrategy` for a ring | [`Builder::wait_strategy`](crate::Builder::wait_strategy), [`Stage::wait_strategy`](crate::Stage::wait_strategy), [`producer_wait_strategy`](crate::Builder::producer_wait_strategy) | a stage parks on a slow stage and a producer on a full ring too; see [`wait`](crate::wait) |
//! | `waitFor` of your own strategy | [`WaitStrategy::next`](crate::wait::WaitStrategy::next) | answers one step; the library has the loop |
//! | `TimeoutBlockingWaitStrategy`, `onTimeout` | [`Stage::timeout_after`](crate::Stage::timeout_after) with any strategy | |
//! | `shutdown()` returns before the handlers have | [`Running::shutdown`](crate::Running::shutdown) | drains, joins, reports |
//! | `halt()` | [`Running::halt`](crate::Running::halt) | producers get an error |
//! | `getCursor()`: with several producers, the claimed sequence | [`Snapshot::published`](crate::monitor::Snapshot::published), [`claimed`](crate::monitor::Snapshot::claimed) | [`Monitor::stall`](crate::monitor::Monitor::stall) also shows what holds up the ring |
//! | `addGatingSequences`, `removeGatingSequence` | [`Builder::dynamic_stages`](crate::Builder::dynamic_stages), [`StopHandle`](crate::consumer::StopHandle) | no consumer loses an event |
//! | a producer waits in `next()` for ever | [`publish_or`](crate::Producer::publish_or) with a [`WhenFull`](crate::producer::WhenFull) | wait, wait for a time, refuse, or drop and count |
//! | `WorkerPool` (before 4.0) | [`Stage::workers`](crate::Stage::workers) | claimed by the batch, and resized at run time; [by key](crate::graph::WorkerStage::by_key), if order matters |
//! | events keep what they refer to until they are overwritten | [`Builder::clear`](crate::Builder::clear) | |
//!
//! [`docs::lmax`](crate::docs::lmax) lists all features of LMAX.
//!
//! # From the crate `disruptor`
//!
//! ```text
//! let mut producer = disruptor::build_single_producer(1024, factory, BusySpin)
//!     .thread_name("journal").pin_at_core(1).handle_events_with(journal)
//!     .and_then()
//!         .handle_events_and_state_with(logic, || State::default())
//!     .build();                                   // starts the threads
//! producer.publish(|trade| trade.price = 42);
//! producer.batch_publish(5, |trades| for trade in trades { .. });
//! drop(producer);                                 // drains and joins
//! ```
//!
//! ```
//! use lapwing::{Disruptor, EventHandler, Sequence, wait::BusySpin};
//!
//! #[derive(Default)]
//! struct Logic { sum: u64 }
//!
//! impl EventHandler<u64> for Logic {
//!     fn on_event(&mut self, price: &u64, _: Sequence, _: bool) {
//!         self.sum += price;
//!     }
//! }
//! let (mut producer, consumers) = Disruptor::single_producer(1024, || 0_u64)
//!     .wait_strategy(BusySpin)
//!     .stage("journal").read(|_, _, _| {}) // and `.pin(1)`
//!     .stage("logic").read_local(Logic::default) // its state may be `!Send`
//!     .build()?;
//! let running = consumers.start()?;
//! assert_eq!(producer.publish(|price| *price = 42)?, 0);
//! producer.publish_batch(5, |prices| prices.iter_mut().for_each(|price| *price = 7))?;
//! running.shutdown()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | `disruptor` | Lapwing | what is different |
//! |---|---|---|
//! | `build()` starts the threads | [`start`](crate::Consumers::start), [`start_scoped`](crate::Consumers::start_scoped), or your own threads | handlers may borrow |
//! | handlers get `&E` | [`write`](crate::Stage::write) gives `&mut E` | no `UnsafeCell` in events |
//! | `try_publish` returns `RingBufferFull` | [`TryPublishError`](crate::error::TryPublishError) | also `Closed` and `Halted` |
//! | `publish` spins on a full ring | waits with [`producer_wait_strategy`](crate::Builder::producer_wait_strategy), or with a timeout | |
//! | a panic in a handler ends the process or hangs it | halts, or follows [`Stage::on_panic`](crate::Stage::on_panic) | the handler is dropped on its thread if its stage ends |
//! | `handle_events_and_state_with` | [`read_local`](crate::Stage::read_local) | or a handler by value, which is returned at the end |
//! | `new_event_poller()`, `poll()` | [`poller`](crate::Stage::poller), [`Poller`](crate::Poller) | can wait; releases the events that were consumed |
//! | dropping the producer joins | [`Running::shutdown`](crate::Running::shutdown) | returns a report; dropping `Running` drains and joins as well, for at most 10 s |
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
//! If one thread only receives what other threads send, [`channel`](crate::channel) is the smallest
//! step: it moves values and has the same calls. The ring itself is for several stages that see
//! every event in place:
//!
//! ```
//! use lapwing::Disruptor;
//!
//! let (mut prices, consumers) = Disruptor::multi_producer(1024, || 0_u64)
//!     .stage("worker").read(|price, _, _| assert!(*price > 0))
//!     .build()?;
//! let running = consumers.start()?;
//! let mut another = prices.clone(); // one for each thread that publishes
//! prices.publish(|price| *price = 7)?; // written in place, not moved
//! another.publish(|price| *price = 8)?;
//! running.shutdown()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The calls of an end of a channel:
//!
//! | crossbeam, flume, `std::sync::mpsc` | Lapwing's channel | what is different |
//! |---|---|---|
//! | `send`, `recv`, `iter`, `into_iter` | the same | each end takes `&mut self` |
//! | `try_send`, `try_recv`, `try_iter` | the same | a `try_` call also has a form for batches |
//! | `send_timeout`, `recv_timeout` | the same, and [`recv_batch_timeout`](crate::channel::Receiver::recv_batch_timeout) | a timeout that is too long for the clock is no limit |
//! | `send_deadline`, `recv_deadline` | the same, and [`recv_batch_deadline`](crate::channel::Receiver::recv_batch_deadline) | a deadline that has passed still takes what is there |
//! | `len`, `is_empty` of a receiver | [the same](crate::channel::Receiver::len) | what this receiver could get without waiting |
//! | `len`, `is_empty`, `is_full` of a sender | [the same](crate::channel::Sender::len) | what the slowest receiver has not received |
//! | `is_full` of a receiver | `receiver.len() == receiver.capacity()` | |
//! | `drain` of flume | [`try_recv_batch`](crate::channel::Receiver::try_recv_batch) | a batch ends at the end of the ring |
//! | a receiver that is cloned | [`broadcast`](crate::channel::broadcast), or [`workers`](crate::Stage::workers) of a ring | a channel gives each value to one receiver or to all |
//! | `bounded(0)`, `unbounded` | none | a full channel applies back-pressure |
//!
//! A ring:
//!
//! | channel | Lapwing | what is different |
//! |---|---|---|
//! | `send(value)` moves | [`publish`](crate::Producer::publish) writes into an existing slot | no allocation for each message |
//! | each value goes to one receiver | each event goes to every stage | for one of several: [`workers`](crate::Stage::workers) |
//! | `try_send` gives the value back | [`try_publish`](crate::Producer::try_publish) has not called the closure | |
//! | `recv` one by one | a batch of all available events: [`Poller::poll`](crate::Poller::poll) | a consumer that lags catches up faster |
//! | `select!`, `Select` | [`select`](crate::select::select) for receivers and pollers; [`Consumer::run_together`](crate::consumer::Consumer::run_together) for handlers | no `select` over senders |
//! | a pool runs what is ready | a [`Placement`](crate::graph::Placement): each stage has a fixed thread | no stage moves from cache to cache |
//! | unbounded | none: a full ring applies back-pressure | |
//! | any capacity | a power of two | |
//! | dropping the receiver disconnects | dropping the last consumer halts the ring: producers get `Halted` | |
//! | a thread that panics drops its ends | a handler whose panic ended its stage is [dropped](crate::EventHandler#panics-of-a-handler), with the ends that it owns | without a panic, the report keeps it: close its ends in [`on_shutdown`](crate::EventHandler::on_shutdown) |
