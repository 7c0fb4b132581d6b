//! A process that answers requests: one line to its standard input, one line from its standard
//! output. It is killed when this value is dropped. It also ends when its input closes, so it does
//! not outlive this process. The contents of the lines are in `reply` and `rival`.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child as Process, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::Builder;
use std::time::Duration;

use thiserror::Error;

use super::tool;
use crate::measure::crew::RunError;

/// The longest line of a child: four histograms, with a margin.
const MAX_LINE_BYTES: u64 = 16 << 20;
/// The longest quoted line, in characters.
const MAX_QUOTED: usize = 120;
/// The time to wait for the error message of a child that has exited.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The reason why a child gave no answer.
#[derive(Debug, Error)]
pub(crate) enum ChildError {
    /// The system refused the process, or a thread that reads its output.
    #[error("cannot start {program}: {source}")]
    Start {
        /// The program.
        program: String,
        /// The cause.
        source: io::Error,
    },
    /// It ended before it answered.
    #[error("the process ended: {complaint}")]
    Died {
        /// The first line of its standard error.
        complaint: String,
    },
    /// It did not answer in time, and was killed.
    #[error("the process gave no answer: waited_seconds={}", waited.as_secs_f64())]
    Silent {
        /// The time for which this process waited.
        waited: Duration,
    },
    /// It answered that it cannot do this.
    #[error("the process refused: {0}")]
    Refused(String),
    /// It sent an invalid result.
    #[error("the process sent an invalid reply: {0:?}")]
    Nonsense(String),
}

impl From<ChildError> for RunError {
    fn from(error: ChildError) -> Self {
        Self::Foreign(error.to_string())
    }
}

impl ChildError {
    /// Returns the error of an invalid reply.
    pub(crate) fn nonsense(line: &str) -> Self {
        Self::Nonsense(line.chars().take(MAX_QUOTED).collect())
    }
}

/// A process that answers requests.
#[derive(Debug)]
pub(crate) struct Child {
    process: Process,
    requests: ChildStdin,
    /// Its output lines. The channel closes when its output does.
    replies: Receiver<String>,
    /// The first line of its standard error, once there is one.
    complaint: Receiver<String>,
}

impl Child {
    /// Starts `command`.
    ///
    /// # Errors
    ///
    /// [`ChildError::Start`] if the system refuses the process or its reader threads.
    pub(crate) fn start(command: &mut Command) -> Result<Self, ChildError> {
        Self::spawn(command).map_err(|source| {
            let program = command.get_program().to_string_lossy().into_owned();
            ChildError::Start { program, source }
        })
    }

    /// Starts `command`. The error is the system's.
    fn spawn(command: &mut Command) -> io::Result<Self> {
        // Ctrl-C is for this process only, which lets the current run complete.
        tool::in_a_group_of_its_own(command);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = piped.spawn()?;
        let pipes = (process.stdin.take(), process.stdout.take(), process.stderr.take());
        let (Some(requests), Some(output), Some(errors)) = pipes else {
            unreachable!("all three were asked for");
        };
        let (line, replies) = mpsc::channel();
        let (word, complaint) = mpsc::channel();
        let child = Self { process, requests, replies, complaint };
        let named = |name: &str| Builder::new().name(name.to_owned());
        named("replies").spawn(move || lines(output).try_for_each(|text| line.send(text)))?;
        named("complaints").spawn(move || {
            let mut errors = BufReader::new(errors);
            if let Some(first) = lines(&mut errors).find(|text| !text.is_empty()) {
                // The receiver can be gone.
                let _ = word.send(first);
            }
            // Reads the rest, so that the child never blocks on a full pipe.
            io::copy(&mut errors, &mut io::sink())
        })?;
        Ok(child)
    }

    /// Sends `request` and waits for the reply.
    ///
    /// # Errors
    ///
    /// [`ChildError`] if there is no reply within `patience`. The child is then unusable.
    ///
    /// # Blocking
    ///
    /// Waits at most for `patience`, plus the time to end a child that failed.
    pub(crate) fn ask(&mut self, request: &str, patience: Duration) -> Result<String, ChildError> {
        self.tell(request)?;
        self.hear(patience)
    }

    /// Sends `request`, and returns at once. Several children work at the same time if each is told
    /// before the first one is [heard](Self::hear).
    ///
    /// # Errors
    ///
    /// [`ChildError`] if the child has ended, or has sent a line that nothing asked for.
    pub(crate) fn tell(&mut self, request: &str) -> Result<(), ChildError> {
        if let Ok(unasked) = self.replies.try_recv() {
            return Err(ChildError::nonsense(&unasked));
        }
        if writeln!(self.requests, "{request}").and_then(|()| self.requests.flush()).is_err() {
            return Err(self.died());
        }
        Ok(())
    }

    /// Waits for the reply to what it was [told](Self::tell).
    ///
    /// # Errors
    ///
    /// [`ChildError`] if there is no reply within `patience`. The child is then unusable.
    ///
    /// # Blocking
    ///
    /// Waits at most for `patience`, plus the time to end a child that failed.
    pub(crate) fn hear(&mut self, patience: Duration) -> Result<String, ChildError> {
        match self.replies.recv_timeout(patience) {
            Ok(reply) => Ok(reply),
            Err(RecvTimeoutError::Timeout) => Err(ChildError::Silent { waited: patience }),
            Err(RecvTimeoutError::Disconnected) => Err(self.died()),
        }
    }

    /// Returns its number in the system.
    #[cfg(target_os = "linux")]
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Returns the error of a child that has closed its output.
    fn died(&mut self) -> ChildError {
        self.end();
        let complaint = self.complaint.recv_timeout(LAST_WORDS);
        ChildError::Died { complaint: complaint.unwrap_or_else(|_| "it said nothing".to_owned()) }
    }

    /// Ends the process, if it has not ended yet.
    fn end(&mut self) {
        // An error means that it has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.end();
    }
}

/// Returns the lines of `output`, until it ends or a line is too long or not UTF-8.
fn lines(output: impl Read) -> impl Iterator<Item = String> {
    let mut output = BufReader::new(output);
    std::iter::from_fn(move || {
        let mut line = String::new();
        let read = output.by_ref().take(MAX_LINE_BYTES).read_line(&mut line).ok()?;
        let ended = line.ends_with('\n');
        line.truncate(line.trim_end().len());
        (read > 0 && (ended || (read as u64) < MAX_LINE_BYTES)).then_some(line)
    })
}
