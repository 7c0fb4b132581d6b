//! The LMAX Disruptor in Rust: threads exchange events through one pre-allocated ring buffer, which
//! a graph of stages reads in place and in batches.
//!
//! ```
//! use lapwing::Disruptor;
//!
//! let mut sum = 0;
//! let (mut producer, consumers) = Disruptor::single_producer(1024, || 0_u64) // 1024 slots
//!     .stage("sum").read(|event, _sequence, _end_of_batch| sum += *event)
//!     .build()?;
//!
//! std::thread::scope(|scope| {
//!     let running = consumers.start_scoped(scope)?; // one thread for each stage
//!     for number in 1..=100 {
//!         producer.publish(|event| *event = number)?; // writes the event in place
//!     }
//!     running.shutdown()?; // handles every event, then joins the threads
//!     Ok::<(), Box<dyn std::error::Error>>(())
//! })?;
//! assert_eq!(sum, 5050);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to look next
//!
//! | task | see |
//! |---|---|
//! | Move values from thread to thread, and no more | [`channel`] |
//! | Build a ring | [`Disruptor`], [`Builder`] |
//! | Add a stage | [`Stage`]; for a graph that is made at run time, [`Graph`](graph::Graph) |
//! | Publish events | [`Producer`], [`Claim`](producer::Claim), [`ClaimBatch`](producer::ClaimBatch) |
//! | Choose what happens if the ring is full | [`Producer::publish_or`], [`WhenFull`](producer::WhenFull) |
//! | Consume events | [`Stage::read`] and [`Stage::write`] with a closure, [`EventHandler`], [`Poller`] |
//! | Continue after a failure | [`Action`], [`Stage::on_error`], [`Stage::on_panic`], [`Retries`](consumer::Retries) |
//! | Share the events of a stage among workers | [`Stage::workers`], [`WorkerStage::by_key`](graph::WorkerStage::by_key), [`WorkerGroup`](lifecycle::WorkerGroup) |
//! | Start and stop a ring | [`Consumers`], [`Running`], [`Report`] |
//! | Choose which thread runs which stage | [`Placement`](graph::Placement) |
//! | Choose how threads wait | [`wait`], with a table of the strategies; [`wait::BusySpin`] has the lowest latency |
//! | Add and remove consumers while the ring runs | [`DynamicStages`](graph::DynamicStages), [`StopHandle`](consumer::StopHandle) |
//! | Wait at several receivers or pollers at once | [`select`] |
//! | Observe events without holding up the ring | [`tap`] |
//! | See what a ring does | [`monitor`]; from another process, [`observe`] |
//! | Handle errors | [`error`], [`docs::errors`] |
//! | Migrate from another library, or from LMAX's Disruptor | [`docs::migration`], [`docs::lmax`] |
//! | Learn why the code is sound | [`docs`] |
//!
//! # How a ring works
//!
//! ```text
//!                                  ┌─> journal
//! producer ──> [ring] ──> notional ┤
//!                                  └─> risk
//! ```
//!
//! - The ring makes its events once, one for each slot, and reuses them.
//! - A producer claims a slot, writes the event in place, and publishes it. It waits while the slot
//!   holds an event of the lap before that `journal` or `risk` has not finished.
//! - A stage reads events in place, in batches. It gets the events that its upstream stages have
//!   finished.
//! - A stage that runs alone may change events. Stages that run side by side can only read them.
//! - A stage that could cause a data race does not compile. In a graph that is made at run time, it
//!   is an error of `build`. A full ring, a panic and a shutdown lead to a returned error or to a
//!   documented policy, not to the silent loss of an event or a silent hang.
//!
//! ```
//! use lapwing::Disruptor;
//!
//! #[derive(Default)]
//! struct Trade { price: u64, quantity: u32, notional: u64 }
//!
//! let (mut trades, consumers) = Disruptor::single_producer(1024, Trade::default)
//!     .stage("notional")
//!     .write(|trade, _, _| trade.notional = trade.price * u64::from(trade.quantity))
//!     .parallel(|parallel| parallel
//!         .stage("journal").read(|trade, sequence, _| assert_eq!(trade.price, sequence))
//!         .stage("risk").read(|trade, _, _| assert_eq!(trade.notional, 10 * trade.price)))
//!     .build()?;
//! let running = consumers.start()?;
//! for price in 0..100 {
//!     trades.publish(|trade| (trade.price, trade.quantity) = (price, 10))?;
//! }
//! let report = running.shutdown()?;
//! assert!(report.stages().all(|stage| stage.processed() == 100));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(unsafe_code)]

#[cfg(not(target_has_atomic = "64"))]
compile_error!("Lapwing needs 64-bit atomics: sequences are 64-bit numbers that threads share");

mod catch;
mod observable_name;
mod sync;

mod dynamic_names;

mod activity;
mod awaiting;
mod cpu;
mod deadline;
mod description;
pub mod error;
mod failures;
// I12: moves the words of a group.
#[allow(unsafe_code)]
mod group;
mod unshared;

mod on_this_thread;
mod placement;
mod registry;
mod turns;

mod open_claim;

mod ring_file;

mod shape;
mod watched;

mod ring;

mod handled;

// What only makes the ring faster.
mod tuning;

mod chosen;
pub mod wait;

// I5, I12: lends a worker the events that it has claimed.
#[allow(unsafe_code)]
pub mod consumer;
pub mod producer;

pub mod lifecycle;
// I7, I8: the slots of a tap.
#[allow(unsafe_code)]
pub mod tap;

pub mod monitor;
// I5: says that only threads that may share events get shared ones.
#[allow(unsafe_code)]
mod topology;

// I13, I14: moves values into slots and out of them.
#[allow(unsafe_code)]
pub mod channel;
pub mod graph;

pub mod select;

pub mod observe;

pub mod docs;
#[cfg(all(test, loom))]
mod models;

#[doc(inline)]
pub use consumer::{Action, EventHandler, Poller};
#[doc(inline)]
pub use lifecycle::{Consumers, Report, Running};
#[doc(inline)]
pub use producer::{MultiProducer, Producer, SingleProducer};
pub use topology::{Builder, Disruptor, Stage};

/// The number of an event in its ring.
///
/// The first event has sequence 0, unless [`first_sequence`](Builder::first_sequence) sets another.
/// The position of a consumer is the sequence of the first event that it has not finished. For a
/// consumer that begins at 0, this is the number of sequences that it has finished, including
/// claims that were given up.
///
/// ```
/// use lapwing::{Disruptor, Sequence};
///
/// let (mut producer, mut consumers) =
///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
/// let mut poller = consumers.take_poller("all")?;
///
/// let first: Sequence = producer.publish(|event| *event = 7)?;
/// poller.poll()?.consume_all();
/// assert_eq!((first, poller.sequence()), (0, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Sequence = u64;

/// Largest number of slots in a ring, a channel or a tap.
///
/// It is far above any known use. The limit refuses a capacity that was meant as a number of bytes,
/// or a huge one of zero-sized events, before it exhausts the memory of the machine.
///
/// ```
/// use lapwing::{Disruptor, MAX_CAPACITY, error::BuildError};
///
/// let requested = 2 * MAX_CAPACITY;
/// let result = Disruptor::single_producer(requested, || ()).stage("all").poller().build();
/// assert_eq!(result.err(), Some(BuildError::Capacity { requested }));
/// ```
pub const MAX_CAPACITY: usize = lapwing_core::MAX_CAPACITY;

/// Highest sequence that the first event of a ring may have, for [`Builder::first_sequence`].
///
/// At least as many sequences again remain: enough for 146 years at a billion events per second.
///
/// ```
/// use lapwing::{Disruptor, MAX_FIRST_SEQUENCE, error::BuildError};
///
/// let requested = MAX_FIRST_SEQUENCE + 1;
/// let ring = Disruptor::single_producer(8, || 0_u64).first_sequence(requested);
/// let result = ring.stage("all").poller().build();
/// assert_eq!(result.err(), Some(BuildError::FirstSequence { requested }));
/// ```
pub const MAX_FIRST_SEQUENCE: Sequence = lapwing_core::MAX_FIRST_SEQUENCE;

/// Largest number of dynamic stages in a ring. A producer that checks for free slots reads every
/// dynamic stage.
///
/// ```
/// use lapwing::{Disruptor, MAX_DYNAMIC_STAGES, error::BuildError};
///
/// let requested = MAX_DYNAMIC_STAGES + 1;
/// let ring = Disruptor::single_producer(8, || ()).dynamic_stages(requested).stage("all").poller();
/// assert_eq!(ring.build().err(), Some(BuildError::DynamicStages { requested }));
/// ```
pub const MAX_DYNAMIC_STAGES: usize = 256;

/// Largest number of receivers of a [broadcast](channel::Builder::broadcast). A sender that checks
/// for free slots reads the position of each of them.
///
/// ```
/// use lapwing::{MAX_RECEIVERS, channel, error::BuildError};
///
/// let requested = MAX_RECEIVERS + 1;
/// let error = channel::Builder::new(8).broadcast::<u64>(requested).unwrap_err();
/// assert_eq!(error, BuildError::Receivers { requested });
/// ```
pub const MAX_RECEIVERS: usize = 1024;
