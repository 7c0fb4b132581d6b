//! How a topology runs under many schedules, and how one of them is repeated.

use std::env;
use std::path::PathBuf;
use std::time::Instant;

use lapwing::wait::Blocking;
use shuttle::scheduler::{PctScheduler, RandomScheduler, ReplayScheduler, Scheduler};
use shuttle::{Config, FailurePersistence, Runner};

/// Schedules of each topology, half of them random.
const SCHEDULES: usize = 4_000;
/// Changes of priority that PCT makes in a schedule, plus one: most faults need no more.
const PCT_DEPTH: usize = 3;
/// Stack of a thread, in bytes.
const STACK: usize = 256 << 10;

/// Parks at once: a wake-up that is lost is then a deadlock.
pub(crate) const PARK: Blocking = Blocking { yields: 0 };

/// Runs `topology` under many schedules, and prints how many.
pub(crate) fn explore(name: &str, topology: fn()) {
    if let Ok(path) = env::var("LAPWING_SCHEDULE") {
        return repeat(&path, topology);
    }
    let asked = env::var("LAPWING_SCHEDULES").ok();
    let schedules = asked.map_or(SCHEDULES, |count| count.parse().expect("a number of schedules"));
    let began = Instant::now();
    let random = run(RandomScheduler::new(schedules / 2), topology);
    let random_seconds = began.elapsed().as_secs_f64();
    let pct = run(PctScheduler::new(PCT_DEPTH, schedules - schedules / 2), topology);
    let pct_seconds = began.elapsed().as_secs_f64() - random_seconds;
    println!(
        "{name}: {random} random schedules in {random_seconds:.1} s, {pct} of PCT in {pct_seconds:.1} s"
    );
}

/// Runs the schedule in the file `path`.
fn repeat(path: &str, topology: fn()) {
    let schedule = ReplayScheduler::new_from_file(path).expect("the file of a schedule");
    run(schedule, topology);
    println!("the schedule of {path} does not fail");
}

fn run(scheduler: impl Scheduler + 'static, topology: fn()) -> usize {
    Runner::new(scheduler, config()).run(topology)
}

fn config() -> Config {
    let mut config = Config::new();
    config.stack_size = STACK;
    config.silence_warnings = true;
    config.failure_persistence =
        FailurePersistence::File(Some(PathBuf::from(env!("CARGO_TARGET_TMPDIR"))));
    config
}
