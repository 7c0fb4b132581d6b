//! Files in the user's cache that are made once: downloads and compiled programs. The name of a
//! program is determined by all its inputs, so a change makes another one. The folder can be
//! removed while no laboratory runs.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs};

use super::tool::ToolError;
use crate::output;

/// Returns the folder called `name`. `make` fills it if it does not exist.
///
/// # Errors
///
/// The error of `make`, or [`ToolError::File`] if the cache cannot be written.
pub(super) fn keep(
    name: &str,
    make: impl FnOnce(&Path) -> Result<(), ToolError>,
) -> Result<PathBuf, ToolError> {
    let cache = folder();
    let kept = cache.join(name);
    if kept.is_dir() {
        return Ok(kept);
    }
    output::note(format_args!("building {name}, which is kept for next time"));
    let refused = |source| ToolError::write(&cache, source);
    fs::create_dir_all(&cache).map_err(refused)?;
    // `make` fills a folder with a temporary name. A folder with the final name is complete.
    let draft = tempfile::Builder::new().prefix("draft-").tempdir_in(&cache).map_err(refused)?;
    make(draft.path())?;
    match fs::rename(draft.path(), &kept) {
        Ok(()) => Ok(kept),
        Err(_) if kept.is_dir() => Ok(kept), // another process was faster; its result is equal
        Err(source) => Err(ToolError::write(&kept, source)),
    }
}

/// Returns a name for the output of `rival` from `parts`.
pub(super) fn name_of(rival: &str, parts: &impl Hash) -> String {
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    format!("{rival}-{:016x}", hasher.finish())
}

/// Returns the user's cache folder.
fn folder() -> PathBuf {
    let set = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || env::home_dir().map(|home| home.join(".cache"));
    set.or_else(home).unwrap_or_else(env::temp_dir).join("lapwing")
}

#[cfg(test)]
mod tests {
    use std::process;

    use super::super::program;
    use super::*;

    #[test]
    fn what_is_kept_is_made_once() {
        let name = name_of("test", &process::id());
        let first = keep(&name, |folder| program::write(&[("file", "made")], folder)).unwrap();
        let second = keep(&name, |_| unreachable!("it is there")).unwrap();
        assert_eq!(first, second);
        assert_eq!(fs::read_to_string(first.join("file")).unwrap(), "made");
        fs::remove_dir_all(first).unwrap();
    }

    #[test]
    fn what_cannot_be_made_is_not_kept() {
        let name = name_of("test-failed", &process::id());
        let failed = ToolError::NotInstalled { tool: "tool".to_owned() };
        assert!(keep(&name, |_| Err(failed)).is_err());
        assert!(!folder().join(name).exists());
    }
}
