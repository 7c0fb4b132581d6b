//! The handler of the workers, and that of the stages downstream, which checks what they wrote.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use crate::book::Book;
use crate::feed::Trade;
use lapwing::consumer::{Exclusive, Failure, IntoAction};
use lapwing::{Action, EventHandler, Sequence};

/// What a worker says to an event.
pub(crate) type Said = Result<Action, &'static str>;

pub(crate) type Does = Arc<dyn Fn(&Turn) -> Said + Send + Sync>;
pub(crate) type Notices = Arc<dyn Fn(usize, &Call) + Send + Sync>;

/// An event as its worker finds it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub worker: usize,
    /// How many events this worker was given before.
    pub turn: u64,
    pub key: u64,
    /// The number of the event among those of its key.
    pub number: u64,
    pub sequence: Sequence,
    pub end_of_batch: bool,
}

/// A call of a handler other than for an event.
#[derive(Debug)]
pub(crate) enum Call {
    Start,
    Batch,
    Timeout(Sequence),
    Restart,
}

/// The calls that a worker got.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    pub starts: u64,
    pub shutdowns: u64,
    pub events: u64,
    /// The size of each batch, and the depth of the queue that came with it.
    pub batches: Vec<(u64, u64)>,
    /// The name of the thread that started it.
    pub thread: String,
}

/// The handler of a worker.
pub(crate) struct Worker {
    pub(super) index: usize,
    pub(super) book: Arc<Book>,
    pub(super) does: Option<Does>,
    pub(super) notices: Option<Notices>,
    pub(super) calls: Calls,
    /// The finished events of the batch that may not be released.
    pub(super) batch: Vec<Turn>,
}

impl Worker {
    fn notice(&self, call: &Call) {
        if let Some(notices) = &self.notices {
            notices(self.index, call);
        }
    }

    fn handle(&mut self, event: &mut Trade, sequence: Sequence, end_of_batch: bool) -> Said {
        let (key, number) = (event.key, event.number);
        let (worker, turn) = (self.index, self.calls.events);
        let turn = Turn { worker, turn, key, number, sequence, end_of_batch };
        let is_between = (self.calls.starts, self.calls.shutdowns) == (1, 0);
        self.book.check(is_between, || format!("not started or ended: {turn:?}"));
        self.calls.events += 1;
        let _alone = self.book.begin(event, &turn);
        let said = self.does.as_ref().map_or(Ok(Action::Continue), |does| does(&turn));
        match said {
            Ok(Action::Continue) => {
                self.book.finish(event, &turn);
                self.batch.push(turn);
            }
            Ok(Action::Rewind(_)) => self.book.rewind(&self.batch),
            _ => {
                match said {
                    Ok(Action::ReleaseNow) => self.book.finish(event, &turn),
                    Ok(Action::Skip | Action::SkipAndStop) => self.book.skip(&turn),
                    _ => {}
                }
                if matches!(said, Err(_) | Ok(Action::Stop | Action::SkipAndStop)) {
                    self.book.keys_may_move();
                }
                self.batch.clear();
            }
        }
        said
    }
}

/// What the handlers of a group return: nothing, or what the group says.
pub(crate) trait Answer: IntoAction {
    fn of(said: Said) -> Self;
}

impl Answer for () {
    fn of(_: Said) {}
}

impl Answer for Said {
    fn of(said: Said) -> Self {
        said
    }
}

impl<R: Answer> EventHandler<Trade, Exclusive, R> for Worker {
    fn on_start(&mut self) {
        self.calls.starts += 1;
        self.calls.thread = thread::current().name().unwrap_or_default().to_owned();
        self.notice(&Call::Start);
    }

    fn on_batch_start(&mut self, batch_size: u64, queue_depth: u64) {
        self.batch.clear();
        self.calls.batches.push((batch_size, queue_depth));
        self.notice(&Call::Batch);
    }

    fn on_event(&mut self, event: &mut Trade, sequence: Sequence, end_of_batch: bool) -> R {
        R::of(self.handle(event, sequence, end_of_batch))
    }

    fn on_timeout(&mut self, next_sequence: Sequence) {
        self.notice(&Call::Timeout(next_sequence));
    }

    fn on_restart(&mut self) {
        self.notice(&Call::Restart);
    }

    fn on_shutdown(&mut self) {
        self.calls.shutdowns += 1;
    }
}

/// Checks what the group wrote, and that the events come in their order.
pub(crate) struct Check {
    book: Arc<Book>,
    next: Sequence,
    pub(super) events: u64,
    pub(super) failed: u64,
}

impl Check {
    pub(crate) fn new(book: &Arc<Book>) -> Self {
        Self { book: Arc::clone(book), next: book.first, events: 0, failed: 0 }
    }

    fn see(&mut self, event: &Trade, sequence: Sequence, is_finished: bool) {
        let Self { book, next, .. } = self;
        book.check(*next <= sequence, || format!("downstream: {sequence} after {next}"));
        *next = sequence + 1;
        let finished = book.line(sequence).finished.load(Relaxed) == 1;
        let word = if is_finished { !sequence } else { sequence };
        let is_right = finished == is_finished && event.words == [word; 4];
        book.check(is_right, || format!("downstream: sequence={sequence}, {event:?}"));
    }
}

impl EventHandler<Trade> for Check {
    fn on_event(&mut self, event: &Trade, sequence: Sequence, _: bool) {
        self.events += 1;
        self.see(event, sequence, true);
    }

    fn on_failed_event(&mut self, event: &Trade, sequence: Sequence, _: bool, _: &Failure<'_>) {
        self.failed += 1;
        self.see(event, sequence, false);
    }
}
