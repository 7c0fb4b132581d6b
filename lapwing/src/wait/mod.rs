//! Wait strategies: what a thread does while it waits for events or for free slots.
//!
//! A consumer waits if its next event is not published, or if an upstream stage has not finished
//! it. A producer waits if too few slots are free. The strategy decides what the thread does
//! meanwhile. It does not decide when the wait is over.
//!
//! | strategy | latency of an event | CPU while idle | parks |
//! |---|---|---|---|
//! | [`Adaptive`], the default | low while events flow, a wake-up after a pause | none | yes |
//! | [`Blocking`] | low for a few microseconds, then a wake-up | none | yes |
//! | [`Sleeping`] | up to the length of its sleep | little | no |
//! | [`Yielding`] | low | a whole CPU, which it yields to other threads | no |
//! | [`BusySpin`] | lowest | a whole CPU | no |
//! | [`PhasedBackoff<F>`](PhasedBackoff) | lowest at first, then low, then that of `F` | that of `F` | if `F` does |
//!
//! [`docs::lmax`](crate::docs::lmax) says which of them replace the strategies of LMAX.
//!
//! Each consumer can have a strategy of its own ([`Stage::wait_strategy`](crate::Stage::wait_strategy)).
//! [`Builder::wait_strategy`](crate::Builder::wait_strategy) sets the strategy of the others.
//! [`Builder::producer_wait_strategy`](crate::Builder::producer_wait_strategy) sets that of the producers, and
//! [`Producer::set_wait_strategy`](crate::Producer::set_wait_strategy) that of one. If no strategy fits, implement
//! [`WaitStrategy`].
//!
//! ```
//! use lapwing::{Disruptor, wait::{Blocking, BusySpin, Yielding}};
//!
//! let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
//!     .producer_wait_strategy(Yielding::default())
//!     .wait_strategy(Blocking::default()) // for stages without a strategy of their own
//!     .stage("hot").wait_strategy(BusySpin).read(|event, _, _| assert_eq!(*event, 7))
//!     .stage("cold").read(|event, _, _| assert_eq!(*event, 7))
//!     .build()?;
//! let running = consumers.start()?;
//! producer.publish(|event| *event = 7)?;
//! assert!(running.shutdown()?.stages().all(|stage| stage.processed() == 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How a thread waits
//!
//! The thread asks its strategy for a [`Step`], takes it, and checks whether the wait is over. It
//! repeats that until [something ends the wait](#what-ends-a-wait).
//!
//! | step | what the thread does | costs |
//! |---|---|---|
//! | [`Poll`](Step::Poll) | reads the position that it waits for, again and again | a CPU; the lowest latency |
//! | [`Pause`](Step::Pause) | nothing for some hundred nanoseconds | a CPU, but the cache line of the position stays with the other side |
//! | [`Yield`](Step::Yield) | offers its CPU to other threads | half a microsecond if no thread is ready to run |
//! | [`Sleep`](Step::Sleep) | sleeps for a fixed time, at least about 65 µs on Linux | an event that arrives meanwhile waits for the end of the sleep; the other side pays nothing |
//! | [`Park`](Step::Park) | sleeps until another thread wakes it, or until its time limit | a wake-up, which takes both sides 20 to 30 µs if they run on different CPUs |
//!
//! While no thread is parked, a publication loads one cache line to see that.
//!
//! # What ends a wait
//!
//! - What the thread waits for: the next event, or enough free slots.
//! - A [halt](crate::Running::halt) of the ring, or a [stop](crate::consumer::StopHandle::stop) of
//!   the stage.
//! - A [close](crate::Running::close) of the ring: at once for a producer, and for a consumer when no
//!   event is left for it. Like a halt and a stop, it ends a sleep.
//! - A [deadlock](crate::error::PublishError::WouldDeadlock), if only the producer's own thread can
//!   free a slot.
//! - The time limit of the call, whatever the strategy:
//!   [`Stage::timeout_after`](crate::Stage::timeout_after),
//!   [`wait_timeout`](crate::Poller::wait_timeout),
//!   [`WhenFull::Timeout`](crate::producer::WhenFull::Timeout). An event or a slot that is available
//!   takes precedence over it.
//!
//! # The default, and busy CPUs
//!
//! Which steps pay depends on what else runs on the CPUs, above all in small rings, whose threads
//! wait often. A ring learns that from how long the yields of its threads take. [`Adaptive`] goes
//! down one column, ends where the wait is over, and begins again at the polls after a park that did
//! not end it:
//!
//! | a yield | returns at once | lets another thread run, and returns soon | takes a time slice, 3 to 4 ms on Linux |
//! |---|---|---|---|
//! | so the ring | has its CPUs for itself | has more threads ready to run than CPUs | is beside busy threads of other programs |
//! | 1 | pauses, in a stream | pauses, in a stream | pauses, in a stream (c) |
//! | 2 | polls for 1 to 8 µs | | polls for 1 to 3 µs (c) |
//! | 3 | polls, or yields if no CPU is spare, for up to 50 µs (a) | yields, for up to 50 µs (a) | polls for up to 50 µs (b, c) |
//! | 4 | | | sleeps once, for about 65 µs (c) |
//! | 5 | parks | parks | parks |
//!
//! - (a) If its waits usually end in that time, which is what a wake-up costs both sides.
//! - (b) If the process has a CPU for each thread of the ring. Otherwise the thread that it waits
//!   for may need this CPU.
//! - (c) Not if the scheduler runs the producers and the consumers on one CPU, which a ring notices
//!   on Linux. A park hands the CPU over, and a wake-up there takes a few microseconds. Consumers
//!   that wait for the same event as others sleep (4) nevertheless, since the first event of a batch
//!   would wake all of them.
//!
//! # Beside busy threads
//!
//! There, a yield would lose a time slice, while a thread that sleeps or is parked gets a CPU within
//! microseconds of its wake-up, as long as it has used less than its share. So the ring bans yields,
//! whatever the strategy of a thread is:
//!
//! - A ban starts when a yield takes more than a millisecond, and fewer than two laps of the ring are
//!   claimed meanwhile. It lasts for 8 ms at first.
//! - Then one thread tries a yield. If it takes a time slice again, the next ban is longer, up to a
//!   second.
//! - Meanwhile, [`Blocking`] parks at once, [`Yielding`] and [`Sleeping`] sleep instead of yielding,
//!   [`PhasedBackoff`] sleeps for about 65 µs instead of each yield of its second phase but the
//!   first, and [`BusySpin`] polls as usual.
//!
//! Several producers on a full ring also
//! [take turns](crate::producer#several-producers-on-a-full-ring).

mod meeting;
pub(crate) mod spinner;

pub(crate) mod cpu_load;

mod pacing;
mod usual_wait;
mod waiting;

mod strategy;

mod waiter;

mod beside_busy_threads;
mod blocking;
mod busy_spin;
mod phased_backoff;
mod sleeping;
mod yielding;

mod adaptive;

pub use adaptive::Adaptive;
pub use blocking::Blocking;
pub use busy_spin::BusySpin;
pub use pacing::Pacing;
pub use phased_backoff::PhasedBackoff;
pub use sleeping::Sleeping;
pub use strategy::{Step, WaitStrategy, Waited};
pub use waiting::Waiting;
pub use yielding::Yielding;

pub(crate) use strategy::AnyWaitStrategy;
pub(crate) use waiter::{Goal, Waiter};

#[cfg(all(test, not(loom)))]
mod tests;
