//! A child process of the same program that never outlives its parent. The guard kills it when it
//! is dropped. If the parent is killed, Linux kills the child at once; elsewhere the child ends
//! when its input closes.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::process::{self, Child, ChildStdout, Command, Stdio};
use std::{env, thread};

/// A child that is killed when the guard is dropped.
#[derive(Debug)]
pub struct OwnChild(Child);

impl OwnChild {
    /// Starts this program with `arguments` and further environment variables. Its input and its
    /// output are pipes. Ctrl-C does not reach it.
    ///
    /// # Errors
    ///
    /// The system refuses to start the process.
    pub fn start(
        arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
        variables: &[(&str, &str)],
    ) -> io::Result<Self> {
        let mut command = Command::new(env::current_exe()?);
        command.args(arguments).envs(variables.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.spawn().map(Self)
    }

    /// Returns its number in the system.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// Returns its output, or `None` if it was taken before.
    pub fn output(&mut self) -> Option<ChildStdout> {
        self.0.stdout.take()
    }
}

impl Drop for OwnChild {
    fn drop(&mut self) {
        // An error means that the child has ended.
        let _ended = self.0.kill();
        let _status = self.0.wait();
    }
}

/// In the child: ends this process when its parent ends.
///
/// # Errors
///
/// The system refuses to create a thread.
pub fn end_with_parent() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    let watch = thread::Builder::new().name("parent-watch".to_owned());
    watch.spawn(|| {
        // The parent writes nothing, so the read returns when the pipe is closed.
        let _closed = io::stdin().read(&mut [0]);
        process::exit(0);
    })?;
    Ok(())
}
