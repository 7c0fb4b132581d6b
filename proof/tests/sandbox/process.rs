//! Processes for one test each, and the filter that refuses `membarrier`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::{env, process};

use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, waitpid};
use rustix::thread::membarrier_query;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter_all_threads};

/// Set in the process of a test.
const OWN_PROCESS: &str = "LAPWING_SANDBOX_PROCESS";

/// Runs the body of the test `name` in a process of its own, since a filter stays until its process ends.
pub(crate) fn in_own_process(name: &str, body: impl FnOnce()) {
    if env::var_os(OWN_PROCESS).is_some() {
        return body();
    }
    let program = env::current_exe().expect("a process knows its program");
    let mut command = Command::new(program);
    command.args(["--exact", name, "--nocapture", "--test-threads=1"]).env(OWN_PROCESS, "1");
    let status = command.status().expect("the program exists");
    assert!(status.success(), "{name}: {status}");
}

/// Makes the kernel answer each `membarrier` of this process with `error`. If it cannot, says so and ends the process:
/// the test did not run, and has not failed.
pub(crate) fn refuse_membarrier(error: Errno) {
    if membarrier_query().is_empty() {
        skip("there is no membarrier to refuse");
    }
    if let Err(error) = apply_filter_all_threads(&filter(error)) {
        skip(&format!("a filter of system calls is not permitted: {error}"));
    }
    assert!(membarrier_query().is_empty(), "the filter does not refuse membarrier");
}

fn filter(error: Errno) -> BpfProgram {
    let refused = SeccompAction::Errno(error.raw_os_error().cast_unsigned());
    let arch = env::consts::ARCH.try_into().expect("main.rs lists the architectures");
    let rules = [(libc::SYS_membarrier, vec![])].into();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, arch);
    filter.expect("the actions differ").try_into().expect("one rule fits")
}

fn skip(reason: &str) -> ! {
    println!("skipped: {reason}");
    process::exit(0);
}

/// Runs `body` in a forked child.
pub(crate) fn in_fork(body: impl FnOnce()) {
    // SAFETY: the other threads of this process only wait for it, and hold no lock that the child needs.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let is_done = catch_unwind(AssertUnwindSafe(body)).is_ok();
        process::exit(if is_done { 0 } else { 1 });
    }
    let child = Pid::from_raw(child).expect("fork returned a child, or -1, which is none");
    let ended = waitpid(Some(child), WaitOptions::empty()).expect("the child exists");
    let status = ended.and_then(|(_, status)| status.exit_status());
    assert_eq!(status, Some(0), "the child failed");
}
