//! The time limit of a check, and what the check waits for.

use std::process::exit;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::Result;

/// What a check waits for at the moment.
#[derive(Debug, Default)]
pub(super) struct Progress {
    what: Mutex<String>,
    /// How much of it has come.
    count: AtomicUsize,
}

impl Progress {
    /// Notes what the check waits for from now on.
    pub(super) fn wait_for(&self, what: impl Into<String>) {
        *self.what.lock().unwrap_or_else(PoisonError::into_inner) = what.into();
        self.count(0);
    }

    /// Notes how much of it has come.
    pub(super) fn count(&self, count: usize) {
        // Relaxed: it is only printed.
        self.count.store(count, Ordering::Relaxed);
    }

    fn describe(&self) -> String {
        let what = self.what.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match self.count.load(Ordering::Relaxed) {
            0 => what,
            count => format!("{what}, of which {count} have come"),
        }
    }
}

/// Runs a check. If it takes too long, says what it waits for, and ends the program. The programs of
/// the check end with it.
pub(super) fn within(limit: Duration, check: impl FnOnce(&Progress) -> Result<()>) -> Result<()> {
    let progress = Arc::new(Progress::default());
    let (done, finished) = channel::<()>();
    let watched = Arc::clone(&progress);
    thread::spawn(move || {
        if finished.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            let what = watched.describe();
            eprintln!("exchange: the check has not ended within {limit:?}: it waits for {what}");
            exit(1);
        }
    });
    let result = check(&progress);
    drop(done);
    result
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Runs itself again, since the program ends.
    #[test]
    fn a_check_that_took_too_long_did_not_say_what_it_waits_for() {
        const PART: &str = "LAPWING_CHECK_WAITS";
        if std::env::var_os(PART).is_some() {
            let _ = within(Duration::from_millis(20), |progress| {
                progress.wait_for("5 answers");
                progress.count(3);
                loop {
                    thread::park();
                }
            });
        }
        let name = "commands::deadline::tests::\
                    a_check_that_took_too_long_did_not_say_what_it_waits_for";
        let mut alone = Command::new(std::env::current_exe().unwrap());
        let output = alone.args([name, "--exact", "--nocapture"]).env(PART, "1").output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let expected = "exchange: the check has not ended within 20ms: it waits for 5 answers, of \
                        which 3 have come";
        assert!(said.contains(expected), "{said}");
    }
}
