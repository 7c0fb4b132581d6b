//! The bare exchange in other languages: compiled when it is first asked for, run as a process that
//! takes its own time. A compiler that is not there is no error; the row says so.

use std::io;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::Duration;
use std::{env, fs, process};

use crate::crew::RunError;
use crate::run::Pass;

/// A language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Cpp,
    Java,
}

/// A program that was compiled; its files go when it is dropped.
#[derive(Debug)]
pub(super) struct Program {
    language: Language,
    folder: PathBuf,
}

impl Language {
    pub(super) const ALL: [Self; 2] = [Self::Cpp, Self::Java];

    /// The name in a report.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Cpp => "bare-cpp",
            Self::Java => "bare-java",
        }
    }

    const fn source(self) -> (&'static str, &'static str) {
        match self {
            Self::Cpp => ("ping_pong.cpp", include_str!("ping_pong.cpp")),
            Self::Java => ("PingPong.java", include_str!("PingPong.java")),
        }
    }

    fn compiler(self) -> Command {
        let (compiler, flags): (_, &[&str]) = match self {
            Self::Cpp => ("g++", &["-O2", "-std=c++17", "-pthread", "-o", "ping_pong"]),
            Self::Java => ("javac", &["-d", "."]),
        };
        let mut command = Command::new(compiler);
        command.args(flags).arg(self.source().0);
        command
    }

    /// Compiles the program.
    ///
    /// # Errors
    ///
    /// What is missing, in a few words: the compiler, or room for its files.
    pub(super) fn compile(self) -> Result<Program, String> {
        let name = self.name();
        let folder = env::temp_dir().join(format!("lapwing-{name}-{}", process::id()));
        let no_folder = |error: io::Error| format!("no folder to compile in: {error}");
        fs::create_dir_all(&folder).map_err(no_folder)?;
        let program = Program { language: self, folder };
        let (file, text) = self.source();
        fs::write(program.folder.join(file), text).map_err(no_folder)?;

        let mut compiler = self.compiler();
        let tool = compiler.get_program().to_string_lossy().into_owned();
        match compiler.current_dir(&program.folder).output() {
            Ok(output) if output.status.success() => Ok(program),
            Ok(output) => Err(format!("{tool} failed: {}", first_line(&output.stderr))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(format!("{tool} is not installed"))
            }
            Err(error) => Err(format!("{tool} cannot run: {error}")),
        }
    }
}

impl Program {
    /// The name in a report.
    pub(super) const fn name(&self) -> &'static str {
        self.language.name()
    }

    /// Exchanges the numbers up to `exchanges` once.
    ///
    /// # Errors
    ///
    /// [`RunError::Foreign`] if the program fails or prints something else than a time and a sum.
    pub(super) fn run(&self, exchanges: u32) -> Result<Pass, RunError> {
        let mut command = match self.language {
            Language::Cpp => Command::new(self.folder.join("ping_pong")),
            Language::Java => {
                let mut java = Command::new("java");
                java.arg("-cp").arg(&self.folder).arg("PingPong");
                java
            }
        };
        let failed = |reason: String| RunError::Foreign(reason);
        let output = command.arg(exchanges.to_string()).output();
        let output = output.map_err(|error| failed(error.to_string()))?;
        result(&output).ok_or_else(|| failed(first_line(&output.stderr)))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // What stays behind is a few kilobytes in the system's folder for such things.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// What a program that succeeded has printed.
fn result(output: &Output) -> Option<Pass> {
    if !output.status.success() {
        return None;
    }
    let text = std::str::from_utf8(&output.stdout).ok()?;
    let (nanoseconds, sum) = text.trim().split_once(' ')?;
    Some(Pass {
        elapsed: Duration::from_nanos(nanoseconds.parse().ok()?),
        cpu_time: None,
        answers: vec![sum.parse().ok()?],
        events_per_batch: 1.0,
    })
}

fn first_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    text.lines().next().unwrap_or("it said nothing").to_owned()
}
