//! What goes out of a session: a bounded queue, and the thread that writes it to the socket.
//!
//! A stage of the output ring never waits for a client. If the queue of a client is full, the session
//! ends. The queue has no memory of its own: it grows with what waits.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::STACK_BYTES;
use super::connection::{Connection, LONGEST_WRITE};
use super::shared_snapshot::Snapshot;
use super::wire::Answer;

/// Bytes that are written in one call.
const WRITE_BYTES: usize = 16 << 10;
/// Bytes of a snapshot that a client takes in a second, after a grace of the longest write. A slower one
/// is gone: its snapshot keeps the memory that those of other subscribers need.
const SNAPSHOT_PACE: u64 = 1 << 20;
/// What a client learns if it does not read its answers.
const TOO_MANY: &[u8] = b"error: too many answers wait for this client\n";

/// Turns answers into bytes.
pub(super) type Encode = fn(&Answer, &mut Vec<u8>);

/// Bytes for a client that are no report.
pub(super) type Words = Cow<'static, [u8]>;

/// An end of a session's queue: a stage has one, and the thread that reads.
#[derive(Clone, Debug)]
pub(super) struct Outbox {
    queue: Sender<Outgoing>,
    connection: Arc<Connection>,
    /// The bytes of answers and words that wait.
    waiting: Arc<AtomicUsize>,
    most_waiting: usize,
}

/// What waits for a client.
#[derive(Debug)]
pub(super) enum Outgoing {
    Answer(Answer),
    /// A snapshot, which subscribers share, and the changes since.
    Snapshot(Arc<Snapshot>, Vec<Answer>),
    /// Changes of market data, which subscribers share.
    Changes(Arc<[Answer]>),
    /// Words that follow the answers to the first so many commands of the session.
    Words(u64, Words),
    /// Nothing follows.
    TooMany,
}

/// The thread that writes.
struct Writer {
    queue: Receiver<Outgoing>,
    connection: Arc<Connection>,
    waiting: Arc<AtomicUsize>,
    encode: Encode,
    bytes: Vec<u8>,
    /// Commands that are answered.
    answered: u64,
    /// Words that wait for answers.
    held: VecDeque<(u64, Words)>,
}

impl Outbox {
    /// Starts the thread that writes to a connection. It ends when all outboxes of the session are
    /// dropped, or if the client is gone. At most `most` answers may wait.
    pub(super) fn start(
        connection: &Arc<Connection>,
        encode: Encode,
        most: usize,
    ) -> io::Result<Self> {
        let (outbox, queue) = Self::new(connection, most);
        let writer = Writer {
            queue,
            connection: Arc::clone(connection),
            waiting: Arc::clone(&outbox.waiting),
            encode,
            bytes: Vec::new(),
            answered: 0,
            held: VecDeque::new(),
        };
        let thread = thread::Builder::new().name("writer".into()).stack_size(STACK_BYTES);
        thread.spawn(move || writer.run())?;
        Ok(outbox)
    }

    /// Returns an outbox and what waits in it.
    pub(super) fn new(connection: &Arc<Connection>, most: usize) -> (Self, Receiver<Outgoing>) {
        let (sender, queue) = channel();
        let (connection, waiting) = (Arc::clone(connection), Arc::new(AtomicUsize::new(0)));
        let most_waiting = most.saturating_mul(size_of::<Answer>());
        (Self { queue: sender, connection, waiting, most_waiting }, queue)
    }

    /// Queues an answer. Returns false if the client does not read its answers, or is gone.
    #[must_use]
    pub(super) fn send(&self, answer: Answer) -> bool {
        self.queue(size_of::<Answer>(), Outgoing::Answer(answer))
    }

    /// Queues a snapshot and the changes since. They take no place in the queue, but the client must
    /// take them at a pace. Returns false as [`send`](Self::send) does.
    #[must_use]
    pub(super) fn send_all(&self, snapshot: Arc<Snapshot>, changes: Vec<Answer>) -> bool {
        self.queue(0, Outgoing::Snapshot(snapshot, changes))
    }

    /// Queues changes of market data. Returns false as [`send`](Self::send) does.
    #[must_use]
    pub(super) fn send_changes(&self, changes: Arc<[Answer]>) -> bool {
        self.queue(size_of_val(&*changes), Outgoing::Changes(changes))
    }

    /// Queues words behind the answers to the first `commands` commands of the session. Returns
    /// false as [`send`](Self::send) does.
    #[must_use]
    pub(super) fn say(&self, commands: u64, words: Words) -> bool {
        self.queue(cost(&words), Outgoing::Words(commands, words))
    }

    fn queue(&self, bytes: usize, outgoing: Outgoing) -> bool {
        // Relaxed: the count carries nothing.
        let waiting = self.waiting.fetch_add(bytes, Ordering::Relaxed);
        // An empty queue takes as much as comes at a time.
        if waiting > 0 && waiting + bytes > self.most_waiting {
            let _ = self.queue.send(Outgoing::TooMany);
            self.connection.stop_reading();
            return false;
        }
        self.queue.send(outgoing).is_ok()
    }
}

/// What words take of the queue.
fn cost(words: &Words) -> usize {
    size_of::<Answer>() + words.len()
}

impl Writer {
    fn run(mut self) {
        match self.write_all() {
            Ok(()) => self.connection.finish(),
            // The client is gone, or too slow. This ends the thread that reads.
            Err(error) => {
                if error.kind() == ErrorKind::TimedOut {
                    self.connection.stop_reading(); // so that it says why the session ends
                }
                self.connection.close();
            }
        }
    }

    fn write_all(&mut self) -> io::Result<()> {
        while let Ok(first) = self.queue.recv() {
            let mut next = Some(first);
            while let Some(outgoing) = next {
                match outgoing {
                    Outgoing::Answer(answer) => self.add_answer(&answer),
                    Outgoing::Words(commands, words) => self.add_words(commands, words),
                    Outgoing::Snapshot(snapshot, changes) => {
                        self.write_all_of(snapshot.records().chain(changes))?;
                    }
                    Outgoing::Changes(changes) => {
                        self.write_all_of(changes.iter().copied())?;
                        self.waiting.fetch_sub(size_of_val(&*changes), Ordering::Relaxed);
                    }
                    Outgoing::TooMany => {
                        self.bytes.extend_from_slice(TOO_MANY);
                        return self.flush();
                    }
                }
                let is_full = self.bytes.len() >= WRITE_BYTES;
                next = if is_full { None } else { self.queue.try_recv().ok() };
            }
            self.flush()?;
        }
        Ok(())
    }

    fn add_answer(&mut self, answer: &Answer) {
        (self.encode)(answer, &mut self.bytes);
        self.waiting.fetch_sub(size_of::<Answer>(), Ordering::Relaxed);
        // Other answers are notices.
        if answer.tag != 0 && answer.is_last == 1 {
            self.answered += 1;
            while self.held.front().is_some_and(|(commands, _)| *commands <= self.answered) {
                let (_, words) = self.held.pop_front().expect("there is a front");
                self.write_words(&words);
            }
        }
    }

    fn add_words(&mut self, commands: u64, words: Words) {
        if commands <= self.answered {
            self.write_words(&words);
        } else {
            self.held.push_back((commands, words));
        }
    }

    fn write_words(&mut self, words: &Words) {
        self.bytes.extend_from_slice(words);
        self.waiting.fetch_sub(cost(words), Ordering::Relaxed);
    }

    /// Writes a snapshot in parts: all of it would need its memory again for each subscriber.
    fn write_all_of(&mut self, records: impl Iterator<Item = Answer>) -> io::Result<()> {
        let (begun, mut written) = (Instant::now(), 0);
        for record in records {
            (self.encode)(&record, &mut self.bytes);
            if self.bytes.len() >= WRITE_BYTES {
                written += self.bytes.len() as u64;
                self.flush()?;
                let longest = LONGEST_WRITE + Duration::from_secs(written / SNAPSHOT_PACE);
                if begun.elapsed() > longest {
                    return Err(ErrorKind::TimedOut.into());
                }
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.connection.write_all(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }
}

/// Encodes an answer of the binary protocol.
pub(super) fn encode_binary(answer: &Answer, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(bytemuck::bytes_of(answer));
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::{TcpListener, TcpStream};

    use super::*;
    use crate::gateway::connection::prepare;
    use crate::gateway::sessions::Sessions;

    const ANSWER: Answer = Answer { tag: 1, is_last: 1, ..Answer::HEARTBEAT };

    /// An outbox for `most` answers, and the client.
    fn start(most: usize) -> (Outbox, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (socket, _) = listener.accept().unwrap();
        prepare(&socket).unwrap();
        let (sessions, ender) = Sessions::new(1).unwrap();
        std::mem::forget(ender); // the gateway does not end
        let (connection, _) = sessions.enter(socket).unwrap();
        (Outbox::start(&connection, encode_binary, most).unwrap(), client)
    }

    #[test]
    fn a_client_that_does_not_read_is_told_so_behind_what_was_queued() {
        let (outbox, mut client) = start(10);
        let mut sent = 0;
        while outbox.send(ANSWER) {
            sent += size_of::<Answer>();
            assert!(sent < 1 << 30, "the system holds too much");
        }
        assert!(!outbox.connection.is_read());
        drop(outbox);
        let mut got = Vec::new();
        client.read_to_end(&mut got).unwrap();
        assert_eq!(got.split_off(sent), TOO_MANY);
    }

    #[test]
    fn words_wait_for_the_answers_before_them() {
        let (outbox, mut client) = start(100);
        assert!(outbox.say(2, b"behind".as_slice().into()));
        assert!(outbox.say(0, b"at once".as_slice().into()));
        let notice = Answer { tag: 0, ..ANSWER };
        for answer in [ANSWER, notice, ANSWER, ANSWER] {
            assert!(outbox.send(answer));
        }
        drop(outbox);
        let mut got = Vec::new();
        client.read_to_end(&mut got).unwrap();
        let record = |answer: &Answer| bytemuck::bytes_of(answer).to_vec();
        let before = [record(&ANSWER), record(&notice), record(&ANSWER)].concat();
        let expected = [b"at once".to_vec(), before, b"behind".to_vec(), record(&ANSWER)];
        assert_eq!(got, expected.concat());
    }

    #[test]
    fn words_take_place_in_the_queue_until_they_are_written() {
        let (outbox, client) = start(10);
        let mut count = 0;
        while outbox.say(1, vec![b'x'; 100].into()) {
            count += 1;
        }
        assert_eq!(count, 4); // 80 bytes each beside the words
        drop(client);
    }
}
