//! A rival in Java: compiled once, and a process that answers a line with a line. Not here: what the
//! lines say (`chronicle`).

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::failure::Failure;

/// The files that a rival is made from: name and text. The first has `main`, in the class of its
/// name. `pom.xml` names the libraries.
pub(crate) type Sources = [(&'static str, &'static str); 2];

/// Compiles `sources` with the libraries of their `pom.xml`, unless this was done before. Returns the
/// folder.
fn compiled(sources: &Sources, cache: &Path) -> Result<PathBuf, Failure> {
    let mut hasher = DefaultHasher::new();
    sources.hash(&mut hasher);
    let folder = cache.join(format!("journal-rival-{:016x}", hasher.finish()));
    if folder.is_dir() {
        return Ok(folder);
    }
    eprintln!("building {}, which is kept for next time", sources[0].0);
    fs::create_dir_all(cache)?;
    // A folder with the final name is complete.
    let draft = tempfile::tempdir_in(cache)?;
    for (name, text) in sources {
        fs::write(draft.path().join(name), text)?;
    }
    let goal = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:build-classpath";
    let maven = ["-q", "-B", goal, "-Dmdep.outputFile=classpath"];
    run(Command::new("mvn").args(maven).current_dir(draft.path()))?;
    let libraries = fs::read_to_string(draft.path().join("classpath"))?;
    let javac = ["-nowarn", "-cp", &libraries, sources[0].0];
    run(Command::new("javac").args(javac).current_dir(draft.path()))?;
    if fs::rename(draft.path(), &folder).is_err() && !folder.is_dir() {
        return Err(format!("cannot write {}", folder.display()).into());
    }
    Ok(folder)
}

/// Runs a tool to its end.
fn run(command: &mut Command) -> Result<(), Failure> {
    let tool = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => format!("{tool} is not installed"),
        _ => format!("cannot run {tool}: {error}"),
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    Err(format!("{tool} failed: {}", said.lines().next().unwrap_or("it said nothing")).into())
}

/// The process. It is killed when this value is dropped, and ends when its input does.
#[derive(Debug)]
pub(crate) struct Java {
    process: Child,
    requests: ChildStdin,
    /// Lines of its output. The channel closes when the output does.
    lines: Receiver<String>,
}

impl Java {
    /// Starts a rival, which is compiled into a folder of `cache`.
    pub(crate) fn start(sources: &Sources, flags: &[&str], cache: &Path) -> Result<Self, Failure> {
        let folder = compiled(sources, cache)?;
        let libraries = fs::read_to_string(folder.join("classpath"))?;
        let class = sources[0].0.trim_end_matches(".java");
        let mut process = Command::new("java")
            .args(flags)
            .args(["-cp", &format!("{}:{libraries}", folder.display()), class])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(folder.join("java.log"))?)
            .spawn()?;
        let (Some(requests), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            unreachable!("both were asked for");
        };
        let (line, lines) = channel();
        // The thread ends with the process.
        std::thread::spawn(move || {
            BufReader::new(output)
                .lines()
                .map_while(Result::ok)
                .try_for_each(|text| line.send(text))
        });
        Ok(Self { process, requests, lines })
    }

    /// Sends a request. Returns what follows `reply` in the answer.
    ///
    /// Lines that are no answer are of libraries.
    pub(crate) fn ask(&mut self, request: &str, patience: Duration) -> Result<String, Failure> {
        writeln!(self.requests, "{request}")?;
        loop {
            let line = self.lines.recv_timeout(patience);
            let line = line.map_err(|_| format!("no answer to `{request}`: see java.log"))?;
            match line.split_once(' ') {
                Some(("reply", answer)) => return Ok(answer.to_owned()),
                Some(("error", reason)) => return Err(format!("`{request}`: {reason}").into()),
                _ => {}
            }
        }
    }
}

impl Drop for Java {
    fn drop(&mut self) {
        // An error means that it has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
