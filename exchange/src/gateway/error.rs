//! Why the gateway does not start, or has ended a session.

use std::error::Error;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use lapwing::error::PublishError;

use super::secrets::{Actor, SecretsError};
use super::settings::SettingsError;
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
    /// A limit is out of range.
    Settings(SettingsError),
    /// A client has sent bytes that are not a command.
    Command {
        /// The tag of the command.
        tag: u64,
        /// What is wrong with it.
        error: UnpackError,
    },
    /// A client has sent a command with tag 0.
    NoTag,
    /// A client has sent a line after which no other can be read.
    Line {
        /// The number of the line. The first one is 1.
        number: u64,
        /// What is wrong with it.
        error: LineError,
    },
    /// The connection of a client has ended within a record.
    Cut,
    /// A client has sent a hello of another version or kind.
    Hello,
    /// The file of secrets cannot be read.
    Secrets(SecretsError),
    /// Without secrets, each client may send all commands, so it must be on this machine.
    NotLoopback(SocketAddr),
    /// A client of an exchange with secrets has not logged in.
    NoLogin,
    /// A client has logged in at an exchange without secrets.
    NoSecrets,
    /// A client has sent a wrong secret, or one of an actor that has none.
    WrongSecret(Actor),
    /// A client has sent nothing for this long.
    Silence(Duration),
    /// A client does not read its answers, or has gone.
    NotRead,
    /// The exchange takes no more commands.
    Closed(PublishError),
}

impl fmt::Display for GatewayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Service(error) => error.fmt(f),
            Self::Settings(error) => error.fmt(f),
            Self::Command { tag, error } => write!(f, "command {tag}: {error}"),
            Self::NoTag => f.write_str("tag 0 is that of notices: commands have others"),
            Self::Line { number, error } => write!(f, "{error}: line={number}"),
            Self::Cut => f.write_str("the connection has ended within a record"),
            Self::Hello => f.write_str("the hello has an unknown version or kind"),
            Self::Secrets(error) => error.fmt(f),
            Self::NotLoopback(address) => write!(
                f,
                "an exchange without secrets serves this machine only, at 127.0.0.1 or [::1]; \
                 --secrets names a file of them: address={address}"
            ),
            Self::NoLogin => f.write_str("this exchange has secrets: log in first"),
            Self::NoSecrets => f.write_str("this exchange has no secrets: connect without a login"),
            Self::WrongSecret(actor) => write!(f, "the secret is wrong: actor={actor}"),
            Self::Silence(limit) => write!(f, "nothing has arrived for {limit:?}"),
            Self::NotRead => f.write_str("the client does not read its answers, or has gone"),
            Self::Closed(error) => error.fmt(f),
        }
    }
}

impl Error for GatewayError {}

crate::errors::from! {
    GatewayError:
    io::Error => Io,
    ServiceError => Service,
    SettingsError => Settings,
    SecretsError => Secrets,
    PublishError => Closed,
}
