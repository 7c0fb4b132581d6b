//! What each thread of this process has used so far: CPU time, and how often it gave its CPU up or lost it. Not
//! here: the process as a whole (`cpu_time`).

use std::collections::BTreeMap;
use std::time::Duration;
use std::{fs, io};

/// What a thread has used so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Used {
    /// Its name.
    pub(crate) name: String,
    /// CPU time. If it runs just now, what it has used since the last tick may be missing.
    pub(crate) cpu: Duration,
    /// How often it went to sleep, and so how often it was woken.
    pub(crate) sleeps: u64,
    /// How often it lost its CPU to another thread, or yielded it.
    pub(crate) preemptions: u64,
}

/// The threads of this process by the system's number; none if the system does not tell.
pub(crate) fn all() -> Option<BTreeMap<u32, Used>> {
    let tasks = fs::read_dir("/proc/self/task").ok()?;
    let numbers = tasks.filter_map(|task| task.ok()?.file_name().to_str()?.parse::<u32>().ok());
    // A thread may end between two looks; it is left out.
    let found = numbers.filter_map(|number| Some((number, of(number).ok()??)));
    Some(found.collect())
}

/// What the thread of this number has used; none if the system tells it in another form.
fn of(number: u32) -> io::Result<Option<Used>> {
    let read = |file: &str| fs::read_to_string(format!("/proc/self/task/{number}/{file}"));
    let (name, scheduled, status) = (read("comm")?, read("schedstat")?, read("status")?);
    let field = |key: &str| {
        status.lines().find_map(|line| line.strip_prefix(key)?.trim().parse::<u64>().ok())
    };
    let nanoseconds = scheduled.split_whitespace().next().and_then(|word| word.parse().ok());
    Ok(nanoseconds.zip(field("voluntary_ctxt_switches:")).map(|(cpu, sleeps)| Used {
        name: name.trim_end().to_owned(),
        cpu: Duration::from_nanos(cpu),
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
