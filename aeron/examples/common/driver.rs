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
    /// Starts a driver. Returns `None`, and says so, if that is not possible here.
    pub(crate) fn start() -> Result<Option<Self>, Box<dyn Error>> {
        let name = format!("lapwing-aeron-{}", std::process::id());
        let memory = Path::new("/dev/shm");
        let dir = if memory.is_dir() { memory.join(name) } else { std::env::temp_dir().join(name) };
        let mut script = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("driver.sh"));
        script.arg("run").arg(&dir).stdin(Stdio::null()).stdout(Stdio::null());
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
        println!("not run: this example needs Java and the jar of Aeron");
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
