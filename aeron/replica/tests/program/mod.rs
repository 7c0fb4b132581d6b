//! A leader or a follower in a process of its own, whose lines are awaited with a limit.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

/// How long a line may take.
const PATIENCE: Duration = Duration::from_secs(40);

/// Where the programs of a test meet, and the folder of either.
pub(crate) struct Place {
    aeron: PathBuf,
    leader: TempDir,
    follower: TempDir,
}

impl Place {
    /// Of programs that connect to the driver in `aeron`.
    pub(crate) fn new(aeron: &Path) -> Self {
        let folder = || tempfile::tempdir().unwrap();
        Self { aeron: aeron.to_owned(), leader: folder(), follower: folder() }
    }

    pub(crate) fn aeron(&self) -> &Path {
        &self.aeron
    }

    /// Starts the leader, and waits until it listens.
    pub(crate) fn leader(&self, acknowledge: &str) -> Program {
        Program::leader(&self.aeron, self.leader.path(), acknowledge)
    }

    /// The same, with any arguments.
    pub(crate) fn leader_with(&self, arguments: &[&str]) -> Program {
        Program::leader_with(&self.aeron, self.leader.path(), arguments)
    }

    /// Starts the follower.
    pub(crate) fn follower(&self) -> Program {
        self.follower_with(&[])
    }

    /// The same, with arguments.
    pub(crate) fn follower_with(&self, arguments: &[&str]) -> Program {
        Program::follower_with(&self.aeron, self.follower.path(), arguments)
    }
}

/// A process that is killed when this is dropped.
pub(crate) struct Program {
    process: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    address: Option<SocketAddr>,
}

impl Program {
    /// Starts a leader that listens.
    pub(crate) fn leader(aeron: &Path, folder: &Path, acknowledge: &str) -> Self {
        Self::leader_with(aeron, folder, &["--acknowledge", acknowledge])
    }

    /// The same, with any arguments.
    pub(crate) fn leader_with(aeron: &Path, folder: &Path, arguments: &[&str]) -> Self {
        let mut leader = Self::start("leader", aeron, folder, arguments);
        let address = leader.wait_for("listening: ");
        leader.address = Some(address.strip_prefix("listening: ").unwrap().parse().unwrap());
        leader
    }

    /// Starts a follower.
    pub(crate) fn follower_with(aeron: &Path, folder: &Path, arguments: &[&str]) -> Self {
        Self::start("follower", aeron, folder, arguments)
    }

    fn start(name: &str, aeron: &Path, folder: &Path, more: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_exchange-replica"));
        command.args([name, "--driver-timeout-ms", "3000"]);
        for (option, value) in [("--address", "127.0.0.1:0"), ("--hash-every", "500")] {
            if !more.contains(&option) {
                command.args([option, value]);
            }
        }
        command.arg("--aeron").arg(aeron).arg("--folder").arg(folder).args(more);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let (sender, lines) = channel();
        let stdout = BufReader::new(process.stdout.take().unwrap());
        thread::spawn(move || {
            stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let stdin = process.stdin.take();
        Self { process, stdin, lines, address: None }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address.unwrap()
    }

    /// Waits for a line that begins like this.
    pub(crate) fn wait_for(&mut self, begin: &str) -> String {
        loop {
            let line = self.lines.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|error| {
                self.kill();
                panic!("no line {begin}: {error}: {}", self.errors())
            });
            if line.starts_with(begin) {
                return line;
            }
        }
    }

    /// Says a line.
    pub(crate) fn say(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Says a line, lets the program end, and returns its last line.
    pub(crate) fn end_after(&mut self, line: &str) -> String {
        self.say(line);
        self.wait_for("promoted: ");
        self.end()
    }

    /// Lets the program end, and returns its last line.
    pub(crate) fn end(&mut self) -> String {
        drop(self.stdin.take());
        let line = self.wait_for("ended: ");
        assert!(self.process.wait().unwrap().success());
        line
    }

    /// Waits until the program fails, and returns what it says.
    pub(crate) fn failure(&mut self) -> String {
        let ended = loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(_) => {}
                Err(error) => break error,
            }
        };
        assert_eq!(ended, RecvTimeoutError::Disconnected, "the program does not end");
        assert_eq!(self.process.wait().unwrap().code(), Some(1));
        self.errors()
    }

    /// What the program has said on its standard error. It has ended.
    fn errors(&mut self) -> String {
        let mut error = String::new();
        self.process.stderr.take().unwrap().read_to_string(&mut error).unwrap();
        error
    }

    /// Whether the program has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.process.try_wait().unwrap().is_some()
    }

    pub(crate) fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
    }
}
