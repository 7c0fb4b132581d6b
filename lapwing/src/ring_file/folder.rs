//! The folder of the files of rings, and their names: `NAME.PID.NUMBER`. Not here: what is in a file.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use crate::observable_name::is_name;

/// The variable that names another folder.
const VARIABLE: &str = "LAPWING_DIR";

/// Returns the folder that the environment names.
pub(crate) fn named_folder() -> Option<PathBuf> {
    env::var_os(VARIABLE).filter(|folder| !folder.is_empty()).map(PathBuf::from)
}

/// Returns the folder of the files of this user.
pub(crate) fn folder() -> PathBuf {
    named_folder().unwrap_or_else(default_folder)
}

fn default_folder() -> PathBuf {
    let in_memory = Path::new("/dev/shm");
    let parent = if in_memory.is_dir() { in_memory.to_owned() } else { env::temp_dir() };
    parent.join(format!("lapwing-{}", user()))
}

#[cfg(target_os = "linux")]
fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[cfg(not(target_os = "linux"))]
fn user() -> u32 {
    0
}

/// Returns the name of a file.
pub(crate) fn file_name(name: &str, pid: u32, number: u64) -> String {
    format!("{name}.{pid}.{number}")
}

/// Returns the name of the ring, the number of the process and that of the ring in the process, if this
/// is the name of a ring's file.
pub(crate) fn parts_of(file_name: &str) -> Option<(&str, u32, u64)> {
    let (rest, number) = file_name.rsplit_once('.')?;
    let (name, pid) = rest.rsplit_once('.')?;
    let (pid, number) = (pid.parse().ok()?, number.parse().ok()?);
    is_name(name).then_some((name, pid, number))
}

/// Returns the names of the files of rings in `folder`, by the names and the ages of the rings.
///
/// # Errors
///
/// What the system says; a folder that does not exist has no files.
pub(crate) fn file_names(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry?.file_name().into_string();
        names.extend(name.ok().filter(|name| parts_of(name).is_some()));
    }
    names.sort_by(|one, other| parts_of(one).cmp(&parts_of(other)));
    Ok(names)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::observable_name::MAX_NAME;

    #[test]
    fn a_name_cannot_leave_its_folder() {
        for name in ["orders", "market-data_2", "v1.2", &"x".repeat(MAX_NAME)] {
            assert!(is_name(name), "{name}");
            assert_eq!(parts_of(&file_name(name, 7, 3)), Some((name, 7, 3)));
        }
        for name in ["", ".", "..", ".x", "a/b", "/a", "a\0", "a b", "ä", &"x".repeat(65)] {
            assert!(!is_name(name), "{name}");
        }
        for other in ["orders", "orders.7", "orders.x.3", "orders.7.x", ".x.7.3", "4.4"] {
            assert_eq!(parts_of(other), None, "{other}");
        }
    }
}
