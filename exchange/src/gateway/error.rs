//! Why the gateway does not start, or has ended a session.

use std::error::Error;
use std::fmt;
use std::io;

use lapwing::error::{BuildError, PublishError};

use super::text::LineError;
use crate::service::ServiceError;
use crate::types::UnpackError;

/// Why the gateway does not start, or has ended a session.
#[derive(Debug)]
#[non_exhaustive]
pub enum GatewayError {
    /// The system refused a call.
    Io(io::Error),
    /// The exchange does not start.
    Service(ServiceError),
    /// There is no memory for a session.
    Build(BuildError),
    /// A client has sent bytes that are not a command.
    Command(UnpackError),
    /// A client has sent a line that is not a command.
    Line(LineError),
    /// A client has sent a hello of another version or kind.
    Hello,
    /// The exchange takes no more commands.
    Closed(PublishError),
}

impl fmt::Display for GatewayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Service(error) => error.fmt(f),
            Self::Build(error) => error.fmt(f),
            Self::Command(error) => write!(f, "the bytes are no command: {error}"),
            Self::Line(error) => error.fmt(f),
            Self::Hello => f.write_str("the hello has an unknown version or kind"),
            Self::Closed(error) => error.fmt(f),
        }
    }
}

impl Error for GatewayError {}

crate::errors::from! {
    GatewayError:
    io::Error => Io,
    ServiceError => Service,
    BuildError => Build,
    UnpackError => Command,
    LineError => Line,
    PublishError => Closed,
}
