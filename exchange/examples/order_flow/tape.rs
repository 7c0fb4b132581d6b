//! Counts trades. Visible (4), hidden (5) and cross (6) executions are one trade each, of `size`
//! shares.

use exchange::flows::lobster::message::{Kind, Message};

/// Counts of all messages and of trades.
#[derive(Debug, Default)]
pub(crate) struct Tape {
    messages: u64,
    trades: u64,
    volume: u64,
}

impl Tape {
    /// Counts `message`.
    pub(crate) fn record(&mut self, message: &Message) {
        self.messages += 1;
        if matches!(message.kind, Kind::Execute | Kind::ExecuteHidden | Kind::Cross) {
            self.trades += 1;
            self.volume += u64::from(message.size);
        }
    }

    /// Returns the number of messages of any type.
    #[must_use]
    pub(crate) fn messages(&self) -> u64 {
        self.messages
    }

    /// Returns the number of trades.
    #[must_use]
    pub(crate) fn trades(&self) -> u64 {
        self.trades
    }

    /// Returns the number of traded shares.
    #[must_use]
    pub(crate) fn volume(&self) -> u64 {
        self.volume
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executions_of_every_kind_are_trades_and_nothing_else_is() {
        let mut tape = Tape::default();
        for (kind, size) in (1..=7).zip([1, 10, 100, 1_000, 10_000, 100_000, 1_000_000]) {
            let line = format!("34200,{kind},1,{size},1,1");
            tape.record(&Message::parse(line.as_bytes()).unwrap());
        }
        assert_eq!((tape.messages(), tape.trades(), tape.volume()), (7, 3, 111_000));
    }
}
