//! A program that a check starts, reads and kills.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command as Process, Stdio};

use super::Result;

/// A process that prints lines, and ends with its standard input. It is killed when this is dropped.
pub(super) struct Program {
    name: &'static str,
    process: Child,
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Program {
    pub(super) fn start(name: &'static str, process: &mut Process) -> Result<Self> {
        let mut process = process.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let stdin = process.stdin.take();
        let stdout = process.stdout.take().expect("the output is piped");
        Ok(Self { name, process, stdin, lines: BufReader::new(stdout).lines() })
    }

    /// Returns the next line.
    pub(super) fn next_line(&mut self) -> Result<String> {
        let name = self.name;
        Ok(self.lines.next().ok_or_else(|| format!("the {name} has ended"))??)
    }

    /// Returns the rest of the next line, which must begin like this.
    pub(super) fn line(&mut self, begin: &str) -> Result<String> {
        let line = self.next_line()?;
        let rest = line.strip_prefix(begin);
        rest.map(str::to_owned)
            .ok_or_else(|| format!("unexpected of the {}: {line}", self.name).into())
    }

    /// Writes a line to its standard input.
    pub(super) fn say(&mut self, line: &str) -> Result<()> {
        let stdin = self.stdin.as_mut().ok_or("the standard input is closed")?;
        Ok(writeln!(stdin, "{line}")?)
    }

    /// Kills it as a crash would: it runs no more code.
    pub(super) fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// Returns what it has told before it was killed.
    pub(super) fn last_lines(&mut self) -> Vec<String> {
        self.lines.by_ref().map_while(std::io::Result::ok).collect()
    }

    /// Lets it end, and returns its last line.
    pub(super) fn end(&mut self) -> Result<String> {
        let name = self.name;
        drop(self.stdin.take());
        let last = self.last_lines().pop();
        let status = self.process.wait()?;
        if !status.success() {
            return Err(format!("the {name} ended: {status}").into());
        }
        last.ok_or_else(|| format!("the {name} did not end well").into())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
    }
}
