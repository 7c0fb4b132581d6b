//! What any part of a run fails with.

use std::error::Error;

/// An error of any log, process or file.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;
