//! CPU time and context switches of each thread of this process, and the CPU time of another one.
//! Those of the whole process are in `cpu_time`.

use std::collections::BTreeMap;
use std::time::Duration;
use std::{fs, io};

/// The resources that a thread has used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Used {
    /// Its name.
    pub(crate) name: String,
    /// CPU time. For a running thread, the time since the last tick can be missing.
    pub(crate) cpu: Duration,
    /// Voluntary context switches, so also the number of wake-ups.
    pub(crate) sleeps: u64,
    /// Involuntary context switches: preemptions and yields.
    pub(crate) preemptions: u64,
}

/// Returns the threads of this process by their system ids, or `None` if the system does not report
/// them.
pub(crate) fn all() -> Option<BTreeMap<u32, Used>> {
    all_of("self")
}

/// Returns the CPU time of all threads of another process, or `None` if the system does not report
/// it. Threads that have ended are left out.
#[cfg(target_os = "linux")]
pub(crate) fn cpu_of(process: u32) -> Option<Duration> {
    let process = process.to_string();
    // Only this file of each thread: a JVM has dozens, and goes on meanwhile.
    let scheduled =
        numbers(&process)?.filter_map(|number| read(&process, number, "schedstat").ok());
    Some(scheduled.filter_map(|scheduled| cpu(&scheduled)).sum())
}

fn all_of(process: &str) -> Option<BTreeMap<u32, Used>> {
    // A thread can end between two reads. It is left out.
    let found = numbers(process)?.filter_map(|number| Some((number, of(process, number).ok()??)));
    Some(found.collect())
}

/// Returns the ids of the threads of a process, or `None` if the system does not report them.
fn numbers(process: &str) -> Option<impl Iterator<Item = u32>> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).ok()?;
    Some(tasks.filter_map(|task| task.ok()?.file_name().to_str()?.parse().ok()))
}

fn read(process: &str, number: u32, file: &str) -> io::Result<String> {
    fs::read_to_string(format!("/proc/{process}/task/{number}/{file}"))
}

/// Returns the CPU time in the file `schedstat` of a thread.
fn cpu(scheduled: &str) -> Option<Duration> {
    scheduled.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// Returns what the thread of this number has used, or `None` if the system reports it in an
/// unknown form.
fn of(process: &str, number: u32) -> io::Result<Option<Used>> {
    let read = |file: &str| read(process, number, file);
    let (name, scheduled, status) = (read("comm")?, read("schedstat")?, read("status")?);
    let field = |key: &str| {
        status.lines().find_map(|line| line.strip_prefix(key)?.trim().parse::<u64>().ok())
    };
    Ok(cpu(&scheduled).zip(field("voluntary_ctxt_switches:")).map(|(cpu, sleeps)| Used {
        name: name.trim_end().to_owned(),
        cpu,
        sleeps,
        preemptions: field("nonvoluntary_ctxt_switches:").unwrap_or(0),
    }))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread::Builder;

    use super::*;

    #[test]
    fn a_thread_that_waits_is_known_by_its_name() {
        let (release, released) = mpsc::channel::<()>();
        let (ready, is_ready) = mpsc::channel();
        let waiting = Builder::new().name("threads-test".to_owned()).spawn(move || {
            ready.send(()).unwrap();
            released.recv()
        });
        is_ready.recv().unwrap();
        if let Some(threads) = all() {
            assert!(threads.values().any(|used| used.name == "threads-test"), "{threads:?}");
        }
        drop(release);
        assert!(waiting.unwrap().join().unwrap().is_err());
    }
}
