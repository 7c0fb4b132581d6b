//! Parking in the operating system until woken: no CPU while idle.

use super::{Step, WaitStrategy, Waiting};

/// A strategy that polls a few times with a yield after each poll, and then parks until another
/// thread wakes it or the time limit of the wait has passed.
///
/// While no thread is parked, this costs the other side one load of a cache line that is rarely
/// written. With [`yields`](Self::yields) of 0, the thread parks at once, and each single event
/// costs a wake-up.
///
/// If threads of other programs keep the CPUs busy, a yield takes a whole time slice. The thread
/// then parks at once; see [Beside busy threads](super#beside-busy-threads).
///
/// ```
/// use lapwing::{Disruptor, wait::Blocking};
///
/// let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
///     .wait_strategy(Blocking { yields: 0 }) // parks at once
///     .stage("all").poller()
///     .build()?;
/// let mut poller = consumers.take_poller("all")?;
/// let thread = std::thread::spawn(move || producer.publish(|event| *event = 7));
/// assert_eq!(poller.wait()?.as_slice(), [7]);
/// thread.join().unwrap()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Blocking {
    /// Number of polls before the thread parks, each followed by a yield of the CPU.
    pub yields: u32,
}

impl Default for Blocking {
    /// 10 yields: a few microseconds on an idle CPU, far less than a wake-up.
    ///
    /// In a multicast on two cores, this is a hundred times as fast as parking at once, or after
    /// 100 polls without a yield; see E23 in `lab/results/experiments.md`.
    fn default() -> Self {
        Self { yields: 10 }
    }
}

impl WaitStrategy for Blocking {
    const PARKS: bool = true;

    fn next(&mut self, waiting: &Waiting<'_>) -> Step {
        if waiting.steps_awake() < self.yields.into() && !waiting.is_yield_refused() {
            Step::Yield
        } else {
            Step::Park
        }
    }
}
