//! The gateway: clients connect by TCP, and send commands or get market data.
//!
//! - [`wire`]: the binary protocol, for programs.
//! - [`text`]: the line protocol, for people: `nc localhost PORT`, then `help`.
//!
//! Each session has a thread that reads. A session that has answers to get has one more that writes.
//! The gateway trusts its clients: a session may send commands for any account, and those of the
//! operator. Put it behind a component that authenticates clients.

mod answers;
mod error;
mod market_data;
mod outbox;
mod session;
pub mod text;
pub mod wire;

use std::collections::HashMap;
use std::mem;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use self::answers::{Answers, Change};
use self::market_data::{MarketData, Subscribing};
use self::outbox::{Encode, Outbox};
use self::session::Session;
use crate::Exchange;
use crate::engine::Engine;
use crate::service::{Entry, Input, Opened, Service, ServiceError};

pub use self::error::GatewayError;

/// A client that takes nothing for this long is gone.
const LONGEST_WRITE: Duration = Duration::from_secs(2);
/// How long a shutdown goes on reading what has arrived. A client that keeps sending would hold it
/// up without end.
const LONGEST_ARRIVAL: Duration = Duration::from_secs(1);
/// How long a shutdown waits until all clients have taken their answers.
const LONGEST_DELIVERY: Duration = Duration::from_secs(5);
/// How often a shutdown looks whether they have.
const DELIVERY_PAUSE: Duration = Duration::from_millis(5);
/// The pause after a client that could not be served. Without it, the thread that accepts would
/// spin as long as the process has no free file descriptor.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// An exchange that clients can reach.
#[derive(Debug)]
pub struct Gateway {
    service: Service,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
    address: SocketAddr,
}

/// What the threads of the gateway share.
#[derive(Debug)]
struct Shared {
    changing: Sender<Change>,
    subscribing: Subscribing,
    started: Instant,
    /// When the shutdown began.
    stopping: OnceLock<Instant>,
    sessions: Mutex<Sessions>,
    /// The threads that write. They end when the stages have dropped the outboxes.
    writers: Mutex<Vec<Client>>,
}

/// A thread that reads from or writes to a client, with its connection.
type Client = (Arc<TcpStream>, JoinHandle<()>);

/// The sessions whose threads may still run.
#[derive(Debug, Default)]
struct Sessions {
    last: u64,
    open: HashMap<u64, Client>,
}

impl Gateway {
    /// Starts a recovered exchange, and lets clients connect to `address`.
    ///
    /// # Errors
    ///
    /// [`GatewayError`] if the address cannot be used, or the exchange does not start.
    pub fn start(opened: Opened, address: impl ToSocketAddrs) -> Result<Self, GatewayError> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
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
            changing,
            subscribing,
            started: Instant::now(),
            stopping: OnceLock::new(),
            sessions: Mutex::default(),
            writers: Mutex::default(),
        });
        let accept = {
            let shared = Arc::clone(&shared);
            move || accept_all(&listener, &entry, &shared)
        };
        let accepting = thread::Builder::new().name("accept".into()).spawn(accept)?;
        Ok(Self { service, shared, accepting, address })
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
    /// answers within five seconds does not get the rest.
    ///
    /// # Errors
    ///
    /// [`ServiceError`] if a stage, the journal or a snapshot has failed.
    pub fn shutdown(self) -> Result<Engine, ServiceError> {
        let _ = self.shared.stopping.set(Instant::now());
        let _ = TcpStream::connect(self.address); // wakes the thread that accepts
        let _ = self.accepting.join();
        for (socket, reading) in self.shared.take_sessions() {
            let _ = socket.shutdown(Shutdown::Read);
            let _ = reading.join();
        }
        let ended = self.service.shutdown();
        // The stages have dropped the outboxes, also after a failure.
        self.shared.join_writers();
        ended
    }
}

impl Shared {
    fn is_stopping(&self) -> bool {
        self.stopping.get().is_some()
    }

    /// Whether a session must not read any more.
    fn is_over(&self) -> bool {
        self.stopping.get().is_some_and(|since| since.elapsed() > LONGEST_ARRIVAL)
    }

    /// Waits until each client has taken its answers, and cuts off the late ones.
    fn join_writers(&self) {
        let writers = mem::take(&mut *lock(&self.writers));
        let begun = Instant::now();
        for (socket, writing) in writers {
            while !writing.is_finished() && begun.elapsed() < LONGEST_DELIVERY {
                thread::sleep(DELIVERY_PAUSE);
            }
            if !writing.is_finished() {
                let _ = socket.shutdown(Shutdown::Both);
            }
            let _ = writing.join();
        }
    }

    fn take_sessions(&self) -> Vec<Client> {
        let mut sessions = lock(&self.sessions);
        sessions.open.drain().map(|(_, session)| session).collect()
    }

    /// Starts the thread that writes to a client.
    fn start_outbox(
        &self,
        socket: &Arc<TcpStream>,
        encode: Encode,
    ) -> Result<Outbox, GatewayError> {
        let (outbox, writing) = Outbox::start(Arc::clone(socket), encode)?;
        let mut writers = lock(&self.writers);
        writers.retain(|(_, writing)| !writing.is_finished());
        writers.push((Arc::clone(socket), writing));
        Ok(outbox)
    }

    /// Starts the session of a client.
    fn open(self: &Arc<Self>, socket: TcpStream, entry: Entry) -> Result<(), GatewayError> {
        socket.set_nodelay(true)?;
        socket.set_write_timeout(Some(LONGEST_WRITE))?;
        let socket = Arc::new(socket);
        let mut sessions = lock(&self.sessions);
        sessions.open.retain(|_, (_, reading)| !reading.is_finished());
        sessions.last += 1;
        let id = sessions.last;
        let session = Session::new(id, Arc::clone(&socket), entry, Arc::clone(self));
        let run = move || session.run();
        let reading = thread::Builder::new().name(format!("session {id}")).spawn(run)?;
        sessions.open.insert(id, (socket, reading));
        Ok(())
    }
}

/// Locks a value that no panic leaves half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept_all(listener: &TcpListener, entry: &Entry, shared: &Arc<Shared>) {
    for socket in listener.incoming() {
        if shared.is_stopping() {
            return;
        }
        let opened = socket
            .map_err(GatewayError::from)
            .and_then(|socket| shared.open(socket, entry.clone()));
        if let Err(error) = opened {
            eprintln!("gateway: a client was not served: {error}");
            thread::sleep(ACCEPT_PAUSE);
        }
    }
}
