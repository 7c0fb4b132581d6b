//! Why an operation failed. Each one has an enum of its own.

mod damage; // bytes that should be readable and are not
mod file; // a call that the system refused, with the file

mod open;
mod read;
mod write;

mod replay;

pub use damage::{Damage, Defect};
pub use file::FileError;
pub use open::OpenError;
pub use read::ReadError;
pub use replay::ReplayError;
pub use write::{SyncError, WriteError};

/// An error of user code.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Prints the sentence of `Display`, so that a `main` that returns the error prints it too.
macro_rules! debug_as_display {
    ($($error:ty),+ $(,)?) => {
        $(impl std::fmt::Debug for $error {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        })+
    };
}

debug_as_display! { Damage, FileError, OpenError, ReadError, ReplayError, SyncError, WriteError }
