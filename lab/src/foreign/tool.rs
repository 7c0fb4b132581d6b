//! Compilers and Maven. They run to the end or until a timeout, and their error is one line.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use thiserror::Error;

/// The timeout of a compiler or a download. On a busy machine g++ takes half a minute.
const PATIENCE: Duration = Duration::from_secs(300);
/// The interval between two polls of a tool. Nothing is measured meanwhile.
const LOOK: Duration = Duration::from_millis(10);
/// The file for a tool's output. With a pipe, a tool with much output would wait for a reader.
const LOG: &str = "tool.log";

/// The reason why a rival cannot be built.
#[derive(Debug, Error)]
pub(crate) enum ToolError {
    /// There is no such program.
    #[error("{tool} is not installed")]
    NotInstalled {
        /// Its name.
        tool: String,
    },
    /// It reported an error.
    #[error("{tool} failed: {complaint}")]
    Failed {
        /// Its name.
        tool: String,
        /// Its first error.
        complaint: String,
    },
    /// It did not complete in time.
    #[error("{tool} took too long: most_seconds={}", most.as_secs())]
    Slow {
        /// Its name.
        tool: String,
        /// The timeout.
        most: Duration,
    },
    /// The system refused the process.
    #[error("cannot run {tool}: {source}")]
    Process {
        /// The name of its program.
        tool: String,
        /// The cause.
        source: io::Error,
    },
    /// The system refused a file or a folder.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// The action that failed.
        action: &'static str,
        /// Its path.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

impl ToolError {
    /// Returns the error of writing or creating `path`.
    pub(super) fn write(path: &Path, source: io::Error) -> Self {
        Self::File { action: "write", path: path.to_owned(), source }
    }
}

/// Returns the version text that `tool` prints for `flag`.
///
/// # Errors
///
/// [`ToolError`] if it is not installed, or fails.
pub(super) fn version(tool: &str, flag: &str) -> Result<String, ToolError> {
    let output = Command::new(tool).arg(flag).stdin(Stdio::null()).output();
    let output = output.map_err(|error| not_started(tool, error))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        let complaint = complaint(&output.stderr);
        Err(ToolError::Failed { tool: tool.to_owned(), complaint })
    }
}

/// Returns the error of a `tool` that did not start.
fn not_started(tool: &str, error: io::Error) -> ToolError {
    match error.kind() {
        io::ErrorKind::NotFound => ToolError::NotInstalled { tool: tool.to_owned() },
        _ => ToolError::Process { tool: tool.to_owned(), source: error },
    }
}

/// Runs `command` in `folder`.
///
/// # Errors
///
/// [`ToolError`] if it is not installed, fails, or reaches the timeout.
///
/// # Blocking
///
/// Waits until it ends.
pub(super) fn run(command: &mut Command, folder: &Path) -> Result<(), ToolError> {
    run_within(command, folder, PATIENCE)
}

/// Runs `command` in `folder`, at most for `most`.
fn run_within(command: &mut Command, folder: &Path, most: Duration) -> Result<(), ToolError> {
    let tool = command.get_program().to_string_lossy().into_owned();
    let log = folder.join(LOG);
    let opened = File::create(&log).and_then(|output| Ok((output.try_clone()?, output)));
    let (errors, output) = opened.map_err(|source| ToolError::write(&log, source))?;
    in_a_group_of_its_own(command);
    let started = command
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::from(output))
        .stderr(Stdio::from(errors))
        .spawn();
    let process = started.map_err(|error| not_started(&tool, error))?;
    match wait(process, most) {
        Err(source) => Err(ToolError::Process { tool, source }),
        Ok(None) => Err(ToolError::Slow { tool, most }),
        Ok(Some(status)) if status.success() => Ok(()),
        Ok(Some(_)) => match fs::read(&log) {
            Ok(output) => Err(ToolError::Failed { tool, complaint: complaint(&output) }),
            Err(source) => Err(ToolError::File { action: "read", path: log, source }),
        },
    }
}

/// Returns the exit status of `process`, or `None` if it was killed after `most`.
fn wait(mut process: Child, most: Duration) -> io::Result<Option<ExitStatus>> {
    let started = Instant::now();
    while started.elapsed() < most {
        if let Some(status) = process.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(LOOK);
    }
    kill_group(&mut process)?;
    process.wait()?;
    Ok(None)
}

/// Starts `command` in its own process group. Maven is a script that starts another process, and
/// Ctrl-C must not reach them.
pub(super) fn in_a_group_of_its_own(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(not(unix))]
    let _ = command;
}

/// Kills `process` and all processes that it has started.
fn kill_group(process: &mut Child) -> io::Result<()> {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process_group};

        if let Some(group) = i32::try_from(process.id()).ok().and_then(Pid::from_raw) {
            return Ok(kill_process_group(group, Signal::KILL)?);
        }
    }
    process.kill()
}

/// Returns the first line with an error in the output of a tool, without its location, or else the
/// first line.
fn complaint(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let errors = text.lines().filter_map(|line| {
        let after = line.split_once("error: ").or_else(|| line.split_once("[ERROR] "))?.1;
        Some(after.strip_prefix("#error ").unwrap_or(after))
    });
    let mut lines = errors.chain(text.lines()).map(str::trim).filter(|line| !line.is_empty());
    lines.next().unwrap_or("it said nothing").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_is_not_there_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = run(&mut Command::new("no-such-compiler"), folder.path()).unwrap_err();
        assert_eq!(error.to_string(), "no-such-compiler is not installed");
    }

    #[test]
    fn what_the_system_refuses_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let gone = folder.path().join("gone");
        let error = run(&mut Command::new("no-such-compiler"), &gone).unwrap_err().to_string();
        let expected = format!("cannot write {}: ", gone.join(LOG).display());
        assert!(error.starts_with(&expected), "{error}");

        let program = folder.path().join("no-program");
        fs::write(&program, "").unwrap();
        let error = run(&mut Command::new(&program), folder.path()).unwrap_err().to_string();
        assert!(error.starts_with(&format!("cannot run {}: ", program.display())), "{error}");
    }

    #[test]
    #[cfg(unix)]
    fn a_tool_that_fails_is_quoted_and_one_that_hangs_is_ended() {
        let folder = tempfile::tempdir().unwrap();
        let shell = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            command
        };
        let error = run(&mut shell("echo a.cpp:1: error: no; exit 1"), folder.path()).unwrap_err();
        assert_eq!(error.to_string(), "sh failed: no");

        let most = Duration::from_millis(50);
        let error = run_within(&mut shell("sleep 60; true"), folder.path(), most).unwrap_err();
        assert!(matches!(error, ToolError::Slow { .. }), "{error}");
    }

    #[test]
    fn the_first_error_is_the_complaint() {
        let gcc =
            b"In file included from a:1:\nq.hpp:6:2: error: #error the header is missing\nx\n";
        assert_eq!(complaint(gcc), "the header is missing");
        assert_eq!(complaint(b"[ERROR] no network\n[ERROR] more\n"), "no network");
        assert_eq!(complaint(b"\nnothing\n"), "nothing");
        assert_eq!(complaint(b""), "it said nothing");
    }
}
