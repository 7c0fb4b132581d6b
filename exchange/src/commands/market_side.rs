//! A subscriber to market data, and what it must get.

use std::io;
use std::net::SocketAddr;
use std::ops::RangeFrom;
use std::thread::{self, JoinHandle};

use exchange::client;
use exchange::gateway::wire::Answer;
use exchange::market::{Follower, Levels};
use exchange::types::{Report, SymbolId};

use super::Result;
use super::plain_side::Plain;

/// The symbol of the flow.
pub(super) const SYMBOL: SymbolId = SymbolId(0);

/// A thread that gets the market data of a symbol until the exchange is gone.
pub(super) struct Subscriber {
    thread: JoinHandle<io::Result<Vec<Answer>>>,
}

/// The market data of one exchange, from its start to its end.
pub(super) struct MarketData {
    records: Vec<Answer>,
}

impl Subscriber {
    pub(super) fn start(address: SocketAddr) -> io::Result<Self> {
        let mut receiver = client::subscribe(address, SYMBOL.0)?;
        let receive = move || {
            let mut records = Vec::new();
            while let Some(record) = receiver.receive()? {
                records.push(record);
            }
            Ok(records)
        };
        Ok(Self { thread: thread::Builder::new().name("subscriber".into()).spawn(receive)? })
    }

    /// Returns all that has come. The exchange is gone.
    pub(super) fn join(self) -> Result<MarketData> {
        let records = self.thread.join().expect("the subscriber does not panic");
        let records = records.map_err(|error| format!("the market data has ended: {error}"))?;
        Ok(MarketData { records })
    }
}

impl MarketData {
    /// Compares the records with the reports of the plain exchange: a snapshot, whenever it was made,
    /// and then each change. The exchange has carried out `first` commands before it was started, and
    /// `levels` rested then. Returns the number of the last change, which is one of `numbers`.
    pub(super) fn compare(&self, plain: &Plain, first: u64, mut levels: Levels) -> Result<u64> {
        let mut expected = numbers(first).zip(plain.market_data(SYMBOL, first)).peekable();
        let mut follower = Follower::new(SYMBOL);
        let mut last = 0;
        for record in &self.records {
            let is_snapshot = !follower.is_complete();
            follower.follow(record).map_err(|error| format!("market data: {error}"))?;
            if !is_snapshot {
                let found = (record.tag, (record.sequence, record.report));
                if expected.next() != Some(found) {
                    let (tag, sequence) = (record.tag, record.sequence);
                    return Err(format!("change {tag}, of command {sequence}, is wrong").into());
                }
            } else if follower.is_complete() {
                while let Some((_, (_, report))) = expected.next_if(|(tag, _)| *tag <= record.tag) {
                    if let Ok(Report::Level(level)) = report.unpack() {
                        levels.set(level);
                    }
                }
                if *follower.levels() != levels {
                    return Err("a snapshot of market data is not the book".into());
                }
            }
            last = record.tag;
        }
        Ok(last)
    }

    /// Compares the same, up to the last change, and the levels after it with the book.
    pub(super) fn compare_all(&self, plain: &Plain, first: u64, levels: Levels) -> Result<u64> {
        let last = self.compare(plain, first, levels)?;
        if numbers(first).zip(plain.market_data(SYMBOL, first)).any(|(tag, _)| tag > last) {
            return Err("changes of market data are missing at the end".into());
        }
        let mut follower = Follower::new(SYMBOL);
        self.records.iter().try_for_each(|record| follower.follow(record).map(drop))?;
        if *follower.levels() != plain.levels(SYMBOL) {
            return Err("the levels of the market data are not those of the book".into());
        }
        Ok(last)
    }
}

/// The numbers of the changes after `first` commands. An exchange counts from its start, and the first
/// change is the symbol.
fn numbers(first: u64) -> RangeFrom<u64> {
    if first > 0 { 2.. } else { 1.. }
}

#[cfg(test)]
mod tests {
    use exchange::flows::mix::Mix;
    use exchange::types::{Level, PackedReport};

    use super::*;

    /// The plain exchange after some commands, and what a subscriber got from the first one on.
    fn exchange() -> (Plain, Vec<Answer>) {
        let flow = Mix { accounts: 20, resting: 100, commands: 300, ..Mix::default() }.flow();
        let mut plain = Plain::default();
        plain.carry_out(&flow.into_commands());
        let record = |(tag, (sequence, report))| Answer {
            tag,
            sequence,
            is_last: u64::from(tag == 1),
            report,
        };
        let records = (1..).zip(plain.market_data(SYMBOL, 0)).map(record).collect();
        (plain, records)
    }

    #[test]
    fn the_check_did_not_see_a_wrong_change_of_market_data() {
        let (plain, records) = exchange();
        let last = records.len() as u64;
        let compare = |change: &dyn Fn(&mut Vec<Answer>)| {
            let mut records = records.clone();
            change(&mut records);
            let market_data = MarketData { records };
            let all = market_data.compare_all(&plain, 0, Levels::default());
            (market_data.compare(&plain, 0, Levels::default()).ok(), all.ok())
        };
        assert_eq!(compare(&|_| {}), (Some(last), Some(last)));
        assert_eq!(compare(&|records| records.truncate(10)), (Some(10), None));
        let middle = records.len() / 2;
        let wrong = [
            compare(&|records| _ = records.remove(middle)),
            compare(&|records| records.swap(middle, middle + 1)),
            compare(&|records| records[middle].sequence += 1),
            compare(&|records| records.push(records[middle])),
            compare(&|records| spoil(records)),
        ];
        assert_eq!(wrong, [(None, None); 5]);
    }

    /// Changes the last level.
    fn spoil(records: &mut [Answer]) {
        let level_of = |record: &Answer| match record.report.unpack() {
            Ok(Report::Level(level)) => Some(level),
            _ => None,
        };
        let record = records.iter_mut().rfind(|record| level_of(record).is_some());
        let record = record.expect("there is a level");
        let level = level_of(record).expect("it is one");
        let wrong = Level { quantity: level.quantity + 1, ..level };
        record.report = PackedReport::from(&Report::Level(wrong));
    }

    #[test]
    fn a_snapshot_may_be_made_at_any_change() {
        let (plain, records) = exchange();
        let number = 200;
        let mut follower = Follower::new(SYMBOL);
        records[..number].iter().for_each(|record| _ = follower.follow(record).unwrap());
        let terms = *follower.terms().unwrap();
        let levels = follower.levels().bids().chain(follower.levels().asks());
        let reports = [Report::SymbolAdded(terms)].into_iter();
        let reports: Vec<_> = reports.chain(levels.map(|level| Report::Level(*level))).collect();
        let Answer { tag, sequence, .. } = records[number - 1];
        let snapshot = (1..).zip(&reports).map(|(at, report)| Answer {
            tag,
            sequence,
            is_last: u64::from(at == reports.len()),
            report: PackedReport::from(report),
        });
        let mut market_data =
            MarketData { records: snapshot.chain(records[number..].iter().copied()).collect() };
        market_data.compare_all(&plain, 0, Levels::default()).unwrap();
        market_data.records.remove(1);
        assert!(market_data.compare(&plain, 0, Levels::default()).is_err(), "a level is missing");
    }
}
