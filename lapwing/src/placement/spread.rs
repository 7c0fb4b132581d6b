//! The spread over threads of consumers that do not name a thread. Neighbouring stages go together,
//! so that few events move to another CPU. Workers go apart, since they work at the same time.
//!
//! ```text
//! a ──> w (w0, w1) ──> b ──> c, three threads      w0 to 0, w1 to 1; then the least loaded: 2, 0, 1
//!
//! 0: a w0     1: b w1     2: c                     stages in their order from thread to thread
//! ```

/// A consumer that is spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Stage,
    Worker,
}

/// Returns the thread of each of `units`, as a number below `threads`. The units are in the order
/// of the graph. The loads of two threads differ by at most one.
pub(super) fn spread(units: &[Unit], threads: usize) -> Vec<usize> {
    let threads = threads.clamp(1, units.len().max(1));
    let mut load = vec![0_usize; threads];
    let workers = units.iter().filter(|unit| **unit == Unit::Worker).count();
    for worker in 0..workers {
        load[worker % threads] += 1;
    }
    let mut rooms = vec![0_usize; threads];
    for _ in workers..units.len() {
        let least = (0..threads).min_by_key(|&thread| load[thread]).unwrap_or(0);
        load[least] += 1;
        rooms[least] += 1;
    }
    let mut rooms = (0..threads).flat_map(|thread| std::iter::repeat_n(thread, rooms[thread]));
    let mut of_workers = (0..threads).cycle();
    let mut thread_of = |unit: &Unit| match unit {
        Unit::Stage => rooms.next(),
        Unit::Worker => of_workers.next(),
    };
    units.iter().map(|unit| thread_of(unit).unwrap_or(0)).collect()
}
