//! A compiled program, and how to start it.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::tool::ToolError;

/// A source file: its name, and its text when this command was built.
pub(super) type Source = (&'static str, &'static str);

/// JVM settings from the environment, such as a profiler. Rivals are measured without them.
const SETTINGS_FROM_OUTSIDE: [&str; 3] = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"];

/// A program that was compiled.
#[derive(Debug)]
pub(crate) struct Program {
    /// The executable.
    executable: OsString,
    /// Its first arguments.
    arguments: Vec<OsString>,
}

/// Writes `sources` to `folder`.
///
/// # Errors
///
/// [`ToolError::File`] with the first file that the system refuses.
pub(super) fn write(sources: &[Source], folder: &Path) -> Result<(), ToolError> {
    sources.iter().try_for_each(|(name, text)| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|source| ToolError::write(&path, source))
    })
}

impl Program {
    /// Returns the program that starts as `executable` with `arguments`.
    pub(super) fn new(
        executable: impl AsRef<Path>,
        arguments: impl IntoIterator<Item = OsString>,
    ) -> Self {
        let executable = executable.as_ref().as_os_str().to_owned();
        Self { executable, arguments: arguments.into_iter().collect() }
    }

    /// Returns the command that starts it.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.executable);
        command.args(&self.arguments);
        for setting in SETTINGS_FROM_OUTSIDE {
            command.env_remove(setting);
        }
        command
    }
}
