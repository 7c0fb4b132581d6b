//! The plain exchange of a check: what each answer must be.

use exchange::Exchange;
use exchange::gateway::wire::Answer;
use exchange::market::Levels;
use exchange::plain::PlainExchange;
use exchange::types::{
    AccountId, Command, OrderId, OrderRef, PackedReport, Report, SymbolId, Trade,
};

use super::Result;
use super::flight::{Landed, Pace};
use super::program::Program;

/// Commands from one look at the clock of a flight to the next.
const LARGEST_STEP: usize = 100;

/// The plain exchange, and what it has reported.
#[derive(Default)]
pub(super) struct Plain {
    pub(super) exchange: PlainExchange,
    /// The number of its commands.
    carried_out: u64,
    /// The reports with the sequences of their commands.
    reports: Vec<(u64, PackedReport)>,
}

impl Plain {
    pub(super) fn carry_out(&mut self, commands: &[Command]) {
        for command in commands {
            let sequence = self.carried_out;
            self.carried_out += 1;
            let reports = &mut self.reports;
            let mut sink = |report: Report| reports.push((sequence, PackedReport::from(&report)));
            self.exchange.apply(command, &mut sink);
        }
    }

    /// Carries out the commands of a flight as they are answered, until it ends.
    pub(super) fn follow(&mut self, commands: &[Command], pace: &Pace<'_>) {
        let mut known = 0;
        while let Some(answered) = pace.next(known) {
            let end = answered.min(known + LARGEST_STEP);
            self.carry_out(&commands[known..end]);
            known = end;
        }
    }

    /// The number of commands that are carried out.
    pub(super) fn count(&self) -> usize {
        self.carried_out as usize
    }

    /// Returns what rests in the book of a symbol.
    pub(super) fn levels(&self, symbol: SymbolId) -> Levels {
        let books = self.exchange.state().books;
        let book = books.iter().find(|book| book.spec.symbol == symbol);
        book.map(Levels::of).unwrap_or_default()
    }

    /// Returns what subscribers of a symbol learn of the commands from `first` on: the sequence and
    /// the report of each change.
    pub(super) fn market_data(
        &self,
        symbol: SymbolId,
        first: u64,
    ) -> impl Iterator<Item = (u64, PackedReport)> + '_ {
        let start = self.reports.partition_point(|&(sequence, _)| sequence < first);
        self.reports[start..].iter().filter_map(move |&(sequence, report)| {
            let public = match report.unpack().ok()? {
                report @ Report::SymbolAdded(spec) if spec.symbol == symbol => report,
                report @ Report::Level(level) if level.symbol == symbol => report,
                Report::Trade(trade) if trade.symbol == symbol => {
                    let hidden = OrderRef { account: AccountId(0), order: OrderId(0) };
                    let (maker, taker) = (hidden, hidden);
                    let (maker_open, taker_open, taker_limit) = (0, 0, 0);
                    Report::Trade(Trade {
                        maker,
                        taker,
                        maker_open,
                        taker_open,
                        taker_limit,
                        ..trade
                    })
                }
                _ => return None,
            };
            Some((sequence, PackedReport::from(&public)))
        })
    }

    /// Compares answers in a row with the reports from the first of their commands on.
    pub(super) fn compare(&self, when: &str, answers: &[Answer]) -> Result<()> {
        let Some(first) = answers.first() else {
            return Err(format!("no answer {when}").into());
        };
        let start = self.reports.partition_point(|&(sequence, _)| sequence < first.sequence);
        let expected = self.reports[start..].iter();
        if expected.len() < answers.len() {
            return Err(format!("an answer {when} is to a command that is lost").into());
        }
        for (answer, &(sequence, report)) in answers.iter().zip(expected) {
            // The client has sent all commands, so tags and sequences agree.
            if (answer.tag, answer.sequence, answer.report) != (sequence + 1, sequence, report) {
                return Err(format!("command {sequence} has another answer {when}").into());
            }
        }
        Ok(())
    }

    /// Compares a hash of the state after `count` commands.
    pub(super) fn expect(&self, count: usize, hash: &str) -> Result<()> {
        let state = self.exchange.state();
        let expected = format!("{:016x}", state.hash());
        if (state.commands, expected.as_str()) == (count as u64, hash) {
            return Ok(());
        }
        Err(format!("the hash after {count} commands is {hash}, expected {expected}").into())
    }

    /// Carries out the last commands, and compares the answers of their flight, of which some may be
    /// known. Then lets the exchange end, and compares its state.
    pub(super) fn finish(
        &mut self,
        when: &str,
        rest: &[Command],
        landed: &Landed,
        program: &mut Program,
    ) -> Result<()> {
        self.carry_out(rest);
        self.compare(when, &landed.answers)?;
        if landed.delays.count() != landed.sent as u64 {
            return Err("a command was not answered".into());
        }
        let (ended, expected) = (program.end()?, self.ended());
        println!("at the end  {ended}");
        if ended != expected {
            return Err(format!("the plain exchange differs: {expected}").into());
        }
        Ok(())
    }

    fn ended(&self) -> String {
        let state = self.exchange.state();
        format!("ended: commands={} hash={:016x}", state.commands, state.hash())
    }
}
