//! Why nothing is shown: a sentence each.

use std::fmt;
use std::io;
use std::path::PathBuf;

use lapwing::observe::ObserveError;

/// Error of the program.
#[derive(Debug)]
pub(crate) enum Error {
    /// No file is there for what is wanted.
    NoRing {
        /// The name or the process that is wanted; `None` for any ring.
        wanted: Option<String>,
        /// Names of the rings that are there.
        others: Vec<String>,
        /// The folder that was read.
        folder: PathBuf,
    },
    /// The folder cannot be read.
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A ring cannot be read.
    Ring {
        /// Its name.
        name: String,
        /// Its process.
        pid: u32,
        /// Why.
        error: ObserveError,
    },
    /// The rings that were found have been dropped meanwhile.
    Dropped,
    /// The terminal, or the output.
    Terminal(io::Error),
}

/// Result of the program.
pub(crate) type Result<T> = std::result::Result<T, Error>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRing { wanted, others, folder } => {
                no_ring(f, wanted.as_deref(), others, folder)
            }
            Self::Folder { folder, error } if error.kind() == io::ErrorKind::PermissionDenied => {
                let folder = folder.display();
                write!(
                    f,
                    "the folder of rings belongs to another user, or is closed: folder={folder}"
                )
            }
            Self::Folder { folder, error } => {
                write!(f, "cannot read the folder of rings: {error}: folder={}", folder.display())
            }
            Self::Ring { name, pid, error } => {
                write!(f, "cannot read ring {name:?} of process {pid}: {error}")
            }
            Self::Dropped => f.write_str("the ring was dropped while lapwing opened it"),
            Self::Terminal(error) => write!(f, "cannot use the terminal or the output: {error}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Terminal(error)
    }
}

fn no_ring(
    f: &mut fmt::Formatter<'_>,
    wanted: Option<&str>,
    others: &[String],
    folder: &std::path::Path,
) -> fmt::Result {
    match wanted {
        None => f.write_str("no observable ring found")?,
        Some(text) if text.parse::<u32>().is_ok() => {
            write!(f, "process {text} has no observable ring, and no ring has this name")?;
        }
        Some(text) => write!(f, "no observable ring has the name {text:?}")?,
    }
    if others.is_empty() {
        write!(f, "; build the ring with .observable(\"name\"), and run lapwing as the same user")?;
    } else {
        write!(f, "; the rings are {}", others.join(", "))?;
    }
    write!(f, ": folder={} (set LAPWING_DIR to read another)", folder.display())
}
