//! The machine of the measurement. A speed is meaningless without it.

use std::fmt;
use std::num::NonZeroUsize;
use std::thread;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sysinfo::{CpuRefreshKind, RefreshKind, System};

use crate::quota;

/// CPUs that others may use on a machine that still counts as quiet.
const QUIET_CPUS: f64 = 0.1;

/// The machine and the builds of one report.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Machine {
    /// Operating system, in the compiler's naming.
    os: String,
    /// Architecture, in the compiler's naming.
    arch: String,
    /// Version of the kernel.
    kernel: String,
    /// Model of the first CPU.
    cpu: String,
    /// CPUs of the machine, including hardware threads.
    logical_cpus: usize,
    /// CPUs that this process may use, after affinity and quotas.
    available_parallelism: usize,
    /// Mean number of CPUs that the quota allows, or `None` without a quota.
    quota_cpus: Option<f64>,
    /// The numbers of the CPUs that this process may use, or `None` if the system does not report
    /// them.
    affinity: Option<Vec<usize>>,
    /// The start of the measurement, in UTC.
    measured_at: String,
    /// The commit of this binary, with `-dirty` if it had changes, or `unknown` outside of a
    /// checkout.
    commit: String,
    /// The compiler of this binary.
    rustc: String,
    /// The version of Lapwing.
    lapwing: String,
    /// Mean number of CPUs that others used during the measurement, or `None` if unknown.
    pub cpus_used_by_others: Option<f64>,
}

impl Machine {
    /// Detects this machine. The binary is that of the commit at the time of the build.
    #[must_use]
    pub fn detect() -> Self {
        let logical_cpus = cpus().cpus().len();
        let available_parallelism = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Self {
            os: std::env::consts::OS.to_owned(),
            arch: std::env::consts::ARCH.to_owned(),
            kernel: System::kernel_version().unwrap_or_else(unknown),
            cpu: cpu(),
            logical_cpus: logical_cpus.max(available_parallelism),
            available_parallelism,
            quota_cpus: quota::cpus(),
            affinity: core_affinity::get_core_ids()
                .map(|cpus| cpus.iter().map(|cpu| cpu.id).collect()),
            measured_at: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            commit: env!("LAPWING_COMMIT").to_owned(),
            rustc: env!("LAPWING_RUSTC").to_owned(),
            lapwing: env!("CARGO_PKG_VERSION").to_owned(),
            cpus_used_by_others: None, // known after the measurement
        }
    }

    /// Returns the start of the measurement, in UTC.
    #[must_use]
    pub fn measured_at(&self) -> &str {
        &self.measured_at
    }

    /// Returns a warning, if others used the machine during the measurement.
    #[must_use]
    pub fn disturbance(&self) -> Option<String> {
        let others = self.cpus_used_by_others.filter(|cpus| *cpus > QUIET_CPUS)?;
        Some(format!(
            "others used {others:.2} CPUs meanwhile: repeat on a quiet machine before you compare"
        ))
    }

    /// Returns the number of CPUs that this process may use.
    #[must_use]
    pub const fn available_parallelism(&self) -> usize {
        self.available_parallelism
    }
}

/// Returns the model of the first CPU, or `unknown`.
#[must_use]
pub fn cpu() -> String {
    let system = cpus();
    let model = system.cpus().first().map(|cpu| cpu.brand().trim());
    model.filter(|name| !name.is_empty()).map_or_else(unknown, str::to_owned)
}

/// Queries the system for its CPUs.
fn cpus() -> System {
    System::new_with_specifics(RefreshKind::nothing().with_cpu(CpuRefreshKind::nothing()))
}

/// Returns the text for a value that the system does not report.
fn unknown() -> String {
    "unknown".to_owned()
}

impl fmt::Display for Machine {
    /// Writes one line for the head of a report.
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
