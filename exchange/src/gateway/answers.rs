//! The stage that sends each report to the sessions that it concerns.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};

use lapwing::{EventHandler, Sequence};

use super::outbox::Outbox;
use super::wire::Answer;
use crate::service::Output;
use crate::types::{AccountId, PackedReport, Report};

/// Sends reports to the sessions of their commands, and trades to the makers.
#[derive(Debug)]
pub(super) struct Answers {
    opened: Receiver<(u64, Outbox)>,
    outboxes: HashMap<u64, Outbox>,
    /// The session that last sent a command for the account.
    owners: HashMap<AccountId, u64>,
}

/// Where a gateway adds its sessions.
pub(super) type Opening = Sender<(u64, Outbox)>;

impl Answers {
    /// Returns the stage without sessions, and the way to add some.
    pub(super) fn new() -> (Self, Opening) {
        let (opening, opened) = channel();
        (Self { opened, outboxes: HashMap::new(), owners: HashMap::new() }, opening)
    }

    fn send(&mut self, session: u64, answer: Answer) {
        if !self.outboxes.contains_key(&session) {
            self.outboxes.extend(self.opened.try_iter());
        }
        let Some(outbox) = self.outboxes.get_mut(&session) else { return };
        if !outbox.send(answer) {
            self.outboxes.remove(&session);
        }
    }

    /// Sends a trade to the session of the maker, unless that sent the command itself.
    fn send_to_maker(&mut self, output: &Output, report: &Report) {
        let Report::Trade(trade) = report else { return };
        let owner = self.owners.get(&trade.maker.account).copied();
        if let Some(session) = owner.filter(|&owner| owner != output.session) {
            let answer = Answer { tag: 0, is_last: 0, ..answer_of(output) };
            self.send(session, answer);
        }
    }
}

impl EventHandler<Output> for Answers {
    fn on_event(&mut self, output: &Output, _: Sequence, _: bool) {
        self.send(output.session, answer_of(output));
        let Ok(report) = output.report.unpack() else { return };
        match report {
            Report::Accepted(order) => {
                self.owners.insert(order.id.account, output.session);
            }
            Report::Trade(_) => self.send_to_maker(output, &report),
            _ => {}
        }
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
