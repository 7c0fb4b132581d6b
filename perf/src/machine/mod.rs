//! Where the numbers were measured. A speed without its machine says nothing.

pub(crate) mod busy_threads; // load by another process
pub(crate) mod child; // this program once more, as a process that does not outlive it
pub(crate) mod cpu_time; // what a run costs
pub(crate) mod neighbours; // what else used the machine meanwhile
pub(crate) mod placement; // which CPU a thread runs on
mod quota; // the CPU time that a container allows
pub(crate) mod switches; // context switches of the process
pub(crate) mod threads; // what each thread has used

use std::fmt;
use std::num::NonZeroUsize;
use std::thread;
use std::time::SystemTime;

use serde::Serialize;
use sysinfo::{CpuRefreshKind, RefreshKind, System};

/// The machine and the builds of one report.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Machine {
    /// Operating system, as the compiler calls it.
    os: &'static str,
    /// Architecture, as the compiler calls it.
    arch: &'static str,
    /// Version of the kernel.
    kernel: String,
    /// Model of the first CPU.
    cpu: String,
    /// CPUs of the machine, hardware threads counted.
    logical_cpus: usize,
    /// CPUs that this process may use, after affinity and quotas.
    available_parallelism: usize,
    /// CPUs that its quota allows it, as a mean; none without a quota.
    quota_cpus: Option<f64>,
    /// The CPUs that this process may use, by number; none if the system does not tell.
    affinity: Option<Vec<usize>>,
    /// When the measurement began, in UTC.
    measured_at: String,
    /// The commit of this binary, with `-dirty` if it had changes; `unknown` outside of a checkout.
    commit: &'static str,
    /// The compiler of this binary.
    rustc: &'static str,
    /// The version of Lapwing.
    lapwing: &'static str,
    /// CPUs that others used during the measurement, as a mean; none if that is not known.
    pub(crate) cpus_used_by_others: Option<f64>,
}

impl Machine {
    /// Looks at this machine.
    pub(crate) fn detect() -> Self {
        let logical_cpus = cpus().cpus().len();
        let available_parallelism = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Self {
            os: std::env::consts::OS,
            arch: std::env::consts::ARCH,
            kernel: System::kernel_version().unwrap_or_else(unknown),
            cpu: cpu(),
            logical_cpus: logical_cpus.max(available_parallelism),
            available_parallelism,
            quota_cpus: quota::cpus(),
            affinity: placement::allowed().map(|cpus| cpus.iter().map(|cpu| cpu.id).collect()),
            measured_at: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            commit: env!("LAPWING_COMMIT"),
            rustc: env!("LAPWING_RUSTC"),
            lapwing: env!("CARGO_PKG_VERSION"),
            cpus_used_by_others: None, // known after the measurement
        }
    }

    /// CPUs that this process may use.
    pub(crate) const fn available_parallelism(&self) -> usize {
        self.available_parallelism
    }
}

/// The model of the first CPU.
pub(crate) fn cpu() -> String {
    let system = cpus();
    let model = system.cpus().first().map(|cpu| cpu.brand().trim());
    model.filter(|name| !name.is_empty()).map_or_else(unknown, str::to_owned)
}

/// What the system tells of its CPUs.
fn cpus() -> System {
    System::new_with_specifics(RefreshKind::nothing().with_cpu(CpuRefreshKind::nothing()))
}

/// What is reported when the system does not tell.
fn unknown() -> String {
    "unknown".to_owned()
}

impl fmt::Display for Machine {
    /// One line for the head of a report.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            os, arch, kernel, cpu, logical_cpus, available_parallelism, rustc, lapwing, ..
        } = self;
        write!(
            formatter,
            "lapwing {lapwing} | {cpu}, {logical_cpus} CPUs ({available_parallelism} usable) | \
             {os} {kernel} {arch} | {rustc}"
        )
    }
}
