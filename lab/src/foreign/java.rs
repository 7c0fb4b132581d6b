//! Rivals in Java, compiled by javac. Maven Central provides the Disruptor and Aeron on first use,
//! and the user's cache keeps them.

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
    /// Aeron between processes. Its program obeys the orders of `contenders::processes`.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "processes run on Linux"))]
    Aeron,
}

/// An archive from Maven Central.
#[derive(Clone, Copy)]
struct Library {
    /// The name of its file, without the ending.
    archive: &'static str,
    artifact: &'static str,
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

/// The ends and the driver of Aeron.
const AERON: &[Source] = &[
    ("AeronAmount.java", include_str!("../../java/AeronAmount.java")),
    ("AeronChild.java", include_str!("../../java/AeronChild.java")),
    ("AeronDriver.java", include_str!("../../java/AeronDriver.java")),
    ("AeronExchange.java", include_str!("../../java/AeronExchange.java")),
    ("AeronInlet.java", include_str!("../../java/AeronInlet.java")),
    ("AeronOutlet.java", include_str!("../../java/AeronOutlet.java")),
    ("AeronStream.java", include_str!("../../java/AeronStream.java")),
    ("AeronWait.java", include_str!("../../java/AeronWait.java")),
];

/// The versions that are measured.
const DISRUPTOR: Library =
    Library { archive: "disruptor-4.0.0", artifact: "com.lmax:disruptor:4.0.0" };
const AERON_ALL: Library =
    Library { archive: "aeron-all-1.51.0", artifact: "io.aeron:aeron-all:1.51.0" };
/// The Maven goal that copies an artefact into a folder.
const COPY: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy";

/// The flags of a JVM: the throughput collector, whose threads run only in pauses; a heap that does
/// not grow during a run; and no performance data file in the system's folder.
const JVM: [&str; 3] = ["-XX:+UseParallelGC", "-Xms256m", "-XX:-UsePerfData"];
/// What Aeron needs besides, and what its `aeron-ipc.properties` set. Compiler threads never end,
/// so that their CPU time stays in that of the process.
const AERON_JVM: [&str; 8] = [
    "--add-opens",
    "java.base/jdk.internal.misc=ALL-UNNAMED",
    "--add-opens",
    "java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens",
    "java.base/java.util.zip=ALL-UNNAMED",
    "-Dagrona.disable.bounds.checks=true",
    "-XX:-UseDynamicNumberOfCompilerThreads",
];

impl JavaRival {
    /// Returns its sources besides the common ones, and its class with `main`.
    const fn source(self) -> (&'static [Source], &'static str) {
        match self {
            Self::Bare => (BARE, "BareChild"),
            Self::ArrayBlockingQueue => (QUEUE, "QueueChild"),
            Self::Lmax => (LMAX, "LmaxChild"),
            Self::Aeron => (AERON, "AeronChild"),
        }
    }

    /// Returns its library, and the flags of a JVM that it needs besides the common ones.
    const fn library(self) -> (Option<Library>, &'static [&'static str]) {
        match self {
            Self::Bare | Self::ArrayBlockingQueue => (None, &[]),
            Self::Lmax => (Some(DISRUPTOR), &[]),
            Self::Aeron => (Some(AERON_ALL), &AERON_JVM),
        }
    }

    /// Compiles it.
    ///
    /// # Errors
    ///
    /// [`ToolError`] if a tool is not installed, or its library is not available.
    pub(crate) fn build(self) -> Result<Program, ToolError> {
        let versions = [tool::version("javac", "--version")?, tool::version("java", "--version")?];
        let (sources, main) = self.source();
        let sources = [COMMON, sources].concat();
        let (library, own_flags) = self.library();
        let library = library.map(Library::archive).transpose()?;
        let folder = cache::keep(&cache::name_of(main, &(&sources, versions)), |folder| {
            program::write(&sources, folder)?;
            let mut compiler = Command::new("javac");
            compiler.args(["-nowarn", "-encoding", "UTF-8", "-cp"]);
            compiler.arg(class_path(folder, library.as_deref())?);
            compiler.args(sources.iter().map(|(name, _)| name));
            tool::run(&mut compiler, folder)
        })?;
        let class_path = class_path(&folder, library.as_deref())?;
        let flags = JVM.iter().chain(own_flags).map(OsString::from);
        Ok(Program::new("java", flags.chain(["-cp".into(), class_path, main.into()])))
    }
}

impl Library {
    /// Returns the archive, from the cache or from Maven Central.
    fn archive(self) -> Result<PathBuf, ToolError> {
        let folder = cache::keep(self.archive, |folder| {
            let mut maven = Command::new("mvn");
            maven.args(["-q", "-B", COPY]).arg(format!("-Dartifact={}", self.artifact));
            let mut output = OsString::from("-DoutputDirectory=");
            output.push(folder);
            tool::run(maven.arg(output), folder)
        })?;
        Ok(folder.join(format!("{}.jar", self.archive)))
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
