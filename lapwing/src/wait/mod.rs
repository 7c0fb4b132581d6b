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
//! | [`Yielding`] | low | a whole CPU, unless other threads need it | no |
//! | [`BusySpin`] | lowest | a whole CPU | no |
//! | [`PhasedBackoff<F>`](PhasedBackoff) | lowest at first, then low, then that of `F` | that of `F` | if `F` does |
//!
//! [`docs::lmax`](crate::docs::lmax) says which strategy here corresponds to which one of LMAX.
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
//! | [`Pause`](Step::Pause) | nothing for a few hundred nanoseconds | a CPU, but the cache line of the position stays with the thread that writes it |
//! | [`Yield`](Step::Yield) | offers its CPU to other threads | half a microsecond if no other thread is ready to run, else the time until the CPU comes back |
//! | [`Sleep`](Step::Sleep) | sleeps for a fixed time, on Linux no shorter than about 65 µs | latency, since an event does not cut the sleep short; nothing for the thread that publishes |
//! | [`Park`](Step::Park) | sleeps until another thread wakes it, or until its time limit | a wake-up, which takes each side 20 to 30 µs if they run on different CPUs |
//!
//! While no thread is parked, a publication only loads one cache line to check for parked threads.
//!
//! # What ends a wait
//!
//! - What the thread waits for: the next event, or enough free slots.
//! - A [halt](crate::Running::halt) of the ring, or a [stop](crate::consumer::StopHandle::stop) of
//!   the stage.
//! - A [close](crate::Running::close) of the ring. It ends a producer's wait at once, and a
//!   consumer's when no event is left for it. A close, a halt or a stop also cuts a sleep short.
//! - A [deadlock](crate::error::PublishError::WouldDeadlock), if only the producer's own thread can
//!   free a slot.
//! - The time limit of the call, whatever the strategy:
//!   [`Stage::timeout_after`](crate::Stage::timeout_after),
//!   [`wait_timeout`](crate::Poller::wait_timeout),
//!   [`WhenFull::Timeout`](crate::producer::WhenFull::Timeout). If an event or a slot is available
//!   when the limit expires, the wait succeeds.
//!
//! # The default, and busy CPUs
//!
//! The steps that pay off depend on what else runs on the CPUs, above all in small rings, whose
//! threads wait often. A ring finds that out by timing the yields of its threads; a thread that only
//! polls tries one now and then. A new ring starts in the first column. [`Adaptive`] takes the steps
//! of a column from top to bottom until the wait is over. If a park ends before that, it starts again
//! at row 2.
//!
//! | a yield | returns at once | lets another thread run, and returns soon | takes a time slice, 3 to 4 ms on Linux |
//! |---|---|---|---|
//! | so the ring | has its CPUs to itself | has more threads ready to run than CPUs | shares its CPUs with busy threads of other programs |
//! | 1 | pauses (a) | pauses (a) | pauses (a, d) |
//! | 2 | polls for 1 to 8 µs | | polls for 1 to 8 µs (d) |
//! | 3 | polls, or yields if no CPU is spare, for up to 50 µs (b) | yields, for up to 50 µs (b) | polls for up to 50 µs (c, d) |
//! | 4 | | | sleeps for about 65 µs (d) |
//! | 5 | parks | parks | parks |
//!
//! - (a) Only if events arrive faster than the thread takes them one by one. It then finds a batch.
//! - (b) Only if most recent waits of the thread ended within 50 µs, which is about the cost of a
//!   wake-up to both sides together.
//! - (c) Only if the process has a CPU for each thread of the ring. If not, the thread that it waits
//!   for may need this CPU.
//! - (d) Skipped if the scheduler runs the producers and the consumers of the ring on one CPU, which
//!   is detected on Linux. A park hands the CPU over at once, and a wake-up on the same CPU takes a
//!   few microseconds. Consumers that wait for the same event as others still sleep (4), because
//!   otherwise the first event of a batch would wake all of them.
//!
//! # Beside busy threads
//!
//! Where other programs keep the CPUs busy, a yield would lose a time slice, while a thread that
//! sleeps or is parked gets a CPU within microseconds of its wake-up, as long as it has used less
//! than its fair share. So the ring bans yields for every strategy, and the third column is what
//! [`Adaptive`] does during a ban:
//!
//! - A ban starts when a yield takes more than a millisecond, unless the other threads of the ring
//!   made good use of that time: they claimed as many slots as two rings have. It lasts for 8 ms at
//!   first.
//! - When it ends, one thread tries a yield. If that yield takes a time slice again, a longer ban
//!   starts, of up to a second. Otherwise, the threads of the ring yield again.
//! - During a ban, [`Blocking`] parks at once, [`Yielding`] and [`Sleeping`] sleep instead of
//!   yielding, and [`BusySpin`] polls as usual. [`PhasedBackoff`] skips the first yield of its second
//!   phase, and sleeps for about 65 µs instead of each further one.
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
