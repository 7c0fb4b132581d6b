//! Spinning on the CPU: the lowest latency, for threads with a CPU each.

use super::{Step, WaitStrategy, Waiting};

/// A strategy that polls without end. Use it only if each spinning thread has a CPU of its own.
/// Otherwise it may take the CPU from the thread that it waits for.
///
/// It suits events that arrive one by one. In a fast stream, each poll acquires a cache line that
/// the producer writes. If events are small and transfers of cache lines are slow, [the
/// default](super::Adaptive), which backs off in streams, reaches up to twenty times the
/// throughput.
///
/// A pause hint follows each poll.
///
/// ```
/// use lapwing::{Disruptor, wait::BusySpin};
///
/// let (mut producer, mut consumers) =
///     Disruptor::single_producer(8, || 0_u64).wait_strategy(BusySpin).stage("all").poller().build()?;
/// let mut poller = consumers.take_poller("all")?;
/// let thread = std::thread::spawn(move || producer.publish(|event| *event = 7));
/// assert_eq!(poller.wait()?.as_slice(), [7]);
/// thread.join().unwrap()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct BusySpin;

impl WaitStrategy for BusySpin {
    const PARKS: bool = false;

    fn next(&mut self, _: &Waiting<'_>) -> Step {
        Step::Poll(u32::MAX)
    }
}
