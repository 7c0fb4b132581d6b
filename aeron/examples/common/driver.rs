//! The media driver of an example: a child process that ends with it.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// What `driver.sh` exits with if there is no Java, or no jar of Aeron.
const CANNOT_RUN: i32 = 77;

/// A driver that ends with this value.
pub(crate) struct Driver {
    dir: PathBuf,
    child: Child,
}

impl Driver {
    /// Starts a driver, with options of Java. Returns `None`, and says so, if that is not possible here.
    pub(crate) fn start(options: &[&str]) -> Result<Option<Self>, Box<dyn Error>> {
        let name = format!("lapwing-aeron-{}", std::process::id());
        let memory = Path::new("/dev/shm");
        let dir = if memory.is_dir() { memory.join(name) } else { std::env::temp_dir().join(name) };
        // A package of this workspace, or one in a folder of it.
        let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
        let script =
            folders.find_map(|folder| Some(folder.join("driver.sh")).filter(|s| s.is_file()));
        let mut script = Command::new(script.ok_or("there is no driver.sh")?);
        script.arg("run").arg(&dir).args(options).stdin(Stdio::null()).stdout(Stdio::null());
        let mut driver = Self { child: script.spawn()?, dir };
        // Clients wait for its first heartbeat.
        while !driver.dir.join("cnc.dat").is_file() {
            if let Some(status) = driver.child.try_wait()? {
                return driver.has_ended(status.code());
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(Some(driver))
    }

    fn has_ended(self, code: Option<i32>) -> Result<Option<Self>, Box<dyn Error>> {
        if code != Some(CANNOT_RUN) {
            return Err("the media driver does not start".into());
        }
        println!("not run: this needs Java and the jar of Aeron");
        Ok(None)
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}
