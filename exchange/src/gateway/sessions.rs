//! Which connections are open, how many may be, and how all of them end. Not here: what a session
//! does (`session`), and how its bytes come and go (`connection`).

use std::collections::HashMap;
use std::io::{self, PipeReader, PipeWriter};
use std::net::TcpStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::connection::Connection;

/// How long a shutdown goes on reading what has arrived. A client that keeps sending would hold it
/// up without end.
const LONGEST_ARRIVAL: Duration = Duration::from_secs(1);

/// The sessions whose threads may still run.
#[derive(Debug)]
pub(super) struct Sessions {
    most: usize,
    state: Mutex<State>,
    changed: Condvar,
    /// Closed at the other side when the gateway ends. All threads that wait for a client wait for
    /// it too.
    end: PipeReader,
    /// When the gateway began to end.
    stopping: OnceLock<Instant>,
}

#[derive(Debug, Default)]
struct State {
    /// The number of the last session.
    last: u64,
    open: HashMap<u64, Weak<Connection>>,
    /// Threads that read.
    reading: usize,
}

/// Ends all sessions when it is dropped. It closes a descriptor and needs none.
#[derive(Debug)]
pub(super) struct Ender {
    sessions: Arc<Sessions>,
    _wakes: PipeWriter,
}

impl Drop for Ender {
    fn drop(&mut self) {
        // Set before the pipe is closed, which wakes the threads.
        let _ = self.sessions.stopping.set(Instant::now());
    }
}

/// A thread that reads. It is counted until this is dropped, also by a panic.
#[derive(Debug)]
pub(super) struct Reading(Arc<Sessions>);

impl Sessions {
    /// Returns no sessions, of which there may be `most`.
    pub(super) fn new(most: usize) -> io::Result<(Arc<Self>, Ender)> {
        let (end, wakes) = io::pipe()?;
        let (state, changed, stopping) = Default::default();
        let sessions = Arc::new(Self { most, state, changed, end, stopping });
        Ok((Arc::clone(&sessions), Ender { sessions, _wakes: wakes }))
    }

    /// The number of sessions that there may be.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// What is ready to read once the gateway ends.
    pub(super) fn end(&self) -> &PipeReader {
        &self.end
    }

    /// Whether the gateway ends. What has arrived is still read.
    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.get().is_some()
    }

    /// Whether nothing is read any more.
    pub(super) fn is_over(&self) -> bool {
        self.stopping.get().is_some_and(|since| since.elapsed() > LONGEST_ARRIVAL)
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
        let id = state.last;
        let connection = Arc::new(Connection::new(id, socket, Arc::clone(self)));
        state.open.insert(id, Arc::downgrade(&connection));
        Ok((connection, Reading(Arc::clone(self))))
    }

    /// Notes that a connection is closed.
    pub(super) fn leave(&self, id: u64) {
        self.change(|state| _ = state.open.remove(&id));
    }

    /// Ends each connection.
    pub(super) fn cut_off(&self) {
        // Not under the lock: the drop of a connection takes it.
        let open: Vec<_> = self.lock().open.values().filter_map(Weak::upgrade).collect();
        open.iter().for_each(|connection| connection.close());
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

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// No panic leaves the state half changed.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
        let (sessions, _ender) = Sessions::new(1).unwrap();
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
