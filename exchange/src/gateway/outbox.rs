//! What goes out of a session: a bounded queue, and the thread that writes it to the socket.
//!
//! A stage of the output ring never waits for a client. If the queue of a client is full, the session
//! ends.

use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use lapwing::channel::{self, Receiver, SingleSender};

use super::GatewayError;
use super::wire::Answer;

/// Answers and snapshots that may wait for a client.
const LONGEST_QUEUE: usize = 1 << 16;
/// Answers that are written in one call.
const LARGEST_WRITE: usize = 512;

/// Turns answers into bytes.
pub(super) type Encode = fn(&Answer, &mut Vec<u8>);

/// The end of a session's queue that a stage holds.
#[derive(Debug)]
pub(super) struct Outbox {
    queue: SingleSender<Outgoing>,
}

/// What waits for a client.
#[derive(Debug)]
enum Outgoing {
    Answer(Answer),
    /// All records of a snapshot. A book can have more levels than the queue has places.
    Snapshot(Vec<Answer>),
}

impl Outbox {
    /// Starts the thread that writes to `socket`. It ends when the outbox is dropped, or if the
    /// client is gone.
    pub(super) fn start(
        socket: Arc<TcpStream>,
        encode: Encode,
    ) -> Result<(Self, JoinHandle<()>), GatewayError> {
        let (queue, waiting) = channel::spsc(LONGEST_QUEUE)?;
        let write = move || write_all(waiting, &socket, encode);
        let thread = thread::Builder::new().name("writer".into()).spawn(write)?;
        Ok((Self { queue }, thread))
    }

    /// Queues an answer. Returns false if the client does not read its answers, or is gone.
    #[must_use]
    pub(super) fn send(&mut self, answer: Answer) -> bool {
        self.queue.try_send(Outgoing::Answer(answer)).is_ok()
    }

    /// Queues the records of a snapshot. Returns false as [`send`](Self::send) does.
    #[must_use]
    pub(super) fn send_all(&mut self, records: Vec<Answer>) -> bool {
        self.queue.try_send(Outgoing::Snapshot(records)).is_ok()
    }
}

fn write_all(mut waiting: Receiver<Outgoing>, mut socket: &TcpStream, encode: Encode) {
    let mut bytes = Vec::new();
    while let Ok(first) = waiting.recv() {
        bytes.clear();
        bytes.shrink_to(LARGEST_WRITE * size_of::<Answer>()); // a snapshot may be long
        first.encode(encode, &mut bytes);
        for next in waiting.try_iter().take(LARGEST_WRITE - 1) {
            next.encode(encode, &mut bytes);
        }
        if socket.write_all(&bytes).is_err() {
            break;
        }
    }
    // Ends the thread that reads.
    let _ = socket.shutdown(Shutdown::Both);
}

impl Outgoing {
    fn encode(&self, encode: Encode, bytes: &mut Vec<u8>) {
        match self {
            Self::Answer(answer) => encode(answer, bytes),
            Self::Snapshot(records) => records.iter().for_each(|record| encode(record, bytes)),
        }
    }
}

/// Encodes an answer of the binary protocol.
pub(super) fn encode_binary(answer: &Answer, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(bytemuck::bytes_of(answer));
}
