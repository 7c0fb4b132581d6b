//! The thread that accepts clients, and refuses those that are too many.

use std::io::{self, ErrorKind, PipeReader, PipeWriter, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt;

use super::session::Session;
use super::{Shared, note};
use crate::service::Entry;

/// The pause after a client that could not be served: without descriptors, memory or threads. The
/// listener stays ready meanwhile, so that without a pause the thread would spin.
const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
/// The stack of a thread of a session. The default of 2 MiB would use up the addresses of a process
/// with limited memory.
pub(super) const STACK_BYTES: usize = 256 << 10;
/// A client that does not answer the system for a minute is gone: 30 s of silence, then three
/// probes.
const KEEPALIVE: (Duration, Duration, u32) = (Duration::from_secs(30), Duration::from_secs(10), 3);
/// A client that takes nothing for this long is gone.
pub(super) const LONGEST_WRITE: Duration = Duration::from_secs(2);

/// Ends the thread that accepts when it is dropped. It closes a descriptor and needs none.
pub(super) type Waker = PipeWriter;

/// The thread that accepts.
struct Accepting {
    listener: TcpListener,
    /// Ends with the waker.
    end: PipeReader,
    entry: Entry,
    shared: Arc<Shared>,
}

/// Starts the thread that accepts clients.
pub(super) fn start(
    listener: TcpListener,
    entry: Entry,
    shared: Arc<Shared>,
) -> io::Result<(JoinHandle<()>, Waker)> {
    listener.set_nonblocking(true)?;
    let (end, waker) = io::pipe()?;
    let accepting = Accepting { listener, end, entry, shared };
    let accept = move || accepting.run();
    Ok((thread::Builder::new().name("accept".into()).spawn(accept)?, waker))
}

impl Accepting {
    fn run(self) {
        let mut is_served = true;
        while !self.is_over(true, None) {
            match self.accept() {
                Ok(()) => is_served = true,
                Err(error) => {
                    if is_served {
                        note(format_args!("clients are not served for now: {error}"));
                    }
                    is_served = false;
                    if self.is_over(false, Some(&PAUSE)) {
                        break;
                    }
                }
            }
        }
    }

    /// Waits for the end, for a client if `for_clients`, and at most for `timeout`. Returns whether
    /// the gateway ends.
    fn is_over(&self, for_clients: bool, timeout: Option<&Timespec>) -> bool {
        let mut both =
            [PollFd::new(&self.end, PollFlags::IN), PollFd::new(&self.listener, PollFlags::IN)];
        let awaited = if for_clients { &mut both[..] } else { &mut both[..1] };
        // An error is an interruption by a signal, or the system has no memory.
        let _ = poll(awaited, timeout);
        !both[0].revents().is_empty()
    }

    /// Accepts a client, if there is one.
    fn accept(&self) -> io::Result<()> {
        let socket = match self.listener.accept() {
            Ok((socket, _)) => socket,
            // It has gone already.
            Err(error) if is_no_client(&error) => return Ok(()),
            Err(error) => return Err(error),
        };
        if let Err(error) = prepare(&socket) {
            note(format_args!("a client was not served: {error}"));
            return Ok(());
        }
        self.open(socket)
    }

    /// Starts the session of a client, or says why not.
    fn open(&self, socket: TcpStream) -> io::Result<()> {
        let (connection, reading) = match self.shared.sessions.enter(socket) {
            Ok(entered) => entered,
            Err(socket) => {
                let most = self.shared.sessions.most();
                refuse(&socket, &format!("the exchange has all its sessions: most={most}"));
                return Ok(());
            }
        };
        let id = connection.id;
        let session =
            Session::new(Arc::clone(&connection), self.entry.clone(), Arc::clone(&self.shared));
        let run = move || {
            let _reading = reading;
            session.run();
        };
        let thread = thread::Builder::new().name(format!("session {id}")).stack_size(STACK_BYTES);
        thread.spawn(run).map(drop).inspect_err(|_| {
            refuse(&connection.socket, "the exchange has no thread for the session");
        })
    }
}

fn is_no_client(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::ConnectionAborted | ErrorKind::Interrupted
    )
}

/// Sets what the system does with the socket of a session.
fn prepare(socket: &TcpStream) -> io::Result<()> {
    let (idle, interval, probes) = KEEPALIVE;
    socket.set_nonblocking(false)?; // some systems hand on the setting of the listener
    socket.set_nodelay(true)?;
    socket.set_write_timeout(Some(LONGEST_WRITE))?;
    sockopt::set_socket_keepalive(socket, true)?;
    sockopt::set_tcp_keepidle(socket, idle)?;
    sockopt::set_tcp_keepintvl(socket, interval)?;
    sockopt::set_tcp_keepcnt(socket, probes)?;
    Ok(())
}

/// Says why a client is not served. Never waits for it.
fn refuse(mut socket: &TcpStream, why: &str) {
    let _ = socket.set_nonblocking(true);
    let _ = socket.write_all(format!("error: {why}\n").as_bytes());
    // If bytes were unread, the system could reset the connection before the client reads the line.
    let _ = socket.read(&mut [0; 1024]);
    let _ = socket.shutdown(Shutdown::Both);
}
