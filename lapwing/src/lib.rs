//! The Disruptor for today's machines: one pre-allocated ring, sequences instead of locks, a graph
//! of consumers over one buffer. Events lap the ring; hence the name.
//!
//! ```text
//!                               +-- journal <--+
//! P1 --> [ring] <-- notional <--+              +-- clear      arrow: "waits for"; and P1, a lap
//!                               +-- risk <-----+              ahead, waits for clear
//! ```
//!
//! Producers claim slots and write events in place. Stages read them in place, in batches, as far
//! as the stages before them have got. A stage that runs alone may change events; stages side by
//! side read. What would be a data race, a lost event or a silent hang elsewhere is a compile
//! error, a returned error or a documented policy here.
//!
//! ```
//! use std::thread;
//! use lapwing::Disruptor;
//!
//! #[derive(Default)]
//! struct Trade { price: u64, quantity: u32, notional: u64 }
//!
//! let (mut journal, mut exposure) = (Vec::new(), 0);
//! let (mut trades, consumers) = Disruptor::single_producer(1024, Trade::default)
//!     .stage("notional")
//!     .write(|trade, _, _| trade.notional = trade.price * u64::from(trade.quantity))
//!     .side_by_side(|side| side
//!         .stage("journal")
//!         .read(|trade, sequence, _| journal.push((sequence, trade.price)))
//!         .stage("risk")
//!         .read(|trade, _, _| exposure += trade.notional))
//!     .build()?;
//!
//! thread::scope(|scope| {
//!     let running = consumers.start_scoped(scope)?; // a thread each; they borrow `journal` and `exposure`
//!     for price in 1..=100 {
//!         trades.publish(|trade| (trade.price, trade.quantity) = (price, 10))?;
//!     }
//!     running.shutdown()?; // drains and joins
//!     Ok::<(), Box<dyn std::error::Error>>(())
//! })?;
//! assert_eq!((journal.len(), exposure), (100, 50_500));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to look
//!
//! - For a bounded channel and nothing else: [`channel`].
//! - To build: [`Disruptor`], [`Builder`], and what a [`Stage`] may be; graphs made as the program runs:
//!   [`Graph`](graph::Graph).
//! - To publish: [`Producer`], [`Claim`](producer::Claim), [`ClaimBatch`](producer::ClaimBatch); what to do with an event
//!   on a full ring: [`Producer::offer`], [`WhenFull`](producer::WhenFull).
//! - To consume: closures, [`EventHandler`], [`Poller`].
//! - To go on after a failure: [`Action`], [`Stage::on_error`], [`Stage::on_panic`], [`Retries`](consumer::Retries).
//! - To look on without slowing anybody down: [`tap`].
//! - To run: [`Consumers`], [`Running`], [`Report`]; on how many threads: [`Placement`](graph::Placement).
//! - To see what a ring is doing: [`monitor`].
//! - To share the events of a stage among several: [`Stage::workers`], [by key](graph::Workers::by_key) or not,
//!   [`WorkerGroup`](lifecycle::WorkerGroup).
//! - To come and go while the ring runs: [`Seats`](graph::Seats), [`StopHandle`](consumer::StopHandle).
//! - What can go wrong: [`error`], and [when](docs::errors).
//! - To wait: [`wait`], with a table of the strategies.
//! - To have lone events as soon as can be: [`wait::BusySpin`].
//! - For users of LMAX's Disruptor: [its features, and what became of each](docs::lmax).
//! - Why it is sound: [`docs`].

#![deny(unsafe_code)]

mod ab_tests;
mod activity;
// I13, I14: moves values into slots and out of them.
#[allow(unsafe_code)]
pub mod channel;
mod chosen;
// I2, I6: turns what a stage may read into slices.
#[allow(unsafe_code)]
pub mod consumer;
mod deadline;
mod description;
pub mod docs;
pub mod error;
pub mod graph;
pub mod lifecycle;
#[cfg(all(test, loom))]
mod models;
pub mod monitor;
mod on_this_thread;
mod open_claim;
mod padded;
mod placement;
// I1: turns claims into references.
#[allow(unsafe_code)]
pub mod producer;
// The hand-off itself.
mod protocol;
mod registry;
// I1: in a model, a look at one's own word that loom does not take for an access.
#[cfg_attr(loom, allow(unsafe_code))]
mod sync;
// I7, I8: the slots of a tap.
#[allow(unsafe_code)]
pub mod tap;
mod topology;
// What is only fast.
mod tuning;
mod turns;
mod unshared;
pub mod wait;

#[doc(inline)]
pub use consumer::{Action, EventHandler, Poller};
#[doc(inline)]
pub use lifecycle::{Consumers, Report, Running};
#[doc(inline)]
pub use producer::{MultiProducer, Producer, SingleProducer};
pub use topology::{Builder, Disruptor, Stage};

/// Number of an event in its ring: 0 for the first, unless
/// [`first_sequence`](Builder::first_sequence) says otherwise. As the position of a consumer: the
/// number of events that it has finished, which is the sequence of the next.
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

/// Most slots that a ring may have. Far above any use known; it keeps a capacity that was meant to
/// be a byte count, or a zero-sized event, from filling the machine.
///
/// ```
/// use lapwing::{Disruptor, MAX_CAPACITY, error::BuildError};
///
/// let requested = 2 * MAX_CAPACITY;
/// let result = Disruptor::single_producer(requested, || ()).stage("all").poller().build();
/// assert_eq!(result.err(), Some(BuildError::Capacity { requested }));
/// ```
pub const MAX_CAPACITY: usize = 1 << 30;

/// Highest sequence that the first event of a ring may have:
/// [`Builder::first_sequence`]. As many again are left, for 146 years of a billion events a second.
///
/// ```
/// use lapwing::{Disruptor, MAX_FIRST_SEQUENCE, error::BuildError};
///
/// let requested = MAX_FIRST_SEQUENCE + 1;
/// let ring = Disruptor::single_producer(8, || 0_u64).first_sequence(requested);
/// let result = ring.stage("all").poller().build();
/// assert_eq!(result.err(), Some(BuildError::FirstSequence { requested }));
/// ```
pub const MAX_FIRST_SEQUENCE: Sequence = 1 << 62;

/// Most seats that a ring may have. A producer that reads the gate reads each of them.
///
/// ```
/// use lapwing::{Disruptor, MAX_SEATS, error::BuildError};
///
/// let requested = MAX_SEATS + 1;
/// let ring = Disruptor::single_producer(8, || ()).seats(requested).stage("all").poller();
/// assert_eq!(ring.build().err(), Some(BuildError::Seats { requested }));
/// ```
pub const MAX_SEATS: usize = 256;

/// Most receivers that a [broadcast](channel::Builder::broadcast) may have. A sender that finds it
/// full looks at each of them.
///
/// ```
/// use lapwing::{MAX_RECEIVERS, channel, error::BuildError};
///
/// let requested = MAX_RECEIVERS + 1;
/// let error = channel::Builder::new(8).broadcast::<u64>(requested).unwrap_err();
/// assert_eq!(error, BuildError::Receivers { requested });
/// ```
pub const MAX_RECEIVERS: usize = 1024;
