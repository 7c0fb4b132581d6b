//! A call that the system refused.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use rustix::io::Errno;

/// A call that the system refused, with its file.
///
/// ```
/// use lapwing_journal::{Journal, error::OpenError};
///
/// let opened = Journal::<u64>::open("/proc/no/such/folder");
/// let Err(OpenError::File(error)) = opened else { panic!("there is no such folder") };
/// assert!(error.to_string().starts_with("cannot open the folder: "));
/// assert_eq!(error.file().to_str(), Some("/proc/no/such/folder"));
/// ```
#[derive(Clone)]
pub struct FileError {
    action: &'static str,
    file: PathBuf,
    source: Arc<io::Error>,
}

impl FileError {
    pub(crate) fn new(action: &'static str, file: PathBuf, source: io::Error) -> Self {
        Self { action, file, source: Arc::new(source) }
    }

    /// Returns the file or folder.
    #[must_use]
    pub fn file(&self) -> &std::path::Path {
        &self.file
    }

    /// Returns the kind of the system's error.
    ///
    /// [`StorageFull`](io::ErrorKind::StorageFull) is a full disk.
    #[must_use]
    pub fn kind(&self) -> io::ErrorKind {
        self.source.kind()
    }

    /// Returns whether the disk is full.
    ///
    /// ```
    /// use lapwing_journal::Snapshots;
    ///
    /// let error = Snapshots::open("/proc/no/such/folder").unwrap_err();
    /// assert!(!error.is_full());
    /// ```
    #[must_use]
    pub fn is_full(&self) -> bool {
        matches!(self.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
    }

    /// Returns whether the system was short of something that may come back: space on the disk, or
    /// file descriptors. The same call may succeed later.
    ///
    /// ```
    /// use lapwing_journal::Snapshots;
    ///
    /// let error = Snapshots::open("/proc/no/such/folder").unwrap_err();
    /// assert!(!error.is_shortage());
    /// ```
    #[must_use]
    pub fn is_shortage(&self) -> bool {
        const NO_DESCRIPTOR: [Errno; 2] = [Errno::MFILE, Errno::NFILE]; // the process, the system
        let errno = Errno::from_io_error(&self.source);
        self.is_full() || errno.is_some_and(|errno| NO_DESCRIPTOR.contains(&errno))
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { action, file, source } = self;
        write!(f, "cannot {action}: {source}: file={}", file.display())
    }
}

impl Error for FileError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_and_a_limit_of_descriptors_may_pass() {
        for (errno, is_full, is_shortage) in [
            (Errno::NOSPC, true, true),
            (Errno::DQUOT, true, true),
            (Errno::MFILE, false, true),
            (Errno::NFILE, false, true),
            (Errno::IO, false, false),
            (Errno::NOENT, false, false),
        ] {
            let error = FileError::new("make a segment", PathBuf::new(), errno.into());
            assert_eq!((error.is_full(), error.is_shortage()), (is_full, is_shortage), "{error}");
        }
    }
}
