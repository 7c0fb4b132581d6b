//! What was compiled: the files, until the last one who runs them is gone, and how to start it.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::{fs, io};

use tempfile::TempDir;

/// A source file: its name, and its text as it was when this command was built.
pub(super) type Source = (&'static str, &'static str);

/// Settings of a JVM from outside, such as a profiler: a rival is measured without.
const SETTINGS_FROM_OUTSIDE: [&str; 3] = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"];

/// A program that was compiled; its files go when it is dropped.
#[derive(Debug)]
pub(crate) struct Program {
    /// What to start.
    executable: OsString,
    /// Its first arguments.
    arguments: Vec<OsString>,
    /// Where its files are.
    _folder: TempDir,
}

/// A folder of its own with `sources` in it.
///
/// # Errors
///
/// The system's reason.
pub(super) fn folder_of(sources: &[Source]) -> io::Result<TempDir> {
    let folder = tempfile::Builder::new().prefix("lapwing-").tempdir()?;
    for (name, text) in sources {
        fs::write(folder.path().join(name), text)?;
    }
    Ok(folder)
}

impl Program {
    /// The program that is started as `executable` with `arguments`, and whose files are in
    /// `folder`.
    pub(super) fn new(
        folder: TempDir,
        executable: impl AsRef<Path>,
        arguments: impl IntoIterator<Item = OsString>,
    ) -> Self {
        let executable = executable.as_ref().as_os_str().to_owned();
        Self { executable, arguments: arguments.into_iter().collect(), _folder: folder }
    }

    /// How it is started.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.executable);
        command.args(&self.arguments);
        for setting in SETTINGS_FROM_OUTSIDE {
            command.env_remove(setting);
        }
        command
    }
}
