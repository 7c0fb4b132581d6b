//! Changes of the file of secrets. An exchange that runs may read it at any moment, so it is valid at
//! each: a new file takes the place of the old one.

use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

use super::secrets::{Actor, FileError, Secret, SecretsError, parse, two_words};

/// Sets the secret of an actor in a file of secrets. It replaces the line of the actor, or adds one,
/// also to a file that does not exist yet. An earlier secret of the actor is of no use any more.
///
/// ```
/// use exchange::gateway::{Actor, Secret, set_secret};
///
/// let folder = tempfile::tempdir()?;
/// let file = folder.path().join("secrets");
/// let (one, other) = (Secret::generate()?, Secret::generate()?);
/// set_secret(&file, Actor::Operator, &one)?;
/// set_secret(&file, Actor::Operator, &other)?;
/// assert_eq!(std::fs::read_to_string(&file)?, format!("operator {}\n", other.hash_hex()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`SecretsError`] if the file is no valid file of secrets, or cannot be replaced. It is as it was
/// then.
///
/// # Blocking
///
/// Waits for other changes of files in the same folder by this function.
pub fn set_secret(path: &Path, actor: Actor, secret: &Secret) -> Result<(), SecretsError> {
    set(path, actor, secret).map_err(|cause| SecretsError::new(path, cause))
}

fn set(path: &Path, actor: Actor, secret: &Secret) -> Result<(), FileError> {
    // A link to the file stays a link.
    let path = &existing(fs::canonicalize(path))?.unwrap_or_else(|| path.to_owned());
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let folder = parent.unwrap_or_else(|| Path::new("."));
    let open_folder = File::open(folder)?;
    // Two changes at a time would lose one. The end of the process unlocks too.
    flock(&open_folder, FlockOperation::LockExclusive).map_err(io::Error::from)?;

    let old = existing(fs::metadata(path))?;
    let text = match &old {
        Some(old) if !old.is_file() => return Err(FileError::NoFile),
        Some(_) => fs::read_to_string(path)?,
        None => String::new(),
    };
    parse(&text)?;
    let line = format!("{actor} {}", secret.hash_hex());
    let text = with_line(&text, actor, &line);
    let replaced = replace(path, folder, &text, old.as_ref());
    replaced.and_then(|()| open_folder.sync_all()).map_err(FileError::Write)
}

/// Returns the lines, and `line` in place of that of the actor, or behind them.
fn with_line(text: &str, actor: Actor, line: &str) -> String {
    let is_of_actor = |line: &str| two_words(line).is_ok_and(|(word, _)| word.parse() == Ok(actor));
    let mut lines: Vec<&str> = text.lines().collect();
    match lines.iter_mut().find(|line| is_of_actor(line)) {
        Some(found) => *found = line,
        None => lines.push(line),
    }
    lines.join("\n") + "\n"
}

/// Replaces a file in one step. The new one has the owner and the permissions of the old one.
fn replace(path: &Path, folder: &Path, text: &str, old: Option<&Metadata>) -> io::Result<()> {
    let of_new_files = Permissions::from_mode(0o666); // without what the process masks
    let mut new = tempfile::Builder::new().permissions(of_new_files).tempfile_in(folder)?;
    if let Some(old) = old {
        let owners = |of: &Metadata| (of.uid(), of.gid());
        if owners(&new.as_file().metadata()?) != owners(old) {
            fchown(new.as_file(), Some(old.uid()), Some(old.gid()))?;
        }
        new.as_file().set_permissions(old.permissions())?;
    }
    new.write_all(text.as_bytes())?;
    new.as_file().sync_all()?;
    new.persist(path)?;
    Ok(())
}

/// Returns `None` for what does not exist.
fn existing<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}
