//! The media driver of an example: `driver.sh` starts it, and stops it at the end.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What `driver.sh` exits with if there is no Java, or no jar of Aeron.
const CANNOT_RUN: i32 = 77;

/// A driver that ends with this value.
pub(crate) struct Driver {
    dir: PathBuf,
}

impl Driver {
    /// Starts a driver. Returns `None`, and says so, if that is not possible here.
    pub(crate) fn start() -> Result<Option<Self>, Box<dyn Error>> {
        let name = format!("lapwing-aeron-{}", std::process::id());
        let memory = Path::new("/dev/shm");
        let dir = if memory.is_dir() { memory.join(name) } else { std::env::temp_dir().join(name) };
        let status = script("start", &dir).arg("-Daeron.dir.delete.on.shutdown=true").status()?;
        match status.code() {
            Some(0) => Ok(Some(Self { dir })),
            Some(CANNOT_RUN) => {
                println!("not run: this example needs Java and the jar of Aeron");
                Ok(None)
            }
            _ => Err("the media driver does not start".into()),
        }
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        if let Err(error) = script("stop", &self.dir).status() {
            eprintln!("the media driver may still run: {error}");
        }
    }
}

fn script(command: &str, dir: &Path) -> Command {
    let mut script = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("driver.sh"));
    script.arg(command).arg(dir);
    script
}
