//! How a thread waits: the wait strategies. A strategy does not decide when a wait is over; the ring does.
//!
//! | strategy | latency | CPU while idle | parks |
//! |---|---|---|---|
//! | [`BusySpin`] | lowest | one CPU each | no |
//! | [`Yielding`] | low | one CPU each, yielded to others | no |
//! | [`Sleeping`] | up to its sleep | a little | no |
//! | [`Blocking`] | a wake-up by the system | none | yes |
//! | [`Adaptive`], the default | low while busy, a wake-up after a pause | none | yes |
//! | [`PhasedBackoff<F>`](PhasedBackoff) | lowest, then low, then that of `F` | that of `F` | as `F` |
//!
//! A strategy can be set for each consumer and for the producer side. It only waits: the library checks again
//! afterwards, so a strategy that returns too early costs only time. The same strategy waits on an empty
//! ring, on an upstream stage and on a full ring.
//!
//! ```
//! use lapwing::{Disruptor, wait::{Blocking, BusySpin, Yielding}};
//!
//! let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
//!     .producer_wait(Yielding::default())
//!     .wait(Blocking::default()) // of stages that do not say
//!     .stage("hot").wait(BusySpin).read(|event, _, _| assert_eq!(*event, 7))
//!     .stage("cold").read(|event, _, _| assert_eq!(*event, 7))
//!     .build()?;
//! let running = consumers.start()?;
//! producer.publish(|event| *event = 7)?;
//! assert!(running.shutdown()?.stages().all(|stage| stage.processed() == 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [halt](crate::Running::halt) ends a wait at once, whether the thread spins, yields or sleeps. So does a
//! [close](crate::Running::close) when no event is left. The time limit of the caller belongs to the wait,
//! not to the strategy. For a stage it is [`Stage::timeout`](crate::Stage::timeout), for a poller
//! [`wait_timeout`](crate::Poller::wait_timeout), for a producer
//! [`publish_timeout`](crate::Producer::publish_timeout) and similar calls. It applies on an empty ring, on
//! an upstream stage and on a full ring. It never ends a wait early, and an available event takes precedence
//! over it.
//!
//! # Beside busy threads
//!
//! A ring or a channel of 16 to 1,024 slots is full, or empty, after some microseconds. So its threads wait
//! often, and what a wait costs decides its speed. Three things can happen to a thread that yields its CPU:
//!
//! | a yield | because | then the threads of the ring |
//! |---|---|---|
//! | returns at once | the thread has a CPU to itself | spin for up to 50 µs, then park |
//! | lets another thread run, and returns soon | the threads of the ring need more CPUs than they get | yield instead of spinning, then park |
//! | takes a time slice, 3 to 4 ms on Linux | a thread of another program keeps the CPU busy | do not yield |
//!
//! In the third case a yield costs more than anything else. A thread that sleeps is scheduled within
//! microseconds of its wake-up instead, as long as it has used less than its share of the CPU. So after a yield
//! of any of its threads has taken more than a millisecond, in which the ring made less than two laps, no
//! thread of the ring yields: for 8 ms at first, and for up to a second if it happens again. Then one thread
//! tries. That costs at most one time slice in a second. Meanwhile:
//!
//! - [`Adaptive`] spins for up to 50 µs if a CPU is spare, then sleeps once, for about 65 µs, then parks. The sleep
//!   costs the other side nothing. A wake-up costs both sides 20 to 30 µs if they run on different CPUs. A thread
//!   that is woken finds the first event; one that has slept finds a batch. A step that does not pay is left out,
//!   more and more often, up to 63 waits out of 64.
//! - [`Blocking`] parks at once.
//! - [`Yielding`] and [`Sleeping`] sleep.
//! - [`BusySpin`] spins, as ever.
//!
//! # Several producers on a full ring
//!
//! A free slot goes to the first producer that finds it. With more threads than CPUs, a producer thread that shares
//! its CPU with a consumer thread finds the ring full each time, and could starve for a second. So a producer that has
//! waited for a millisecond makes the producers of its ring take turns. They queue, first come first served. Each has
//! a turn of 0.15 to 2 ms, as long as 2 ms are enough for all of them, and the others sleep meanwhile. A turn ends by the clock, so a stopped thread
//! holds up nobody. The turns end when no producer waits.
//!
//! Only producers whose strategy [parks](WaitStrategy::PARKS) take turns.
//!
//! # The strategies of LMAX
//!
//! | LMAX | here |
//! |---|---|
//! | `BusySpinWaitStrategy` | [`BusySpin`] |
//! | `YieldingWaitStrategy` | [`Yielding`] |
//! | `SleepingWaitStrategy` | [`Sleeping`] |
//! | `BlockingWaitStrategy` | [`Blocking`] |
//! | `LiteBlockingWaitStrategy` | [`Blocking`]: a publication takes no lock, and costs one load while no thread sleeps |
//! | `TimeoutBlockingWaitStrategy` | [`Blocking`], and a time limit of the wait |
//! | `LiteTimeoutBlockingWaitStrategy` | the same |
//! | `PhasedBackoffWaitStrategy` | [`PhasedBackoff`] over any strategy |
//! | `PhasedBackoffWaitStrategy.withLock` | `PhasedBackoff::new(spin, yielding, Blocking { yields: 0 })` |
//! | `PhasedBackoffWaitStrategy.withLiteLock` | the same |
//! | `PhasedBackoffWaitStrategy.withSleep` | `PhasedBackoff::new(spin, yielding, Sleeping { spins: 0, yields: 0, ..Sleeping::default() })` |

mod adaptive;
mod beside_busy_threads;
mod blocking;
mod busy_spin;
pub(crate) mod cpu_load;
mod pacing;
mod phased_backoff;
mod polls;
mod sleeping;
pub(crate) mod spinner;
mod strategy;
mod waiting;
mod yielding;

pub use adaptive::Adaptive;
pub use blocking::Blocking;
pub use busy_spin::BusySpin;
pub use pacing::Pacing;
pub use phased_backoff::PhasedBackoff;
pub use sleeping::Sleeping;
pub use strategy::WaitStrategy;
pub use waiting::Waiting;
pub use yielding::Yielding;

pub(crate) use strategy::AnyWaitStrategy;

#[cfg(all(test, not(loom)))]
mod tests;
