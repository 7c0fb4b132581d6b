//! How to wait. Not here: what is waited for (`barrier`, `sequencer::gate`), which decides alone
//! when a wait is over.
//!
//! | strategy | latency | CPU while idle | parks |
//! |---|---|---|---|
//! | [`BusySpin`] | lowest | one CPU each | no |
//! | [`Yielding`] | low | one CPU each, given up to others | no |
//! | [`Sleeping`] | up to its sleep | a little | no |
//! | [`Blocking`] | a wake-up by the system | none | yes |
//! | [`Adaptive`], the default | low while busy, a wake-up after a pause | none | yes |
//!
//! A strategy can be set for each consumer and for the producer side. It only waits: afterwards the
//! library looks again, so a strategy that returns too early costs time and nothing else. Whatever
//! is waited for wakes its waiter: an empty ring, a stage upstream, a full ring.
//!
//! ```
//! use lapwing::{Disruptor, Stage, wait::{Blocking, BusySpin, Yielding}};
//!
//! let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
//!     .producer_wait(Yielding::default())
//!     .wait(Blocking::default()) // of stages that do not say
//!     .then(Stage::new("hot").wait(BusySpin), |event, _, _| assert_eq!(*event, 7))
//!     .then("cold", |event, _, _| assert_eq!(*event, 7))
//!     .build()?;
//! let running = consumers.start()?;
//! producer.publish(|event| *event = 7)?;
//! assert!(running.shutdown()?.stages().all(|stage| stage.processed() == 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod adaptive;
pub(crate) mod asymmetric;
mod blocking;
mod busy_spin;
pub(crate) mod event_count;
mod park;
mod sleeping;
mod strategy;
mod waiting;
mod yielding;

pub use adaptive::Adaptive;
pub use blocking::Blocking;
pub use busy_spin::BusySpin;
pub use sleeping::Sleeping;
pub use strategy::WaitStrategy;
pub use waiting::Waiting;
pub use yielding::Yielding;

pub(crate) use strategy::AnyWaitStrategy;

use event_count::EventCount;

/// What is waited for: a sequence of the cursor, of stages upstream, or of the gate on a full ring.
pub(crate) trait Awaited {
    /// Whether it is there, or will never come.
    fn is_over(&self) -> bool;

    /// Where to sleep: with something that is behind just now. Who has lain down looks again
    /// whether it still is.
    fn event_count(&self) -> &EventCount;
}
