//! Secrets: which sessions may act for an account, and which for the operator.
//!
//! A secret is 32 random bytes, too many to be guessed. The file of the exchange therefore keeps
//! their SHA-256, without a salt and without a slow hash for passwords: a reader of the file cannot
//! log in, and a login takes a microsecond, so many of them hold up nothing.
//!
//! Secrets are in a file and not set by commands. A command is kept in the journal, in snapshots and
//! by followers, and secrets do not belong there. The file is read again when it has changed, so new
//! accounts need no restart.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::types::{AccountId, Authority, Command};

/// Bytes of a secret, and of its hash.
pub const SECRET_BYTES: usize = 32;

/// A file may change twice within the resolution of its times, which is at most this.
const YOUNG: Duration = Duration::from_secs(2);

type Hash = [u8; SECRET_BYTES];

/// For what a session acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Actor {
    /// The exchange: the session may send all commands, for each account.
    Operator,
    /// One account: the session may send the orders of this account.
    Account(AccountId),
}

impl Actor {
    /// Whether it may send a command.
    ///
    /// ```
    /// use exchange::gateway::Actor;
    /// use exchange::types::{AccountId, Cancel, Command, Deposit, OrderId, SymbolId};
    ///
    /// let (ann, bob) = (AccountId(1), AccountId(2));
    /// let cancel = |account| Command::Cancel(Cancel { account, symbol: SymbolId(0), order: OrderId(1) });
    /// let deposit = Command::Deposit(Deposit { account: ann, amount: 1_000 });
    /// assert!(Actor::Account(ann).may_send(&cancel(ann)));
    /// assert!(!Actor::Account(ann).may_send(&cancel(bob)));
    /// assert!(!Actor::Account(ann).may_send(&deposit));
    /// assert!(Actor::Operator.may_send(&deposit));
    /// ```
    #[must_use]
    pub fn may_send(self, command: &Command) -> bool {
        match (command.authority(), self) {
            (Authority::Account(account), Self::Account(own)) => account == own,
            (Authority::Account(_) | Authority::Operator, Self::Operator) => true,
            (Authority::Operator, Self::Account(_)) | (Authority::Start, _) => false,
        }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operator => f.write_str("operator"),
            Self::Account(account) => write!(f, "{}", account.0),
        }
    }
}

impl FromStr for Actor {
    type Err = SecretError;

    /// Reads the word `operator`, or the number of an account.
    fn from_str(word: &str) -> Result<Self, SecretError> {
        if word == "operator" {
            return Ok(Self::Operator);
        }
        let account = word.parse().map_err(|_| SecretError::Actor(word.to_owned()))?;
        Ok(Self::Account(AccountId(account)))
    }
}

/// What a client proves that it is. Its [`Debug`](fmt::Debug) form hides it.
#[derive(Clone, Copy)]
pub struct Secret(pub(super) [u8; SECRET_BYTES]);

impl Secret {
    /// Returns a secret that no other has.
    ///
    /// # Errors
    ///
    /// The error of the system, which has the random numbers.
    pub fn generate() -> io::Result<Self> {
        let mut bytes = [0; SECRET_BYTES];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Self(bytes))
    }

    /// Returns the 64 hexadecimal digits that a client sends.
    #[must_use]
    pub fn to_hex(&self) -> String {
        hex(&self.0)
    }

    /// Returns the 64 hexadecimal digits that the file of the exchange has.
    ///
    /// ```
    /// let secret = exchange::gateway::Secret::generate()?;
    /// assert_ne!(secret.hash_hex(), secret.to_hex());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn hash_hex(&self) -> String {
        hex(&self.hash())
    }

    fn hash(&self) -> Hash {
        Sha256::digest(self.0).into()
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for Secret {}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(hidden)")
    }
}

impl FromStr for Secret {
    type Err = SecretError;

    fn from_str(word: &str) -> Result<Self, SecretError> {
        Ok(Self(from_hex(word)?))
    }
}

/// An actor and its secret: what a client logs in with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Login {
    /// For what it acts.
    pub actor: Actor,
    /// What proves that it may.
    pub secret: Secret,
}

impl FromStr for Login {
    type Err = SecretError;

    /// Reads a line such as `operator SECRET` or `17 SECRET`.
    fn from_str(line: &str) -> Result<Self, SecretError> {
        let (actor, secret) = two_words(line)?;
        Ok(Self { actor: actor.parse()?, secret: secret.parse()? })
    }
}

/// The secrets of an exchange, from a file.
///
/// A line has an actor and the hash of its secret. Empty lines and those that begin with `#` have no
/// meaning. `exchange secret` makes a line.
#[derive(Debug)]
pub(super) struct Secrets {
    path: PathBuf,
    read: Mutex<Read>,
}

/// What was read last.
#[derive(Debug)]
struct Read {
    /// `None` if the file was so young that a further change may have left no trace in its times.
    version: Option<Version>,
    hashes: HashMap<Actor, Hash>,
}

/// What changes when the file changes.
type Version = (Option<SystemTime>, u64);

impl Secrets {
    /// Reads the file.
    pub(super) fn open(path: &Path) -> Result<Self, SecretsError> {
        Ok(Self { path: path.to_owned(), read: Mutex::new(Read::open(path)?) })
    }

    /// Whether a login is right. An error says that the file, which has changed, cannot be read: then
    /// no client can log in.
    pub(super) fn admit(&self, login: &Login) -> Result<bool, SecretsError> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let metadata = fs::metadata(&self.path).map_err(|error| self.error(error.into()))?;
        if Some(version(&metadata)) != read.version {
            *read = Read::open(&self.path)?;
        }
        // An unknown actor takes as long as a known one.
        let expected = read.hashes.get(&login.actor).copied();
        let is_equal = login.secret.hash().ct_eq(&expected.unwrap_or_default());
        Ok(bool::from(is_equal) && expected.is_some())
    }

    fn error(&self, cause: FileError) -> SecretsError {
        SecretsError::new(&self.path, cause)
    }
}

impl Read {
    fn open(path: &Path) -> Result<Self, SecretsError> {
        let error = |cause| SecretsError::new(path, cause);
        // First, so that a change meanwhile is seen at the next login.
        let metadata = fs::metadata(path).map_err(|cause| error(cause.into()))?;
        let text = fs::read_to_string(path).map_err(|cause| error(cause.into()))?;
        let hashes = parse(&text).map_err(error)?;
        let is_old = |time: SystemTime| time.elapsed().is_ok_and(|age| age > YOUNG);
        let is_settled = metadata.modified().is_ok_and(is_old);
        Ok(Self { version: is_settled.then(|| version(&metadata)), hashes })
    }
}

fn version(metadata: &Metadata) -> Version {
    (metadata.modified().ok(), metadata.len())
}

pub(super) fn parse(text: &str) -> Result<HashMap<Actor, Hash>, FileError> {
    let mut hashes = HashMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let of_line = || -> Result<_, SecretError> {
            let (actor, hash) = two_words(line)?;
            Ok((actor.parse()?, from_hex(hash)?))
        };
        let (actor, hash) = of_line().map_err(|error| FileError::Line(number, error))?;
        if hashes.insert(actor, hash).is_some() {
            return Err(FileError::Line(number, SecretError::Twice(actor)));
        }
    }
    Ok(hashes)
}

pub(super) fn two_words(line: &str) -> Result<(&str, &str), SecretError> {
    let mut words = line.split_whitespace();
    match (words.next(), words.next(), words.next()) {
        (Some(first), Some(second), None) => Ok((first, second)),
        _ => Err(SecretError::Words),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(word: &str) -> Result<[u8; SECRET_BYTES], SecretError> {
    let digits = word.as_bytes();
    if digits.len() != 2 * SECRET_BYTES || !digits.iter().all(u8::is_ascii_hexdigit) {
        return Err(SecretError::Hex { length: word.len() });
    }
    let mut bytes = [0; SECRET_BYTES];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let text = str::from_utf8(pair).expect("the digits are ASCII");
        *byte = u8::from_str_radix(text, 16).expect("the digits are hexadecimal");
    }
    Ok(bytes)
}

/// Why words are not an actor and a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SecretError {
    /// Not two words.
    Words,
    /// The first one is no actor.
    Actor(String),
    /// The second one is not the hexadecimal form of 32 bytes.
    Hex {
        /// Its length.
        length: usize,
    },
    /// An actor has two lines.
    Twice(Actor),
}

impl fmt::Display for SecretError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words => {
                f.write_str("a line has two words: operator or an account, and 64 digits")
            }
            Self::Actor(word) => write!(f, "operator or an account expected: found={word:?}"),
            Self::Hex { length } => write!(f, "64 hexadecimal digits expected: length={length}"),
            Self::Twice(actor) => write!(f, "there is an earlier line: actor={actor}"),
        }
    }
}

impl Error for SecretError {}

/// Why secrets cannot be read or changed.
#[derive(Debug)]
pub struct SecretsError {
    path: PathBuf,
    cause: FileError,
}

#[derive(Debug)]
pub(super) enum FileError {
    Io(io::Error),
    Line(u64, SecretError),
    /// It is a folder, a device or a pipe.
    NoFile,
    Write(io::Error),
}

impl SecretsError {
    pub(super) fn new(path: &Path, cause: FileError) -> Self {
        Self { path: path.to_owned(), cause }
    }
}

crate::errors::from!(FileError: io::Error => Io);

impl fmt::Display for SecretsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.cause {
            FileError::Io(error) => write!(f, "cannot read the secrets in {path}: {error}"),
            FileError::Line(number, error) => write!(f, "{path}: {error}: line={number}"),
            FileError::NoFile => write!(f, "secrets are in a regular file, which {path} is not"),
            FileError::Write(error) => write!(f, "cannot write the secrets in {path}: {error}"),
        }
    }
}

impl Error for SecretsError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_secrets_says_what_is_wrong() {
        let hash = "ab".repeat(SECRET_BYTES);
        for (text, expected) in [
            ("operator", "a line has two words: operator or an account, and 64 digits: line=1"),
            ("# fine\nroot {}", "operator or an account expected: found=\"root\": line=2"),
            ("1 {}0", "64 hexadecimal digits expected: length=65: line=1"),
            ("1 {}\n\n1 {}", "there is an earlier line: actor=1: line=3"),
        ] {
            let cause = parse(&text.replace("{}", &hash)).unwrap_err();
            let error = SecretsError { path: "file".into(), cause }.to_string();
            assert_eq!(error, format!("file: {expected}"));
        }
        let secrets = parse(&format!(" # two\noperator {hash}\n 7  {hash}\n")).unwrap();
        assert_eq!(secrets.len(), 2);
    }

    #[test]
    fn a_secret_admits_its_actor_only_and_a_changed_file_counts_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secrets");
        let (one, other) = (Secret::generate().unwrap(), Secret::generate().unwrap());
        let actor = Actor::Account(AccountId(7));
        fs::write(&path, format!("7 {}\n", one.hash_hex())).unwrap();
        let secrets = Secrets::open(&path).unwrap();
        let admits = |actor, secret| secrets.admit(&Login { actor, secret }).unwrap();
        assert!(admits(actor, one) && !admits(actor, other) && !admits(Actor::Operator, one));
        assert!(!admits(actor, one.hash_hex().parse().unwrap()), "the hash is no secret");

        fs::write(&path, format!("7 {}\noperator {}\n", other.hash_hex(), one.hash_hex())).unwrap();
        assert!(!admits(actor, one) && admits(actor, other) && admits(Actor::Operator, one));
        fs::write(&path, "7 \n").unwrap();
        let error = secrets.admit(&Login { actor, secret: other }).unwrap_err();
        assert!(error.to_string().contains("a line has two words"), "{error}");
        fs::remove_file(&path).unwrap();
        let error = secrets.admit(&Login { actor, secret: other }).unwrap_err();
        assert!(error.to_string().contains("cannot read the secrets"), "{error}");
    }

    #[test]
    fn a_secret_is_not_shown() {
        let secret: Secret = "01".repeat(SECRET_BYTES).parse().unwrap();
        assert_eq!(format!("{secret:?}"), "Secret(hidden)");
        assert_eq!(secret.to_hex(), "01".repeat(SECRET_BYTES));
        // From another implementation of SHA-256.
        let hash = "72cd6e8422c407fb6d098690f1130b7ded7ec2f7f5e1d30bd9d521f015363793";
        assert_eq!(secret.hash_hex(), hash);
        assert_eq!(Secret::from_str("x").unwrap_err(), SecretError::Hex { length: 1 });
    }
}
