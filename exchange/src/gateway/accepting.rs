//! The thread that accepts clients, and refuses those that are too many.

use std::io::{self, ErrorKind};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::connection::{prepare, refuse};
use super::session::Session;
use super::{STACK_BYTES, Shared};
use crate::service::Entry;

/// The pause after a client that could not be served: without descriptors, memory or threads. The
/// listener stays ready meanwhile, so that without a pause the thread would spin.
const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// The thread that accepts.
struct Accepting {
    listener: TcpListener,
    entry: Entry,
    shared: Arc<Shared>,
}

/// Starts the thread that accepts clients, until the sessions end.
pub(super) fn start(
    listener: TcpListener,
    entry: Entry,
    shared: Arc<Shared>,
) -> io::Result<JoinHandle<()>> {
    listener.set_nonblocking(true)?;
    let accepting = Accepting { listener, entry, shared };
    thread::Builder::new().name("accept".into()).spawn(move || accepting.run())
}

impl Accepting {
    fn run(self) {
        let mut is_served = true;
        while !self.is_over(true, None) {
            match self.accept() {
                Ok(()) => is_served = true,
                Err(error) => {
                    if is_served {
                        self.shared
                            .notes
                            .add(format_args!("clients are not served for now: {error}"));
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
        let end = PollFd::new(self.shared.sessions.end(), PollFlags::IN);
        let mut both = [end, PollFd::new(&self.listener, PollFlags::IN)];
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
            self.shared.notes.add(format_args!("a client was not served: {error}"));
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
            connection.refuse("the exchange has no thread for the session");
        })
    }
}

fn is_no_client(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::ConnectionAborted | ErrorKind::Interrupted
    )
}
