//! Rivals in Java, compiled by javac. Maven Central provides the Disruptor on first use, and the
//! user's cache keeps it.

use std::env;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::cache;
use super::program::{self, Program, Source};
use super::tool::{self, ToolError};

/// A library, or two bare words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JavaRival {
    /// Two bare words.
    Bare,
    /// `java.util.concurrent.ArrayBlockingQueue`.
    ArrayBlockingQueue,
    /// The LMAX Disruptor.
    Lmax,
}

/// The protocol, the events and the work of stages.
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
    ("Sharing.java", include_str!("../../java/Sharing.java")),
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
    ("LmaxSharing.java", include_str!("../../java/LmaxSharing.java")),
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
const DISRUPTOR: &str = "disruptor-4.0.0";
const DISRUPTOR_ARTIFACT: &str = "com.lmax:disruptor:4.0.0";
/// The Maven goal that copies an artefact into a folder.
const COPY: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy";

/// The flags of a JVM: the throughput collector, whose threads run only in pauses; a heap that does
/// not grow during a run; and no performance data file in the system's folder.
const JVM: [&str; 4] = ["-XX:+UseParallelGC", "-Xms256m", "-XX:-UsePerfData", "-cp"];

impl JavaRival {
    /// Returns its sources besides the common ones, and its class with `main`.
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
    /// [`ToolError`] if a tool is not installed, or the Disruptor is not available.
    pub(crate) fn build(self) -> Result<Program, ToolError> {
        let versions = [tool::version("javac", "--version")?, tool::version("java", "--version")?];
        let (sources, main) = self.source();
        let sources = [COMMON, sources].concat();
        let library = if self == Self::Lmax { Some(disruptor()?) } else { None };
        let folder = cache::keep(&cache::name_of(main, &(&sources, versions)), |folder| {
            program::write(&sources, folder)?;
            let mut compiler = Command::new("javac");
            compiler.args(["-nowarn", "-encoding", "UTF-8", "-cp"]);
            compiler.arg(class_path(folder, library.as_deref())?);
            compiler.args(sources.iter().map(|(name, _)| name));
            tool::run(&mut compiler, folder)
        })?;
        let class_path = class_path(&folder, library.as_deref())?;
        let flags = JVM.map(OsString::from).into_iter();
        Ok(Program::new("java", flags.chain([class_path, main.into()])))
    }
}

/// Returns the class path: `folder`, and the archive of a `library`.
///
/// # Errors
///
/// [`ToolError::File`] if the path of `folder`, in the cache, contains the character that separates
/// paths.
fn class_path(folder: &Path, library: Option<&Path>) -> Result<OsString, ToolError> {
    let joined = env::join_paths([folder].into_iter().chain(library));
    joined.map_err(|reason| ToolError::File {
        action: "take as a class path:",
        path: folder.to_owned(),
        source: io::Error::other(reason),
    })
}

/// Returns the Disruptor's archive, from the cache or from Maven Central.
fn disruptor() -> Result<PathBuf, ToolError> {
    let folder = cache::keep(DISRUPTOR, |folder| {
        let mut maven = Command::new("mvn");
        maven.args(["-q", "-B", COPY]).arg(format!("-Dartifact={DISRUPTOR_ARTIFACT}"));
        let mut output = OsString::from("-DoutputDirectory=");
        output.push(folder);
        tool::run(maven.arg(output), folder)
    })?;
    Ok(folder.join(format!("{DISRUPTOR}.jar")))
}
