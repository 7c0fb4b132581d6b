//! Which connections are open, and how many may be. Not here: what a session does (`session`).

use std::collections::HashMap;
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// The sessions whose threads may still run.
#[derive(Debug)]
pub(super) struct Sessions {
    most: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The number of the last session.
    last: u64,
    open: HashMap<u64, Weak<Connection>>,
    /// Threads that read.
    reading: usize,
}

/// The connection of a session. Its threads share it, and the last one that ends closes it. The
/// session then makes place for another one at once.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) id: u64,
    pub(super) socket: TcpStream,
    sessions: Arc<Sessions>,
    is_read: AtomicBool,
}

/// A thread that reads. It is counted until this is dropped, also by a panic.
#[derive(Debug)]
pub(super) struct Reading(Arc<Sessions>);

impl Sessions {
    /// Returns no sessions, of which there may be `most`.
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, state: Mutex::default(), changed: Condvar::new() })
    }

    /// The number of sessions that there may be.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Makes a session of a socket. Returns the socket if there are as many as there may be.
    pub(super) fn enter(
        self: &Arc<Self>,
        socket: TcpStream,
    ) -> Result<(Arc<Connection>, Reading), TcpStream> {
        let mut state = self.lock();
        if state.open.len() >= self.most {
            return Err(socket);
        }
        state.last += 1;
        state.reading += 1;
        let (id, sessions, is_read) = (state.last, Arc::clone(self), AtomicBool::new(true));
        let connection = Arc::new(Connection { id, socket, sessions, is_read });
        state.open.insert(id, Arc::downgrade(&connection));
        Ok((connection, Reading(Arc::clone(self))))
    }

    /// Lets each session read what has arrived, and no more.
    pub(super) fn finish_reading(&self) {
        self.each(|connection| _ = connection.socket.shutdown(Shutdown::Read));
    }

    /// Ends each connection.
    pub(super) fn cut_off(&self) {
        self.each(|connection| _ = connection.socket.shutdown(Shutdown::Both));
    }

    /// Waits until no session reads. Returns false after `timeout`.
    pub(super) fn wait_until_read(&self, timeout: Duration) -> bool {
        self.wait(timeout, |state| state.reading > 0)
    }

    /// Waits until all connections are closed. Returns false after `timeout`.
    pub(super) fn wait_until_closed(&self, timeout: Duration) -> bool {
        self.wait(timeout, |state| !state.open.is_empty())
    }

    fn wait(&self, timeout: Duration, is_waiting: impl Fn(&State) -> bool) -> bool {
        let waited =
            self.changed.wait_timeout_while(self.lock(), timeout, |state| is_waiting(state));
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    fn each(&self, act: impl Fn(&Connection)) {
        // Not under the lock: the drop of a connection takes it.
        let open: Vec<_> = self.lock().open.values().filter_map(Weak::upgrade).collect();
        open.iter().for_each(|connection| act(connection));
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// No panic leaves the state half changed.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    /// Reads no more, also of what arrives later. The answers are still written.
    pub(super) fn stop_reading(&self) {
        // Relaxed: it carries nothing, and the system wakes the thread that reads.
        self.is_read.store(false, Ordering::Relaxed);
        let _ = self.socket.shutdown(Shutdown::Read);
    }

    /// Whether the thread that reads may go on.
    pub(super) fn is_read(&self) -> bool {
        self.is_read.load(Ordering::Relaxed)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.sessions.change(|state| _ = state.open.remove(&self.id));
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.0.change(|state| state.reading -= 1);
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn socket(listener: &TcpListener) -> TcpStream {
        TcpStream::connect(listener.local_addr().unwrap()).unwrap()
    }

    #[test]
    fn a_session_makes_place_when_its_last_thread_ends() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let sessions = Sessions::new(1);
        let (connection, reading) = sessions.enter(socket(&listener)).unwrap();
        let writer = Arc::clone(&connection);
        assert!(sessions.enter(socket(&listener)).is_err());
        drop((connection, reading));
        assert!(sessions.wait_until_read(Duration::ZERO));
        assert!(!sessions.wait_until_closed(Duration::ZERO));
        drop(writer);
        assert!(sessions.wait_until_closed(Duration::ZERO));
        assert!(sessions.enter(socket(&listener)).is_ok());
    }
}
