//! The gateway: clients connect by TCP, and send commands or get market data.
//!
//! - [`wire`]: the binary protocol, for programs.
//! - [`text`]: the line protocol, for people: `nc localhost PORT`, then `help`.
//!
//! Each session has a thread that reads. A session that has answers to get has one more that writes.
//! A stage of the output ring never waits for a client: it puts answers into a queue that grows, up to
//! a limit. [`Settings`] limits how many sessions there are, and what waits for each of them.
//!
//! A session logs in for an account or as the operator ([`Login`]), and sends the commands of it only.
//! A gateway without secrets lets each session send all commands, and serves this machine only.
//! Market data names no account, so each client may get it. Nothing is encrypted: a network that others
//! can read needs a tunnel.

mod accepting;
mod answers;
mod connection;
mod error;
mod market_data;
mod notes;
mod open_orders;
mod outbox;
mod secret_file;
mod secrets;
mod session;
mod sessions;
mod settings;
mod shared_snapshot;
pub mod text;
pub mod wire;

use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::mpsc::Sender;
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use self::answers::{Answers, Change};
use self::market_data::{MarketData, Subscribing};
use self::notes::Notes;
use self::secrets::Secrets;
use self::sessions::{Ender, Sessions};
use crate::Exchange;
use crate::engine::Engine;
use crate::service::{Input, Opened, Service, ServiceError};

pub use self::error::GatewayError;
pub use self::secret_file::set_secret;
pub use self::secrets::{Actor, Login, SECRET_BYTES, Secret, SecretError, SecretsError};
pub use self::settings::{Settings, SettingsError};

/// How long a shutdown waits until all clients have taken their answers, and standard error the notes.
const LONGEST_DELIVERY: Duration = Duration::from_secs(5);
/// How often a shutdown checks whether the exchange has failed.
const PAUSE: Duration = Duration::from_millis(50);
/// The stack of a thread of the gateway. The default of 2 MiB would use up the addresses of a process
/// with limited memory.
const STACK_BYTES: usize = 256 << 10;

/// An exchange that clients can reach.
#[derive(Debug)]
pub struct Gateway {
    service: Service,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
    ender: Ender,
    address: SocketAddr,
}

/// What the threads of the gateway share.
#[derive(Debug)]
struct Shared {
    settings: Settings,
    /// Without them, each session may send all commands.
    secrets: Option<Secrets>,
    changing: Sender<Change>,
    subscribing: Subscribing,
    started: Instant,
    /// Set during a shutdown, if commands are not answered any more.
    failed: OnceLock<()>,
    sessions: Arc<Sessions>,
    notes: Notes,
}

impl Gateway {
    /// Starts a recovered exchange with the default [`Settings`], and lets clients connect to
    /// `address`.
    ///
    /// # Errors
    ///
    /// [`GatewayError`] if the address cannot be used, or the exchange does not start.
    pub fn start(opened: Opened, address: impl ToSocketAddrs) -> Result<Self, GatewayError> {
        Self::start_with(opened, address, Settings::default())
    }

    /// Starts a recovered exchange, and lets clients connect to `address`.
    ///
    /// # Errors
    ///
    /// [`GatewayError`] if a setting is out of range, the address cannot be used, or the exchange
    /// does not start.
    pub fn start_with(
        opened: Opened,
        address: impl ToSocketAddrs,
        settings: Settings,
    ) -> Result<Self, GatewayError> {
        let (listener, secrets) = bind(address, &settings)?;
        let address = listener.local_addr()?;
        let (sessions, ender) = Sessions::new(settings.sessions)?;
        let next = opened.next_sequence();
        let (answers, changing) = Answers::new(next);
        let (market_data, subscribing) = MarketData::new(&opened.engine().state(), next);
        let memory = opened.memory_change();
        let (service, mut entry) = opened.start(answers, market_data)?;
        if let Some(command) = memory {
            let input = Input::of_operator(&command);
            entry.publish(|slot| *slot = input).map_err(GatewayError::from)?;
        }
        let shared = Arc::new(Shared {
            settings,
            secrets,
            changing,
            subscribing,
            started: Instant::now(),
            failed: OnceLock::new(),
            sessions,
            notes: Notes::start()?,
        });
        let accepting = accepting::start(listener, entry, Arc::clone(&shared))?;
        Ok(Self { service, shared, accepting, ender, address })
    }

    /// Checks whether a gateway could start here. It takes the address and gives it back, so that no
    /// client connects to an exchange that does not serve yet.
    ///
    /// # Errors
    ///
    /// The error that [`start_with`](Self::start_with) would return before it starts the exchange.
    pub fn check(address: impl ToSocketAddrs, settings: &Settings) -> Result<(), GatewayError> {
        bind(address, settings).map(drop)
    }

    /// Returns the address that clients connect to.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether a stage of the exchange has failed, or a snapshot cannot be written. Then
    /// [`shutdown`](Self::shutdown) says why.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.service.has_failed()
    }

    /// Ends all sessions, carries out the commands that have arrived, and closes the journal.
    /// Returns the engine. Clients get the answers that are queued for them, also after a failure,
    /// and then the end of their connections.
    ///
    /// A client that keeps sending is read for one more second. A client that does not take its
    /// answers within five seconds does not get the rest, and neither does a reader of standard error.
    ///
    /// # Errors
    ///
    /// [`ServiceError`] if a stage, the journal or a snapshot has failed.
    ///
    /// # Blocking
    ///
    /// Waits for the stages and the clients, and for space on a full disk.
    pub fn shutdown(self) -> Result<Engine, ServiceError> {
        let Self { service, shared, accepting, ender, .. } = self;
        drop(ender);
        let _ = accepting.join();
        let sessions = &shared.sessions;
        while !sessions.wait_until_read(PAUSE) {
            if service.has_failed() {
                let _ = shared.failed.set(());
            }
        }
        let ended = service.shutdown();
        // The stages have dropped the outboxes, also after a failure.
        if !sessions.wait_until_closed(LONGEST_DELIVERY) {
            sessions.cut_off();
            sessions.wait_until_closed(LONGEST_DELIVERY);
        }
        shared.notes.wait_until_written(LONGEST_DELIVERY);
        ended
    }
}

impl Shared {
    /// Whether a shutdown has found that commands are not answered any more.
    fn has_failed(&self) -> bool {
        self.failed.get().is_some()
    }
}

/// Checks the settings, reads the secrets and takes the address. Without secrets, it must be one that
/// no other machine can reach.
fn bind(
    address: impl ToSocketAddrs,
    settings: &Settings,
) -> Result<(TcpListener, Option<Secrets>), GatewayError> {
    settings.check()?;
    let secrets = settings.secrets.as_deref().map(Secrets::open).transpose()?;
    let addresses: Vec<SocketAddr> = address.to_socket_addrs()?.collect();
    let is_loopback = |address: &SocketAddr| address.ip().to_canonical().is_loopback();
    match addresses.iter().find(|address| !is_loopback(address)) {
        Some(&address) if secrets.is_none() => Err(GatewayError::NotLoopback(address)),
        _ => Ok((TcpListener::bind(&*addresses)?, secrets)),
    }
}
