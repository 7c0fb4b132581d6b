//! How a topology runs under many schedules, and how one of them is repeated.

use std::env;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use lapwing::wait::Blocking;
use shuttle::scheduler::{
    PctScheduler, RandomScheduler, ReplayScheduler, Scheduler,
    UncontrolledNondeterminismCheckScheduler,
};
use shuttle::{Config, FailurePersistence, Runner};

/// Parks at once. A wake-up that is lost is then a deadlock.
pub(crate) const PARK: Blocking = Blocking { yields: 0 };

/// Schedules of each topology and scheduler, unless `LAPWING_SCHEDULES` sets another number.
const SCHEDULES: usize = 5_000;
/// Schedules that run twice, which shows that a failure can be repeated.
const REPEATED: usize = 20;
/// PCT changes priorities at one place less than this. It finds each fault that needs no more
/// changes, with a probability that is known.
const PCT_DEPTH: usize = 3;
/// Bytes of the stack of a thread.
const STACK: usize = 256 << 10;

/// Runs `topology` under many schedules, and prints how many.
pub(crate) fn explore(name: &str, topology: fn()) {
    if let Ok(path) = env::var("LAPWING_SCHEDULE") {
        let schedule = ReplayScheduler::new_from_file(&path).expect("the file of a schedule");
        return run(name, "given", schedule, topology);
    }
    let asked = env::var("LAPWING_SCHEDULES");
    let schedules = asked.map_or(SCHEDULES, |count| count.parse().expect("a number of schedules"));
    let repeated = UncontrolledNondeterminismCheckScheduler::new(RandomScheduler::new(REPEATED));
    run(name, "repeated", repeated, topology);
    run(name, "random", RandomScheduler::new(schedules), topology);
    run(name, "PCT", PctScheduler::new(PCT_DEPTH, schedules), topology);
}

fn run(name: &str, kind: &str, scheduler: impl Scheduler + 'static, topology: fn()) {
    let only = env::var("LAPWING_SCHEDULER");
    if only.is_ok_and(|only| only != kind) {
        return;
    }
    let begun = Arc::new(AtomicUsize::new(0));
    let progress = Progress { name, kind, start: Instant::now(), begun: Arc::clone(&begun) };
    Runner::new(scheduler, config()).run(move || {
        begun.fetch_add(1, Ordering::Relaxed);
        topology();
    });
    drop(progress);
}

fn config() -> Config {
    let mut config = Config::new();
    config.stack_size = STACK;
    config.silence_warnings = true;
    // Other threads would see that a thread panics, and some would panic in a destructor.
    config.ungraceful_shutdown_config.immediately_return_on_panic = true;
    config.failure_persistence =
        FailurePersistence::File(Some(PathBuf::from(env!("CARGO_TARGET_TMPDIR"))));
    config
}

/// Prints what was run when it is dropped, also by a failure.
struct Progress<'a> {
    name: &'a str,
    kind: &'a str,
    start: Instant,
    begun: Arc<AtomicUsize>,
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        let Self { name, kind, start, begun } = self;
        let schedules = begun.load(Ordering::Relaxed);
        let seconds = start.elapsed().as_secs_f64();
        let verdict = if thread::panicking() { "fails in the last of" } else { "holds in" };
        println!("{name} {verdict} {schedules} {kind} schedules, {seconds:.1} s");
    }
}
