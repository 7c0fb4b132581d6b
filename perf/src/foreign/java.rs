//! Rivals in Java: compiled by javac; the Disruptor itself comes from Maven Central on first use,
//! into the user's cache.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use super::program::{self, Program, Source};
use super::tool::{self, ToolError};

/// A library, or two bare words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JavaRival {
    /// Two words and nothing else.
    Bare,
    /// `java.util.concurrent.ArrayBlockingQueue`.
    ArrayBlockingQueue,
    /// The LMAX Disruptor.
    Lmax,
}

/// The protocol, events and the work of stages.
const COMMON: &[Source] = &[
    ("Child.java", include_str!("../../java/Child.java")),
    ("Clock.java", include_str!("../../java/Clock.java")),
    ("Crew.java", include_str!("../../java/Crew.java")),
    ("Event.java", include_str!("../../java/Event.java")),
    ("Event256.java", include_str!("../../java/Event256.java")),
    ("Event32.java", include_str!("../../java/Event32.java")),
    ("Event64.java", include_str!("../../java/Event64.java")),
    ("Event8.java", include_str!("../../java/Event8.java")),
    ("Finish.java", include_str!("../../java/Finish.java")),
    ("Histogram.java", include_str!("../../java/Histogram.java")),
    ("Pace.java", include_str!("../../java/Pace.java")),
    ("Placement.java", include_str!("../../java/Placement.java")),
    ("Requests.java", include_str!("../../java/Requests.java")),
    ("Rival.java", include_str!("../../java/Rival.java")),
    ("Stamped.java", include_str!("../../java/Stamped.java")),
    ("WarmUp.java", include_str!("../../java/WarmUp.java")),
    ("Work.java", include_str!("../../java/Work.java")),
    ("Workload.java", include_str!("../../java/Workload.java")),
];

/// The graphs over a Disruptor.
const LMAX: &[Source] = &[
    ("LmaxChild.java", include_str!("../../java/LmaxChild.java")),
    ("LmaxGraph.java", include_str!("../../java/LmaxGraph.java")),
    ("LmaxHandler.java", include_str!("../../java/LmaxHandler.java")),
    ("LmaxHandlers.java", include_str!("../../java/LmaxHandlers.java")),
    ("LmaxLatency.java", include_str!("../../java/LmaxLatency.java")),
    ("LmaxPingPong.java", include_str!("../../java/LmaxPingPong.java")),
    ("LmaxRival.java", include_str!("../../java/LmaxRival.java")),
    ("LmaxTopologies.java", include_str!("../../java/LmaxTopologies.java")),
    ("Stage.java", include_str!("../../java/Stage.java")),
];

/// The graphs over queues.
const QUEUE: &[Source] = &[
    ("QueueArcs.java", include_str!("../../java/QueueArcs.java")),
    ("QueueChild.java", include_str!("../../java/QueueChild.java")),
    ("QueueLatency.java", include_str!("../../java/QueueLatency.java")),
    ("QueueRival.java", include_str!("../../java/QueueRival.java")),
    ("QueueTopologies.java", include_str!("../../java/QueueTopologies.java")),
];

/// Two words.
const BARE: &[Source] = &[("BareChild.java", include_str!("../../java/BareChild.java"))];

/// The version of the Disruptor that is measured.
const DISRUPTOR: &str = "disruptor-4.0.0.jar";
const DISRUPTOR_ARTIFACT: &str = "com.lmax:disruptor:4.0.0";
/// What copies an artefact into a folder.
const COPY: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy";

/// How a JVM is started. The collector that is made for throughput: its threads run in pauses only.
/// A heap that does not have to grow within a run. No file in the system's folder for those who
/// monitor.
const JVM: [&str; 4] = ["-XX:+UseParallelGC", "-Xms256m", "-XX:-UsePerfData", "-cp"];

impl JavaRival {
    /// Its sources beside the common ones, and its class with `main`.
    const fn source(self) -> (&'static [Source], &'static str) {
        match self {
            Self::Bare => (BARE, "BareChild"),
            Self::ArrayBlockingQueue => (QUEUE, "QueueChild"),
            Self::Lmax => (LMAX, "LmaxChild"),
        }
    }

    /// Compiles it.
    ///
    /// # Errors
    ///
    /// [`ToolError`]: a tool is not installed, or the Disruptor cannot be had.
    pub(crate) fn build(self) -> Result<Program, ToolError> {
        let (sources, main) = self.source();
        let sources = [COMMON, sources].concat();
        let folder = program::folder_of(&sources)?;
        for tool in ["javac", "java"] {
            tool::run(Command::new(tool).arg("-version"), folder.path())?;
        }
        let mut class_path = vec![folder.path().to_owned()];
        if self == Self::Lmax {
            class_path.push(disruptor(folder.path())?);
        }
        let class_path = env::join_paths(class_path).map_err(io::Error::other)?;
        let mut compiler = Command::new("javac");
        compiler.args(["-nowarn", "-encoding", "UTF-8", "-cp"]).arg(&class_path);
        compiler.args(sources.iter().map(|(name, _)| name));
        tool::run(&mut compiler, folder.path())?;

        let flags = JVM.map(OsString::from).into_iter();
        Ok(Program::new(folder, "java", flags.chain([class_path, main.into()])))
    }
}

/// The Disruptor's archive, from the cache or from Maven Central; tools run in `folder`.
fn disruptor(folder: &Path) -> Result<PathBuf, ToolError> {
    let cache = cache();
    let archive = cache.join(DISRUPTOR);
    if archive.is_file() {
        return Ok(archive);
    }
    fs::create_dir_all(&cache)?;
    // Into a folder of its own first: who finds it in the cache finds all of it.
    let download = tempfile::Builder::new().prefix("download-").tempdir_in(&cache)?;
    let mut maven = Command::new("mvn");
    maven.args(["-q", "-B", COPY]).arg(format!("-Dartifact={DISRUPTOR_ARTIFACT}"));
    let mut output = OsString::from("-DoutputDirectory=");
    output.push(download.path());
    tool::run(maven.arg(output), folder)?;
    fs::rename(download.path().join(DISRUPTOR), &archive)?;
    Ok(archive)
}

/// Where downloads stay from one use to the next.
fn cache() -> PathBuf {
    let set = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || env::home_dir().map(|home| home.join(".cache"));
    set.or_else(home).unwrap_or_else(env::temp_dir).join("lapwing")
}
