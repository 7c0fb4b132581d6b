//! The machine of a measurement, with the names of the laboratory's files. Only Linux says all of it.

use std::fs::read_to_string;
use std::process::Command;
use std::time::Instant;

use serde_json::{Value, json};

/// Ticks per second of `/proc`, on all processors that Linux runs on.
const TICKS_PER_SECOND: f64 = 100.0;

/// The machine, and the CPU time of other processes since the value was made.
#[derive(Debug)]
pub(crate) struct Machine {
    fixed: Value,
    begun: Instant,
    others: Option<u64>,
}

impl Machine {
    /// Detects this machine.
    pub(crate) fn detect() -> Self {
        let info = read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        let parallel = std::thread::available_parallelism().ok();
        let fixed = json!({
            "os": std::env::consts::OS,
            "arch": std::env::consts::ARCH,
            "kernel": answer("uname", &["-r"]),
            "cpu": model.map(|(_, name)| name),
            "logical_cpus": info.lines().filter(|line| line.starts_with("processor")).count(),
            "available_parallelism": parallel,
            "measured_at": answer("date", &["-u", "+%Y-%m-%dT%H:%M:%SZ"]),
            "commit": answer("git", &["describe", "--always", "--dirty", "--abbrev=10"]),
            "rustc": answer("rustc", &["--version"]),
            "lapwing": env!("CARGO_PKG_VERSION"),
        });
        Self { fixed, begun: Instant::now(), others: ticks_of_others() }
    }

    /// Returns all that is known, at the end of the measurement.
    pub(crate) fn finish(self) -> Value {
        let mut machine = self.fixed;
        let seconds = self.begun.elapsed().as_secs_f64();
        let others = self.others.zip(ticks_of_others());
        let used = others.map(|(before, after)| {
            after.saturating_sub(before) as f64 / TICKS_PER_SECOND / seconds
        });
        machine["cpus_used_by_others"] = json!(used);
        machine
    }
}

/// What a program prints, if there is one.
fn answer(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = output.status.success().then(|| String::from_utf8(output.stdout).ok())??;
    Some(text.trim().to_owned())
}

/// The busy ticks of all CPUs, without those of this process and of the children that have ended.
fn ticks_of_others() -> Option<u64> {
    let numbers = |text: &str| -> Vec<u64> { text.split(' ').flat_map(str::parse).collect() };
    let all = numbers(read_to_string("/proc/stat").ok()?.lines().next()?);
    // After the name, which may have spaces: utime is the 12th field, cstime the 15th.
    let own = read_to_string("/proc/self/stat").ok()?;
    let own: Vec<_> = own.rsplit_once(") ")?.1.split(' ').collect();
    let own: u64 = own.get(11..15)?.iter().flat_map(|ticks| ticks.parse::<u64>()).sum();
    // user, nice, system, (idle, iowait,) irq, softirq, steal.
    let busy: u64 = [0, 1, 2, 5, 6, 7].iter().filter_map(|&at| all.get(at)).sum();
    busy.checked_sub(own)
}
