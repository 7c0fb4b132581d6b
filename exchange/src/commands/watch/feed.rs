//! A thread that receives, and the records that it has received.

use std::io::{self, ErrorKind};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;

use exchange::client::{AnswerReceiver, Closer};
use exchange::gateway::wire::Answer;

/// Records that may wait. After that the thread waits, then the exchange, which ends the connection.
const LONGEST_QUEUE: usize = 1 << 14;

/// What a connection brings. A drop ends the connection and the thread.
pub(super) struct Feed<T> {
    records: Receiver<io::Result<T>>,
    _closer: Closer,
}

impl<T: Send + 'static> Feed<T> {
    /// Starts the thread. It hands on what `convert` returns for an answer.
    pub(super) fn start(
        mut receiver: AnswerReceiver,
        mut convert: impl FnMut(Answer) -> Option<T> + Send + 'static,
    ) -> io::Result<Self> {
        let closer = receiver.closer()?;
        let (sender, records) = sync_channel(LONGEST_QUEUE);
        let receive = move || {
            while let Some(answer) = receiver.receive().transpose() {
                let is_over = answer.is_err();
                let record = answer.map(&mut convert).transpose();
                if record.is_some_and(|record| sender.send(record).is_err()) || is_over {
                    break;
                }
            }
        };
        thread::Builder::new().name("feed".into()).spawn(receive)?;
        Ok(Self { records, _closer: closer })
    }

    /// Returns the next record; `None` if none has come.
    pub(super) fn next(&self) -> io::Result<Option<T>> {
        match self.records.try_recv() {
            Ok(record) => record.map(Some),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => {
                Err(io::Error::new(ErrorKind::UnexpectedEof, "the exchange has closed it"))
            }
        }
    }
}
