//! Faults from outside of the rings: CPUs that are taken away and given back, and busy threads of
//! another process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use std::{fs, io};

use fastrand::Rng;
use lapwing_lab_stats::BusyThreads;
use lapwing_proof::threads::{Board, Fault};
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Least and most time between two faults, in microseconds.
const CALM_US: (f64, f64) = (500_000.0, 8_000_000.0);
/// Least and most time of a fault, in microseconds.
const STORM_US: (f64, f64) = (20_000.0, 1_000_000.0);
/// How often the end is checked.
const NAP: Duration = Duration::from_millis(20);

/// A fault from outside.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Storm {
    /// All threads have one CPU, selected by this number.
    OneCpu(usize),
    /// This many busy threads.
    Busy(u32),
}

/// One fault after a time, and how long it lasts.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Front {
    calm: Duration,
    storm: Storm,
    time: Duration,
}

/// Draws a duration so that each power of ten is as frequent as any other.
pub(super) fn log_uniform(draw: &mut Rng, (least_us, most_us): (f64, f64)) -> Duration {
    let exponent = least_us.ln() + draw.f64() * (most_us.ln() - least_us.ln());
    Duration::from_nanos((exponent.exp() * 1_000.0) as u64)
}

impl Front {
    fn draw(draw: &mut Rng) -> Self {
        let calm = log_uniform(draw, CALM_US);
        let time = log_uniform(draw, STORM_US);
        let storm = if draw.u32(0..3) < 2 {
            Storm::OneCpu(draw.usize(..))
        } else {
            Storm::Busy(draw.u32(1..=3))
        };
        Self { calm, storm, time }
    }
}

/// Carries out faults until `is_over`.
pub(super) fn run(seed: u64, board: &Arc<Board>, is_over: &AtomicBool) {
    let mut draw = Rng::with_seed(seed ^ 0x7765_6174_6865_7200);
    let Ok(all) = sched_getaffinity(None) else { return };
    loop {
        let front = Front::draw(&mut draw);
        if !sleep(front.calm, is_over) {
            return;
        }
        board.set_crowded(true);
        // A fault that the system refuses is left out.
        let _refused = match front.storm {
            Storm::OneCpu(target) => one_cpu(board, &all, target, front.time, is_over),
            Storm::Busy(count) => busy(board, count, front.time, is_over),
        };
        board.set_crowded(false);
    }
}

fn one_cpu(
    board: &Board,
    all: &CpuSet,
    target: usize,
    time: Duration,
    is_over: &AtomicBool,
) -> io::Result<()> {
    let cpus: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&cpu| all.is_set(cpu)).collect();
    let mut one = CpuSet::new();
    one.set(cpus[target % cpus.len()]);
    confine(&one)?;
    board.injected(Fault::OneCpu);
    sleep(time, is_over);
    confine(all)
}

fn busy(board: &Board, count: u32, time: Duration, is_over: &AtomicBool) -> io::Result<()> {
    let _busy = BusyThreads::start(count)?;
    board.injected(Fault::BusyThreads);
    sleep(time, is_over);
    Ok(())
}

/// Gives these CPUs to all threads of the process. A thread that is started meanwhile has those of
/// the thread that starts it, so the list is read twice.
fn confine(cpus: &CpuSet) -> io::Result<()> {
    for _ in 0..2 {
        for task in fs::read_dir("/proc/self/task")? {
            let name = task?.file_name();
            let number = name.to_str().and_then(|name| name.parse().ok());
            // The thread may have ended.
            let _ended = number.and_then(Pid::from_raw).map(|it| sched_setaffinity(Some(it), cpus));
        }
    }
    Ok(())
}

/// Sleeps. Returns false if it is over before.
fn sleep(time: Duration, is_over: &AtomicBool) -> bool {
    let end = Instant::now() + time;
    while Instant::now() < end {
        if is_over.load(Ordering::Relaxed) {
            return false;
        }
        thread::sleep(NAP);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_faults_each_time() {
        let of = |seed| {
            let mut draw = Rng::with_seed(seed);
            (0..20).map(|_| Front::draw(&mut draw)).collect::<Vec<_>>()
        };
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }
}
