//! Wait strategies: what a thread does while it waits for events or for free slots.
//!
//! A consumer waits if its next event is not published, or if an upstream stage has not finished
//! it. A producer waits if too few slots are free. The strategy decides what the thread does
//! meanwhile. It does not decide when the wait is over.
//!
//! | strategy | latency of an event | CPU while idle | parks |
//! |---|---|---|---|
//! | [`Adaptive`], the default | low while events flow, that of a wake-up after a pause | none | yes |
//! | [`Blocking`] | low for a few microseconds, then that of a wake-up | none | yes |
//! | [`Sleeping`] | up to the length of its sleep | little | no |
//! | [`Yielding`] | low | a whole CPU, unless other threads need it | no |
//! | [`BusySpin`] | lowest | a whole CPU | no |
//! | [`PhasedBackoff<F>`](PhasedBackoff) | lowest at first, then low, then that of `F` | that of `F` | if `F` does |
//!
//! [`docs::lmax`](crate::docs::lmax) says which strategy here corresponds to which one of LMAX.
//!
//! [`Builder::wait_strategy`](crate::Builder::wait_strategy) sets the strategy of all consumers,
//! [`Stage::wait_strategy`](crate::Stage::wait_strategy) that of one,
//! [`Builder::producer_wait_strategy`](crate::Builder::producer_wait_strategy) that of all producers, and
//! [`Producer::set_wait_strategy`](crate::Producer::set_wait_strategy) that of one. If none fits, implement
//! [`WaitStrategy`]. The calls that end in `_async` wait as a task, without a strategy.
//! [`WaiterElsewhere`] waits with the same strategies for something that is not in a ring of this crate.
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
//! The thread asks its strategy for a [`Step`], takes it, and checks whether [something ends the
//! wait](#what-ends-a-wait), until something does.
//!
//! | step | what the thread does | costs |
//! |---|---|---|
//! | [`Poll`](Step::Poll) | reads the position that it waits for, again and again | a CPU; the lowest latency |
//! | [`Pause`](Step::Pause) | nothing for a few hundred nanoseconds | a CPU, but the cache line of the position stays with the thread that writes it |
//! | [`Yield`](Step::Yield) | offers its CPU to other threads | half a microsecond if no other thread is ready to run, else the time until the CPU comes back |
//! | [`Sleep`](Step::Sleep) | sleeps for a fixed time, on Linux no shorter than about 65 µs | latency, since an event does not cut the sleep short; nothing for the thread that publishes |
//! | [`Park`](Step::Park) | sleeps until another thread wakes it, or until the time limit of the call | a wake-up: some 20 to 40 µs if the two threads run on different CPUs |
//!
//! While no thread is parked, a publication loads one cache line more than it would otherwise.
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
//!   [`wait_deadline`](crate::Poller::wait_deadline),
//!   [`WhenFull::Timeout`](crate::producer::WhenFull::Timeout). If an event or a slot is available
//!   when the limit expires, the wait succeeds.
//!
//! # The default, and busy CPUs
//!
//! Which steps pay off depends on what else runs on the CPUs, above all in small rings, whose
//! threads wait often. A ring finds out from how long the yields of its threads take, so a thread
//! with [`Adaptive`] begins one wait in 64 to 512 with a yield even if it could poll. A new ring
//! starts in the first column, or in the second if the process has one CPU. `Adaptive` takes the
//! steps of a column from top to bottom until the wait is over, or the yield of row 3 takes a time
//! slice: then it parks. A thread that is woken from a park and still has to wait goes on at row 2.
//!
//! | | own CPUs | more ready threads than CPUs | beside busy threads of other programs |
//! |---|---|---|---|
//! | a yield | lets no other thread run | lets another thread run, for less than a millisecond | takes a time slice, 3 to 4 ms on Linux |
//! | 1 | pauses (a) | pauses (a) | pauses (a, d) |
//! | 2 | polls for 1 to 3 µs, or for 3 to 8 µs if it waits for single events | | polls as in the first column (d) |
//! | 3 | polls, or yields if [no CPU is spare](Adaptive#a-wait), for up to 50 µs (b) | yields, for up to 50 µs (b) | polls for up to 50 µs (c, d) |
//! | 4 | | | sleeps for about 65 µs (d) |
//! | 5 | parks | parks | parks |
//!
//! - (a) Consumers only, and only if events arrive faster than they are taken one by one, so that a
//!   batch is there after the pause.
//! - (b) Only if the thread's recent waits mostly ended within 50 µs, which is about what a wake-up
//!   costs both sides together. If not, one short poll or yield. A yield that lets another thread run
//!   counts as half a microsecond, because the other thread made use of the rest.
//! - (c) Only if the process has a CPU for each thread of the ring. If not, the other side may need
//!   this CPU.
//! - (d) Not if the scheduler runs the producers and the consumers of the ring on one CPU, which is
//!   detected on Linux: a park then hands the CPU over within microseconds. In a ring where several
//!   consumers wait for the same event, the threads still sleep (4), because otherwise the first
//!   event of a batch would wake all of those consumers.
//!
//! The second column lasts until about a thousand yields in a row have let no other thread run.
//!
//! # Beside busy threads
//!
//! Where other programs keep the CPUs busy, a yield loses a time slice, while a thread that sleeps
//! or parks gets a CPU within microseconds of its wake-up, as long as it has used less than its fair
//! share. So the ring bans yields for a while, which is the third column, and other strategies
//! sleep or park instead of a yield:
//!
//! - A ban starts when a yield takes more than a millisecond, unless producers claimed the slots of
//!   two laps meanwhile: then the ring's own threads used that time. It lasts for 8 ms at first.
//! - At its end, one thread tries a yield. If that takes a time slice too, a longer ban starts, of up
//!   to a second. If not, the next thread may try at once. One such try ends a first ban, and up to
//!   eight end a longer one.
//!
//! Several producers on a full ring take turns, with or without a ban; see
//! [`producer`](crate::producer#several-producers-on-a-full-ring).

mod meeting;
pub(crate) mod spinner;

pub(crate) mod cpu_load;

mod pacing;
mod usual_wait;
mod waiting;

mod strategy;

mod waiter;

mod elsewhere;

mod waiter_elsewhere;

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
pub use elsewhere::Elsewhere;
pub use pacing::Pacing;
pub use phased_backoff::PhasedBackoff;
pub use sleeping::Sleeping;
pub use strategy::{Step, WaitStrategy, Waited};
pub use waiter_elsewhere::WaiterElsewhere;
pub use waiting::Waiting;
pub use yielding::Yielding;

pub(crate) use strategy::AnyWaitStrategy;
pub(crate) use waiter::{Goal, Waiter};

#[cfg(all(test, not(loom)))]
mod tests;
