//! The programs of the check: the media driver, the leader and the follower.

use std::fmt;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Process, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use super::super::Result;
use super::super::program::Program;

/// What the scripts of `aeron/` exit with if a tool is missing. They say which.
const CANNOT_RUN: u8 = 77;

/// Commands from one hash of the state to the next.
const HASH_EVERY: &str = "5000";

/// The check cannot run here, since a tool is missing.
#[derive(Debug)]
pub(crate) struct CannotRun;

impl CannotRun {
    /// What the program exits with.
    pub(crate) const STATUS: u8 = CANNOT_RUN;
}

impl fmt::Display for CannotRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the replicated exchange was not run: a tool is missing, see above")
    }
}

impl std::error::Error for CannotRun {}

fn aeron() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../aeron")
}

fn expect_success(what: &str, status: ExitStatus) -> Result<()> {
    match status.code() {
        Some(0) => Ok(()),
        Some(code) if code == i32::from(CANNOT_RUN) => Err(CannotRun.into()),
        _ => Err(format!("{what}: {status}").into()),
    }
}

/// Builds leader and follower, which are in a workspace of their own. Returns the program.
pub(super) fn build() -> Result<PathBuf> {
    let mut build = Process::new("bash");
    build.arg(aeron().join("tools.sh")).args(["cargo", "build", "--release", "--quiet"]);
    build.args(["--package", "exchange-replica", "--message-format=json-render-diagnostics"]);
    build.arg("--manifest-path").arg(aeron().join("Cargo.toml"));
    let output = build.stderr(Stdio::inherit()).output()?;
    expect_success("the build of the replica", output.status)?;
    let messages = String::from_utf8(output.stdout)?;
    let mut after = messages.split("\"executable\":\"").skip(1);
    let program = after.find_map(|rest| rest.split('"').next()).ok_or("cargo names no program")?;
    Ok(PathBuf::from(program))
}

/// Aeron's media driver, with short timeouts.
pub(super) struct Driver {
    process: Child,
    dir: PathBuf,
}

impl Driver {
    pub(super) fn start() -> Result<Self> {
        let name = format!("exchange-aeron-{}", std::process::id());
        let memory = Path::new("/dev/shm");
        let dir = if memory.is_dir() { memory.join(name) } else { std::env::temp_dir().join(name) };
        let mut script = Process::new("bash");
        script.arg(aeron().join("driver.sh")).arg("run").arg(&dir);
        script.args(["-Daeron.client.liveness.timeout=3s", "-Daeron.image.liveness.timeout=2s"]);
        let process = script.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
        let mut driver = Self { process, dir };
        while !driver.dir.join("cnc.dat").is_file() {
            if let Some(status) = driver.process.try_wait()? {
                expect_success("the media driver", status)?;
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(driver)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// Starts a leader. Returns where it listens.
pub(super) fn start_leader(
    replica: &Path,
    driver: &Driver,
    folder: &Path,
    acknowledge: &str,
) -> Result<(Program, SocketAddr)> {
    let mut process = part(replica, "leader", driver, folder);
    let mut leader = Program::start("leader", process.args(["--acknowledge", acknowledge]))?;
    leader.line("recovered: ")?;
    let address = leader.line("listening: ")?.parse()?;
    Ok((leader, address))
}

/// Starts a follower, and waits until it follows.
pub(super) fn start_follower(replica: &Path, driver: &Driver, folder: &Path) -> Result<Program> {
    let mut follower = Program::start("follower", &mut part(replica, "follower", driver, folder))?;
    follower.line("recovered: ")?;
    follower.line("following: ")?;
    Ok(follower)
}

fn part(replica: &Path, name: &str, driver: &Driver, folder: &Path) -> Process {
    let mut process = Process::new(replica);
    process.args([name, "--address", "127.0.0.1:0", "--hash-every", HASH_EVERY]);
    process.arg("--aeron").arg(&driver.dir).arg("--folder").arg(folder);
    process
}
