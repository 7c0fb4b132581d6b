//! Where the memory of a run is: a folder in memory for what takes a path, and a prefix of names
//! for what lies beside it. Both have the number of this process, so that a later one can remove
//! what a killed one has left.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// What all names begin with.
const NAME: &str = "lapwing-lab";
/// Where shared memory is a file.
const MEMORY: &str = "/dev/shm";

/// The folder and the prefix of one run. Dropping it removes everything there.
#[derive(Debug)]
pub(crate) struct Place {
    folder: PathBuf,
    prefix: String,
}

impl Place {
    /// Makes the folder of a run, which nothing else has used.
    ///
    /// # Errors
    ///
    /// The system refuses.
    pub(crate) fn new() -> io::Result<Self> {
        static RUNS: AtomicU64 = AtomicU64::new(0);
        // Relaxed suffices: it only counts.
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        let prefix = format!("{NAME}-{}-{run}", std::process::id());
        let folder = Path::new(MEMORY).join(&prefix);
        // Only this user: `lapwing-shared` refuses a folder to which others can write.
        DirBuilder::new().mode(0o700).create(&folder)?;
        Ok(Self { folder, prefix })
    }

    /// Returns the folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns what the names of memory beside the folder begin with.
    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Returns the number of files that are there, in the folder and beside it.
    pub(crate) fn files(&self) -> usize {
        let beside = named(&format!("{}-", self.prefix)).len();
        beside + files_below(&self.folder)
    }

    /// Removes what processes have left that do not run any more.
    pub(crate) fn sweep() {
        for path in named(&format!("{NAME}-")) {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let process = name.trim_start_matches(NAME).split('-').nth(1);
            if !process.is_some_and(runs) {
                remove(&path);
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        remove(&self.folder);
        named(&format!("{}-", self.prefix)).iter().for_each(|path| remove(path));
    }
}

/// Returns whether the process of this number runs. One that nobody waits for stays as a zombie.
fn runs(number: &str) -> bool {
    let status = fs::read_to_string(Path::new("/proc").join(number).join("status"));
    status.is_ok_and(|status| !status.contains("\nState:\tZ"))
}

/// Returns what is in memory under names that begin with `prefix`.
fn named(prefix: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(MEMORY) else { return Vec::new() };
    let entries = entries
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with(prefix)));
    entries.map(|entry| entry.path()).collect()
}

fn files_below(folder: &Path) -> usize {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let entries = entries.flatten().map(|entry| entry.path());
    entries.map(|path| if path.is_dir() { files_below(&path) } else { 1 }).sum()
}

/// Removes a file or a folder. What is gone needs no removal.
fn remove(path: &Path) {
    let _gone = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_of_a_run_or_of_a_process_that_was_killed() {
        let place = Place::new().unwrap();
        let folder = place.folder().to_owned();
        let beside = Path::new(MEMORY).join(format!("{}-memory", place.prefix()));
        // No process has this number: it is above the largest one.
        let of_a_dead_one = Path::new(MEMORY).join(format!("{NAME}-4194305-0"));
        fs::create_dir_all(folder.join("below")).unwrap();
        fs::write(folder.join("below/file"), "").unwrap();
        fs::write(&beside, "").unwrap();
        fs::write(&of_a_dead_one, "").unwrap();
        assert_eq!(place.files(), 2);
        Place::sweep();
        assert!(beside.exists() && !of_a_dead_one.exists());
        drop(place);
        assert!(!beside.exists() && !folder.exists());
    }
}
