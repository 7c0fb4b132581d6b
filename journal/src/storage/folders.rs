//! Folders whose names survive a power cut.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;

/// Makes a folder, and those above it that are missing.
///
/// A folder is made once the name of the one above it is durable. So a crash leaves at most one
/// folder whose name is not durable: the last that it has made. The next call begins with that one.
pub(super) fn make(path: &Path) -> io::Result<()> {
    make_with(path, &mut sync)
}

/// Makes the name of a folder durable that exists.
pub(super) fn sync_name(path: &Path) -> io::Result<()> {
    sync_name_with(path, &mut sync)
}

/// Makes the names in a folder durable.
type Sync<'a> = dyn FnMut(&Path) -> io::Result<()> + 'a;

fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn make_with(path: &Path, sync: &mut Sync<'_>) -> io::Result<()> {
    let above = path.ancestors().filter(|folder| !folder.as_os_str().is_empty());
    let missing: Vec<_> = above.take_while(|folder| !folder.is_dir()).collect();
    let existing = missing.last().map_or(path, |folder| parent(folder));
    sync_name_with(existing, sync)?;
    for folder in missing.into_iter().rev() {
        match fs::create_dir(folder) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && folder.is_dir() => {}
            made => made?,
        }
        sync(parent(folder))?;
    }
    Ok(())
}

fn sync_name_with(path: &Path, sync: &mut Sync<'_>) -> io::Result<()> {
    // The folder that has its name, also if `path` is `..` or a link.
    match sync(parent(&path.canonicalize()?)) {
        // It may be none of this program's: one that it cannot read, or of a file system that is
        // read-only or syncs no folders.
        Err(error) if is_refused(error.kind()) => Ok(()),
        synced => synced,
    }
}

fn is_refused(error: ErrorKind) -> bool {
    use ErrorKind::{InvalidInput, PermissionDenied, ReadOnlyFilesystem, Unsupported};
    matches!(error, InvalidInput | PermissionDenied | ReadOnlyFilesystem | Unsupported)
}

/// The folder above `path`.
fn parent(path: &Path) -> &Path {
    let parent = path.parent().unwrap_or(path);
    if parent.as_os_str().is_empty() { Path::new(".") } else { parent }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::PathBuf;

    use super::*;

    /// Notes the folders whose names are durable, and fails at a sync.
    fn syncs<'a>(
        below: &'a Path,
        durable: &'a mut BTreeSet<PathBuf>,
        mut until_failure: usize,
    ) -> impl FnMut(&Path) -> io::Result<()> + 'a {
        move |folder| {
            until_failure = until_failure.checked_sub(1).ok_or(ErrorKind::Other)?;
            let entries = fs::read_dir(folder)?.map(|entry| entry.unwrap().path());
            durable.extend(entries.filter(|path| path.starts_with(below)));
            Ok(())
        }
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_an_error() {
        let base = tempfile::tempdir().unwrap();
        let file = base.path().join("file");
        fs::write(&file, "").unwrap();
        for path in [file.clone(), file.join("a/b"), "".into()] {
            make(&path).unwrap_err();
        }
        assert_eq!(fs::read_dir(base.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_path_may_have_dots_and_links() {
        let base = tempfile::tempdir().unwrap();
        let link = base.path().join("link");
        std::os::unix::fs::symlink(".", &link).unwrap();
        for path in ["a/./b", "a/../c/d/", "link/e/f", "e/f/..", "."] {
            let path = base.path().join(path);
            make(&path).unwrap();
            assert!(path.is_dir(), "{path:?}");
        }
        make(Path::new("/")).unwrap();
        make(Path::new(".")).unwrap();
    }

    /// Of three folders that were made, one had a durable name. One that a crash had left before its
    /// name was durable never got a durable name.
    #[test]
    fn each_folder_has_a_durable_name_also_after_crashes() {
        for crashes in (0..6).flat_map(|first| (0..6).map(move |second| [first, second])) {
            let base = tempfile::tempdir().unwrap();
            let base = base.path().canonicalize().unwrap();
            let (mut durable, path) = (BTreeSet::new(), base.join("a/b/c"));
            for crash in crashes {
                let _ = make_with(&path, &mut syncs(&base, &mut durable, crash));
            }
            make_with(&path, &mut syncs(&base, &mut durable, usize::MAX)).unwrap();
            let expected = ["a", "a/b", "a/b/c"].map(|name| base.join(name));
            assert!(expected.iter().all(|path| durable.contains(path)), "{crashes:?}: {durable:?}");
        }
    }
}
