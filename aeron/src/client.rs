//! The connection of this process to a media driver, which its publishers and subscribers share.

use std::ffi::CString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusteron_client::{Aeron, AeronCError, AeronCnc, AeronContext};

use crate::error::OpenError;

/// The timeout of Aeron's own clients.
const DRIVER_TIMEOUT: Duration = Duration::from_secs(10);

/// A client of a media driver. Clones share one connection.
///
/// The connection is made when the first publisher or subscriber needs it, and again after the
/// driver has gone. Aeron runs one thread for it, which sleeps most of the time.
///
/// ```
/// use std::time::Duration;
/// use lapwing_aeron::{Client, OpenError, Publisher, Stream};
///
/// let client = Client::new("/dev/shm/no-driver-runs-here").driver_timeout(Duration::from_secs(2));
/// let mut publisher = Publisher::<u64>::plain(&client, Stream::ipc(7));
/// let error = publisher.open(Duration::from_millis(10)).unwrap_err();
/// assert!(matches!(error, OpenError::NoDriver { .. }));
/// ```
#[derive(Clone)]
pub struct Client {
    dir: PathBuf,
    driver_timeout: Duration,
    current: Arc<Mutex<Option<Connection>>>,
}

impl Client {
    /// Creates a client for the driver whose folder (`aeron.dir`) is `dir`. It does not connect
    /// yet.
    #[must_use]
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into(), driver_timeout: DRIVER_TIMEOUT, current: Arc::default() }
    }

    /// Sets after how long without a heartbeat the driver counts as gone: 10 s by default. Clones
    /// made before keep theirs.
    ///
    /// A publisher whose driver dies is held back meanwhile, at the latest when a term is full. A
    /// driver beats once a second, so a shorter timeout takes a live driver for a dead one.
    #[must_use]
    pub fn driver_timeout(mut self, timeout: Duration) -> Self {
        self.driver_timeout = timeout;
        self
    }

    /// Returns the folder that the driver and its clients share.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the connection, after making one if there is none or it has ended. Does not wait for
    /// a driver.
    pub(crate) fn connection(&self) -> Result<Connection, OpenError> {
        let mut current = self.lock();
        if let Some(connection) = current.as_ref().filter(|connection| connection.is_open()) {
            return Ok(connection.clone());
        }
        if !self.driver_is_alive() {
            return Err(OpenError::NoDriver { dir: self.dir.clone() });
        }
        let connection = Connection::new(&self.dir, self.driver_timeout)
            .map_err(|error| OpenError::Client { reason: text(&error) })?;
        Ok(current.insert(connection).clone())
    }

    /// Whether the driver has sent a heartbeat within the timeout. Connecting to a driver without
    /// one would block.
    fn driver_is_alive(&self) -> bool {
        let Ok(dir) = CString::new(self.dir.as_os_str().as_encoded_bytes()) else { return false };
        if !self.dir.join("cnc.dat").is_file() {
            return false;
        }
        let mut heartbeat = None;
        let opened = AeronCnc::read(&dir, |cnc| heartbeat = cnc.get_to_driver_heartbeat_ms().ok());
        let Some(heartbeat) = heartbeat.filter(|beat| opened.is_ok() && *beat > 0) else {
            return false;
        };
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let age = since_epoch.saturating_sub(Duration::from_millis(heartbeat.unsigned_abs()));
        age < self.driver_timeout
    }

    fn lock(&self) -> MutexGuard<'_, Option<Connection>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("dir", &self.dir)
            .field("driver_timeout", &self.driver_timeout)
            .finish_non_exhaustive()
    }
}

/// One connection to a driver. It ends when the driver goes, and then stays so.
#[derive(Clone)]
pub(crate) struct Connection {
    pub(crate) aeron: Aeron,
    /// The last error that the conductor thread has reported.
    last_error: Arc<Mutex<Option<String>>>,
}

impl Connection {
    fn new(dir: &Path, driver_timeout: Duration) -> Result<Self, AeronCError> {
        let last_error = Arc::new(Mutex::new(None));
        let reported = Arc::clone(&last_error);
        let context = AeronContext::new()?;
        let dir = CString::new(dir.as_os_str().as_encoded_bytes())
            .map_err(|_| AeronCError::from_code(-1))?;
        context.set_dir(&dir)?;
        context
            .set_driver_timeout_ms(u64::try_from(driver_timeout.as_millis()).unwrap_or(u64::MAX))?;
        // Without a handler, the client ends the process.
        context.set_error_handler(Some(move |_code: i32, message: &str| {
            *reported.lock().unwrap_or_else(PoisonError::into_inner) = Some(one_line(message));
        }))?;
        let aeron = Aeron::new(&context)?;
        aeron.start()?;
        Ok(Self { aeron, last_error })
    }

    pub(crate) fn is_open(&self) -> bool {
        !self.aeron.is_closed()
    }

    /// Why the connection has ended, as far as Aeron says.
    pub(crate) fn reason(&self) -> String {
        let reported = self.last_error.lock().unwrap_or_else(PoisonError::into_inner);
        reported.clone().unwrap_or_else(|| "the client is closed".into())
    }
}

/// What Aeron says about an error, in one line.
pub(crate) fn text(error: &AeronCError) -> String {
    let message = one_line(error.get_last_err_message());
    if message.is_empty() { error.to_string() } else { message }
}

/// Aeron's messages have a line for each C function that the error has passed.
fn one_line(message: &str) -> String {
    let lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("; ")
}
