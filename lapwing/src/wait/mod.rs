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
//! Each wait for an event or a free slot is the same loop: the thread asks its strategy for a
//! [`Step`], takes the step, and checks whether the wait is over. There are five steps:
//!
//! - [**Poll.**](Step::Poll) The thread reads the position that it waits for, again and again. This
//!   has the lowest latency, and keeps a CPU busy.
//! - [**Pause.**](Step::Pause) The thread does nothing for some hundred nanoseconds, and leaves the
//!   cache line of that position with the other side.
//! - [**Yield.**](Step::Yield) The thread offers its CPU to other threads. That takes half a
//!   microsecond if no other thread is ready to run.
//! - [**Sleep.**](Step::Sleep) The thread sleeps for a fixed time, at least about 65 µs on Linux. No
//!   other thread has to wake it, so the sleep costs the other side nothing. An event that arrives
//!   meanwhile waits for the end of the sleep.
//! - [**Park.**](Step::Park) The thread uses no CPU until another thread wakes it, or until its time
//!   limit. The wake-up costs both sides 20 to 30 µs if they run on different CPUs. While no thread
//!   is parked, a publication only loads one cache line to see that.
//!
//! [`Adaptive`] polls first, for a few microseconds. If its waits usually end within 50 µs, it then
//! stays awake for that long: it polls if the process has a spare CPU, and yields otherwise. Then
//! it parks.
//!
//! # What ends a wait
//!
//! - What the thread waits for: the next event, or enough free slots.
//! - A [halt](crate::Running::halt) of the ring, or a [stop](crate::consumer::StopHandle::stop) of
//!   the stage, also during a sleep.
//! - A [close](crate::Running::close) of the ring, also during a sleep. It ends the wait of a
//!   producer at once, and that of a consumer once no event is left for it.
//! - A [deadlock](crate::error::PublishError::WouldDeadlock), if only the producer's own thread can
//!   free a slot.
//! - The time limit of the caller. It belongs to the call, not to the strategy:
//!   [`Stage::timeout_after`](crate::Stage::timeout_after) for a stage,
//!   [`wait_timeout`](crate::Poller::wait_timeout) for a poller,
//!   [`WhenFull::Timeout`](crate::producer::WhenFull::Timeout) for a producer. The
//!   limit never ends a wait early. An available event or free slot takes precedence over it.
//!
//! # Beside busy threads
//!
//! A ring shares the CPUs with threads of other programs, and their load decides which way of
//! waiting is the cheapest. That matters most for small rings and channels, of 16 to 1,024 slots.
//! These are full or empty after some microseconds, so their threads wait often.
//!
//! The ring learns about the load from how long the yields of its threads take:
//!
//! | a yield | reason | threads that wait with `Adaptive` |
//! |---|---|---|
//! | returns at once | the thread has a CPU to itself | poll if a CPU is spare, or yield, for up to 50 µs, then park |
//! | lets another thread run, and returns soon | oversubscription: the ring has more runnable threads than CPUs | yield instead of polling, then park |
//! | takes a time slice, 3 to 4 ms on Linux | a thread of another program keeps the CPU busy | do not yield |
//!
//! In the third case, a yield loses a whole time slice. A thread that sleeps or is parked does
//! better: it gets a CPU within microseconds of its wake-up, as long as it has used less than its
//! share of the CPU. The ring therefore bans yields:
//!
//! - A ban starts when a yield of one of its threads takes more than a millisecond, and fewer than
//!   two laps of the ring are claimed meanwhile.
//! - It applies to the waits of all threads of the ring, whatever their strategy, for 8 ms at
//!   first.
//! - After a ban, one thread tries a yield. If it takes a time slice again, the next ban is longer,
//!   up to a second. In the long run, about one time slice a second is lost.
//!
//! During a ban:
//!
//! - [`Adaptive`] polls for up to 50 µs, sleeps once, for about 65 µs, and parks. It does not poll
//!   if the ring has more threads than the process has CPUs, because the thread that it waits for
//!   may need this CPU. After a sleep, a thread often finds a batch; after a wake-up, it finds one
//!   event.
//! - If the scheduler runs all waiting threads of the ring on one CPU, `Adaptive` parks at once. The
//!   other side runs then, and a wake-up on the same CPU takes only a few microseconds. Consumers
//!   that wait for the same event as others sleep first nevertheless, since the first event of a
//!   batch would wake all of them. The ring learns this on Linux only.
//! - [`Blocking`] parks at once.
//! - [`Yielding`] and [`Sleeping`] sleep instead of yielding.
//! - [`PhasedBackoff`] sleeps for about 65 µs instead of each yield of its second phase but the
//!   first.
//! - [`BusySpin`] polls as usual.
//!
//! # Several producers on a full ring
//!
//! A free slot goes to the first producer that finds it. With more threads than CPUs, a producer
//! thread may share its CPU with a consumer thread. It then runs only while the consumer does not,
//! and finds the ring full each time. It could get no slot for up to a second. To prevent that, the
//! producers of the ring take turns once one of them has waited for a millisecond:
//!
//! 1. A producer that finds the ring full joins a queue, first come first served, and is parked
//!    for a limited time.
//! 2. The first producer in the queue gets a turn. During its turn, it waits for free slots by its
//!    strategy.
//! 3. A turn takes 2 ms divided by the number of producers in the queue, but at least 0.15 ms. It
//!    ends by the clock, so a stopped thread holds up no other.
//! 4. The producers stop taking turns once a turn is over and the queue is empty.
//!
//! Only producers whose strategy [parks](WaitStrategy::PARKS) take turns. A producer does not if
//! its thread handles an event or holds a claim of the ring, since consumers may wait for that
//! thread.
//!
//! # The strategies of LMAX
//!
//! | LMAX | here |
//! |---|---|
//! | `BusySpinWaitStrategy` | [`BusySpin`] |
//! | `YieldingWaitStrategy` | [`Yielding`] |
//! | `SleepingWaitStrategy` | [`Sleeping`] |
//! | `BlockingWaitStrategy` | [`Blocking`] |
//! | `LiteBlockingWaitStrategy` | [`Blocking`]: a publication takes no lock, and costs one load while no thread is parked |
//! | `TimeoutBlockingWaitStrategy` | [`Blocking`], and a time limit of the wait |
//! | `LiteTimeoutBlockingWaitStrategy` | the same |
//! | `PhasedBackoffWaitStrategy` | [`PhasedBackoff`] over any strategy |
//! | `PhasedBackoffWaitStrategy.withLock` | `PhasedBackoff::new(spin, yielding, Blocking { yields: 0 })` |
//! | `PhasedBackoffWaitStrategy.withLiteLock` | the same |
//! | `PhasedBackoffWaitStrategy.withSleep` | `PhasedBackoff::new(spin, yielding, Sleeping { spins: 0, yields: 0, ..Sleeping::default() })` |

pub(crate) mod spinner;

pub(crate) mod cpu_load;

mod meeting;
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
