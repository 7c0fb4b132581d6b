//! Rivals in C++. There is one program per queue, because templates are compiled for one queue. g++
//! compiles them for this machine.

use std::ffi::OsString;
use std::process::Command;

use super::cache;
use super::program::{self, Program, Source};
use super::tool::{self, ToolError};
use crate::machine;

/// A queue, or two bare words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CppRival {
    /// Two bare words.
    Bare,
    /// `std::mutex` and two condition variables.
    MutexQueue,
    /// Boost.Lockfree.
    BoostLockfree,
    /// `ReaderWriterQueue` and `ConcurrentQueue`.
    Moodycamel,
}

/// All files of `lab/cpp`. A program includes those that it needs.
const SOURCES: &[Source] = &[
    ("arc.hpp", include_str!("../../cpp/arc.hpp")),
    ("bare.cpp", include_str!("../../cpp/bare.cpp")),
    ("boost_queue.hpp", include_str!("../../cpp/boost_queue.hpp")),
    ("child.cpp", include_str!("../../cpp/child.cpp")),
    ("crew.hpp", include_str!("../../cpp/crew.hpp")),
    ("event.hpp", include_str!("../../cpp/event.hpp")),
    ("exchange.hpp", include_str!("../../cpp/exchange.hpp")),
    ("histogram.hpp", include_str!("../../cpp/histogram.hpp")),
    ("latency.hpp", include_str!("../../cpp/latency.hpp")),
    ("moodycamel_queue.hpp", include_str!("../../cpp/moodycamel_queue.hpp")),
    ("mutex_queue.hpp", include_str!("../../cpp/mutex_queue.hpp")),
    ("queue.hpp", include_str!("../../cpp/queue.hpp")),
    ("request.hpp", include_str!("../../cpp/request.hpp")),
    ("serve.hpp", include_str!("../../cpp/serve.hpp")),
    ("topologies.hpp", include_str!("../../cpp/topologies.hpp")),
    ("work.hpp", include_str!("../../cpp/work.hpp")),
];

/// The compiler and its flags: as much optimisation as these libraries allow.
const COMPILER: &str = "g++";
const FLAGS: [&str; 5] = ["-std=c++17", "-O3", "-march=native", "-pthread", "-w"];
/// The name of the compiled program.
const EXECUTABLE: &str = "child";

impl CppRival {
    /// Returns its file with `main`, and the header of its queue.
    const fn source(self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Bare => ("bare.cpp", None),
            Self::MutexQueue => ("child.cpp", Some("mutex_queue.hpp")),
            Self::BoostLockfree => ("child.cpp", Some("boost_queue.hpp")),
            Self::Moodycamel => ("child.cpp", Some("moodycamel_queue.hpp")),
        }
    }

    /// Compiles it.
    ///
    /// # Errors
    ///
    /// [`ToolError`] if g++ or the library's headers are not installed.
    pub(crate) fn build(self) -> Result<Program, ToolError> {
        let version = tool::version(COMPILER, "--version")?;
        let (main, queue) = self.source();
        // `-march=native`: another CPU, another program.
        let parts = (SOURCES, FLAGS, version, machine::cpu());
        let folder = cache::keep(&cache::name_of(queue.unwrap_or(main), &parts), |folder| {
            program::write(SOURCES, folder)?;
            let mut compiler = Command::new(COMPILER);
            compiler.args(FLAGS);
            compiler.args(queue.map(|header| format!("-DRIVAL=\"{header}\"")));
            tool::run(compiler.args(["-o", EXECUTABLE, main]), folder)
        })?;
        Ok(Program::new(folder.join(EXECUTABLE), None::<OsString>))
    }
}
