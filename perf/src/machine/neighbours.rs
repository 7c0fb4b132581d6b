//! How much of the machine others used while we measured: other processes, and on a virtual machine
//! the other guests of its host. On a busy machine two threads may share one CPU, and then even a
//! faster number says nothing about two.

use std::process;
use std::time::{Duration, Instant};

use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

/// A shorter watch says nothing: the system counts CPU time in ticks of about 10 ms.
const SHORTEST_WATCH: Duration = Duration::from_millis(500);

/// A watch over the CPUs.
pub(crate) struct Neighbours {
    /// What the system counted when it was last asked.
    system: System,
    /// CPU time of this process when the watch began; none if the system does not tell.
    own_before: Option<Duration>,
    /// When the watch began.
    started_at: Instant,
}

impl Neighbours {
    /// Begins to watch.
    pub(crate) fn watch() -> Self {
        let mut system = System::new();
        system.refresh_cpu_usage();
        let own_before = own_cpu_time(&mut system);
        Self { system, own_before, started_at: Instant::now() }
    }

    /// CPUs that others used since the watch began, as a mean; none if it was too short or the
    /// system does not tell.
    pub(crate) fn cpus_used(mut self) -> Option<f64> {
        let elapsed = self.started_at.elapsed();
        if elapsed < SHORTEST_WATCH {
            return None;
        }
        self.system.refresh_cpu_usage();
        let busy_part = f64::from(self.system.global_cpu_usage()) / 100.0;
        let busy_cpus = busy_part * self.system.cpus().len() as f64;

        let own = own_cpu_time(&mut self.system)?.saturating_sub(self.own_before?);
        let own_cpus = own.as_secs_f64() / elapsed.as_secs_f64();
        Some((busy_cpus - own_cpus).max(0.0))
    }
}

/// CPU time that this process and those that it has started have used so far: compilers and rivals in
/// other languages are no neighbours. None if the system does not tell.
fn own_cpu_time(system: &mut System) -> Option<Duration> {
    let own = Pid::from_u32(process::id());
    let cpu = ProcessRefreshKind::nothing().with_cpu();
    system.refresh_processes_specifics(ProcessesToUpdate::All, true, cpu);

    let processes = system.processes().values().filter(|process| process.thread_kind().is_none());
    let alive = processes.filter(|process| process.pid() == own || process.parent() == Some(own));
    let milliseconds = alive.map(|process| process.accumulated_cpu_time()).sum();
    system.process(own)?;
    Some(Duration::from_millis(milliseconds) + cpu_time_of_ended_children().unwrap_or_default())
}

/// CPU time of the children that have ended, and of theirs; none if the system does not tell.
#[cfg(target_os = "linux")]
fn cpu_time_of_ended_children() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // `cutime` and `cstime`, counted from the end of the name, which may have spaces in it.
    let after_name = stat.rsplit_once(')')?.1;
    let times = after_name.split_whitespace().skip(13).take(2);
    let ticks = times.map(str::parse::<u64>).sum::<Result<u64, _>>().ok()?;
    let per_second = rustix::param::clock_ticks_per_second();
    Some(Duration::from_secs_f64(ticks as f64 / per_second as f64))
}

/// CPU time of the children that have ended: not known here.
#[cfg(not(target_os = "linux"))]
fn cpu_time_of_ended_children() -> Option<Duration> {
    None
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// A child that is busy until it is killed.
    #[cfg(target_os = "linux")]
    fn busy_child() -> process::Child {
        process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap()
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_child_is_no_neighbour_while_it_lives_and_after() {
        let mut system = System::new();
        let used = |system: &mut System| own_cpu_time(system).unwrap();
        let before = used(&mut system);
        let mut child = busy_child();
        let pid = Pid::from_u32(child.id());
        let of_child = |system: &System| system.process(pid).map(|it| it.accumulated_cpu_time());
        while of_child(&system) < Some(50) {
            used(&mut system);
            thread::yield_now();
        }
        assert!(used(&mut system) - before >= Duration::from_millis(50));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(used(&mut system) - before >= Duration::from_millis(50));
    }

    #[test]
    fn short_watch_says_nothing() {
        assert_eq!(Neighbours::watch().cpus_used(), None);
    }

    #[test]
    fn others_use_no_more_than_the_machine_has() {
        let neighbours = Neighbours::watch();
        thread::sleep(SHORTEST_WATCH);
        if let Some(cpus) = neighbours.cpus_used() {
            let all = System::new_all().cpus().len() as f64;
            assert!((0.0..=all).contains(&cpus), "cpus={cpus}");
        }
    }
}
