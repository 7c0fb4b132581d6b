//! The stage that sends each report to the sessions that it concerns.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};

use lapwing::{EventHandler, Sequence};

use super::open_orders::OpenOrders;
use super::outbox::Outbox;
use super::wire::Answer;
use crate::service::Output;
use crate::types::{AccountId, Cancel, PackedReport, Report, Trade};

/// Sends reports to the sessions of their commands, and trades to the makers.
#[derive(Debug)]
pub(super) struct Answers {
    changes: Receiver<Change>,
    outboxes: HashMap<u64, Outbox>,
    /// Sessions that send no more.
    ending: Vec<Ending>,
    /// The orders of the sessions that cancel theirs at the end.
    open_orders: OpenOrders,
    /// For each account, the session whose new order was accepted last. It gets the trades of the
    /// account.
    owners: HashMap<AccountId, u64>,
    /// The command after the last one that is answered.
    next: Sequence,
}

/// What the gateway reports to the stage.
#[derive(Debug)]
pub(super) enum Change {
    /// A session begins. It has sent no command yet.
    Begin {
        session: u64,
        outbox: Outbox,
        /// Whether it will withdraw its orders.
        cancels: bool,
    },
    /// A session ends, and cancels those of its orders that are open after its last command, which
    /// has the sequence before this one.
    Withdraw(u64, Sequence, Sender<Vec<Cancel>>),
    /// A session sends no more commands. Its last one has the sequence before this one.
    End(u64, Sequence),
}

/// A session that ends once its commands are answered.
#[derive(Debug)]
struct Ending {
    session: u64,
    /// The command after its last one.
    end: Sequence,
    /// Where its open orders go. The session ends later then.
    withdraws: Option<Sender<Vec<Cancel>>>,
}

impl Answers {
    /// Returns the stage without sessions, and the way to change them. `next` is the next command.
    pub(super) fn new(next: Sequence) -> (Self, Sender<Change>) {
        let (changing, changes) = channel();
        let answers = Self {
            changes,
            outboxes: HashMap::new(),
            ending: Vec::new(),
            open_orders: OpenOrders::default(),
            owners: HashMap::new(),
            next,
        };
        (answers, changing)
    }

    fn follow_changes(&mut self) {
        for change in self.changes.try_iter() {
            let ending = match change {
                Change::Begin { session, outbox, cancels } => {
                    self.outboxes.insert(session, outbox);
                    if cancels {
                        self.open_orders.begin(session);
                    }
                    continue;
                }
                Change::Withdraw(session, end, reply) => {
                    Ending { session, end, withdraws: Some(reply) }
                }
                Change::End(session, end) => Ending { session, end, withdraws: None },
            };
            self.ending.push(ending);
        }
        let Self { ending, outboxes, open_orders, next, .. } = self;
        for answered in ending.extract_if(.., |ending| ending.end <= *next) {
            match answered.withdraws {
                // Without a receiver, the thread of the session has panicked.
                Some(reply) => _ = reply.send(open_orders.end(answered.session)),
                // Its thread writes what is queued, and then closes the connection.
                None => _ = outboxes.remove(&answered.session),
            }
        }
    }

    fn send(&mut self, session: u64, answer: Answer) {
        if !self.outboxes.contains_key(&session) {
            self.follow_changes();
        }
        let Some(outbox) = self.outboxes.get(&session) else { return };
        if !outbox.send(answer) {
            self.outboxes.remove(&session);
        }
    }

    /// Sends a trade to the session of the maker, unless that sent the command itself. It does not
    /// learn how far the taker would have gone.
    fn send_to_maker(&mut self, sequence: Sequence, taker: u64, trade: Trade) {
        let owner = self.owners.get(&trade.maker.account).copied();
        if let Some(session) = owner.filter(|&owner| owner != taker) {
            let told = Report::Trade(Trade { taker_limit: 0, taker_open: 0, ..trade });
            self.send(session, notice(sequence, PackedReport::from(&told)));
        }
    }
}

impl EventHandler<Output> for Answers {
    fn on_event(&mut self, output: &Output, _: Sequence, end_of_batch: bool) {
        self.send(output.session, answer_of(output));
        self.next = output.sequence + output.is_last;
        if let Ok(report) = output.report.unpack() {
            self.open_orders.note(output.session, &report);
            match report {
                Report::Accepted(order) => {
                    self.owners.insert(order.id.account, output.session);
                }
                Report::Trade(trade) => {
                    self.send_to_maker(output.sequence, output.session, trade);
                }
                _ => {}
            }
        }
        if end_of_batch {
            self.follow_changes();
        }
    }

    fn on_timeout(&mut self, _: Sequence) {
        self.follow_changes();
    }
}

fn answer_of(output: &Output) -> Answer {
    let Output { tag, sequence, is_last, report, .. } = *output;
    Answer { tag, sequence, is_last, report }
}

/// Returns an answer to no command.
pub(super) fn notice(sequence: Sequence, report: PackedReport) -> Answer {
    Answer { tag: 0, sequence, is_last: 0, report }
}
