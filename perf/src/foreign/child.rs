//! A process that answers requests: one line to its standard input, one line from its standard
//! output. It is ended when it is dropped, and it ends by itself when its input does, so that none
//! is left behind when this process is killed. Not here: what the lines say (`reply`, `rival`).

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child as Process, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::Builder;
use std::time::Duration;

use thiserror::Error;

use super::tool;
use crate::measure::crew::RunError;

/// The longest line of a child: four histograms, with room.
const MAX_LINE_BYTES: u64 = 16 << 20;
/// The longest line that is quoted, in characters.
const MAX_QUOTED: usize = 120;
/// How long the complaint of a child that has ended may take to arrive.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Why a child gave no answer.
#[derive(Debug, Error)]
pub(crate) enum ChildError {
    /// The system refused the process, or a thread that reads what it says.
    #[error("cannot start {program}: {source}")]
    Start {
        /// What was to be started.
        program: String,
        /// Why not.
        source: io::Error,
    },
    /// It ended before it answered.
    #[error("the process ended: {complaint}")]
    Died {
        /// The first line of its standard error.
        complaint: String,
    },
    /// It did not answer in time, and was ended.
    #[error("the process gave no answer: waited_seconds={}", waited.as_secs_f64())]
    Silent {
        /// How long it was waited for.
        waited: Duration,
    },
    /// It answered that it cannot do this.
    #[error("the process refused: {0}")]
    Refused(String),
    /// It answered something else than a result.
    #[error("the process answered nonsense: {0:?}")]
    Nonsense(String),
}

impl From<ChildError> for RunError {
    fn from(error: ChildError) -> Self {
        Self::Foreign(error.to_string())
    }
}

impl ChildError {
    /// The error of an answer that is none.
    pub(super) fn nonsense(line: &str) -> Self {
        Self::Nonsense(line.chars().take(MAX_QUOTED).collect())
    }
}

/// A process that answers requests.
#[derive(Debug)]
pub(super) struct Child {
    process: Process,
    requests: ChildStdin,
    /// Its lines; ends with its output.
    replies: Receiver<String>,
    /// The first line of its standard error, once there is one.
    complaint: Receiver<String>,
}

impl Child {
    /// Starts `command`.
    ///
    /// # Errors
    ///
    /// [`ChildError::Start`] if the system refuses the process or its threads here.
    pub(super) fn start(command: &mut Command) -> Result<Self, ChildError> {
        Self::spawn(command).map_err(|source| {
            let program = command.get_program().to_string_lossy().into_owned();
            ChildError::Start { program, source }
        })
    }

    /// As [`start`](Self::start), with the system's reason.
    fn spawn(command: &mut Command) -> io::Result<Self> {
        // Ctrl-C is for this process, which lets the run under way come to its end.
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
                // Nobody may want to know it.
                let _ = word.send(first);
            }
            // The rest is read so that the child never waits for a reader.
            io::copy(&mut errors, &mut io::sink())
        })?;
        Ok(child)
    }

    /// Sends `request` and waits for the reply.
    ///
    /// # Errors
    ///
    /// [`ChildError`] if there is none within `patience`: the child is of no use any more.
    ///
    /// # Blocking
    ///
    /// At most for `patience`, apart from the end of a child that failed.
    pub(super) fn ask(&mut self, request: &str, patience: Duration) -> Result<String, ChildError> {
        if let Ok(unasked) = self.replies.try_recv() {
            return Err(ChildError::nonsense(&unasked));
        }
        if writeln!(self.requests, "{request}").and_then(|()| self.requests.flush()).is_err() {
            return Err(self.died());
        }
        match self.replies.recv_timeout(patience) {
            Ok(reply) => Ok(reply),
            Err(RecvTimeoutError::Timeout) => Err(ChildError::Silent { waited: patience }),
            Err(RecvTimeoutError::Disconnected) => Err(self.died()),
        }
    }

    /// The error of a child that has hung up.
    fn died(&mut self) -> ChildError {
        self.end();
        let complaint = self.complaint.recv_timeout(LAST_WORDS);
        ChildError::Died { complaint: complaint.unwrap_or_else(|_| "it said nothing".to_owned()) }
    }

    /// Ends the process, if it has not ended yet.
    fn end(&mut self) {
        // It has ended already, or the system has lost it.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.end();
    }
}

/// The lines of `output`, until it ends or a line is too long or no text.
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
