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
