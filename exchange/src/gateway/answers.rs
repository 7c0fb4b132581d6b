//! The stage that sends each report to the sessions that it concerns.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};

use lapwing::{EventHandler, Sequence};

use super::outbox::Outbox;
use super::wire::Answer;
use crate::service::Output;
use crate::types::{AccountId, PackedReport, Report, Trade};

/// Sends reports to the sessions of their commands, and trades to the makers.
#[derive(Debug)]
pub(super) struct Answers {
    changes: Receiver<Change>,
    outboxes: HashMap<u64, Outbox>,
    /// Sessions that send no more, with the command after their last one.
    ending: Vec<(u64, Sequence)>,
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
    Begin(u64, Box<Outbox>),
    /// A session sends no more commands. Its last one has the sequence before this one.
    End(u64, Sequence),
}

impl Answers {
    /// Returns the stage without sessions, and the way to change them. `next` is the next command.
    pub(super) fn new(next: Sequence) -> (Self, Sender<Change>) {
        let (changing, changes) = channel();
        let (outboxes, owners) = (HashMap::new(), HashMap::new());
        (Self { changes, outboxes, ending: Vec::new(), owners, next }, changing)
    }

    fn follow_changes(&mut self) {
        for change in self.changes.try_iter() {
            match change {
                Change::Begin(session, outbox) => {
                    self.outboxes.insert(session, *outbox);
                }
                Change::End(session, end) => self.ending.push((session, end)),
            }
        }
        let Self { ending, outboxes, next, .. } = self;
        ending.retain(|(session, end)| {
            let is_answered = *end <= *next;
            if is_answered {
                // Its thread writes what is queued, and then closes the connection.
                outboxes.remove(session);
            }
            !is_answered
        });
    }

    fn send(&mut self, session: u64, answer: Answer) {
        if !self.outboxes.contains_key(&session) {
            self.follow_changes();
        }
        let Some(outbox) = self.outboxes.get_mut(&session) else { return };
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
        match output.report.unpack() {
            Ok(Report::Accepted(order)) => {
                self.owners.insert(order.id.account, output.session);
            }
            Ok(Report::Trade(trade)) => {
                self.send_to_maker(output.sequence, output.session, trade);
            }
            _ => {}
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
