//! Many events one way, from one writer to each reader.

use std::{io, thread};

use serde::{Deserialize, Serialize};

use super::{Amount, END, Inlet, Outlet, digest};
use crate::load::fold::Fold;
use crate::machine::shared_clock::now_ns;

/// Events between two looks at the clock, unless a batch is larger. They take several microseconds
/// at least.
const BLOCK: u64 = 256;

/// What a writer has sent.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Sent {
    /// When it began, by the clock that processes share.
    pub(crate) began_ns: u64,
    /// Its events, without the one that ends the stream.
    pub(crate) events: u64,
}

/// What a reader has received.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Got {
    /// When it had the last event, by the clock that processes share.
    pub(crate) ended_ns: u64,
    /// Its events, without the one that ends the stream.
    pub(crate) events: u64,
    /// What it computed over them, in their order.
    pub(crate) answer: u64,
    /// How often it received one event or more.
    pub(crate) batches: u64,
}

/// Sends `amount`, and then the end of the stream.
///
/// # Errors
///
/// The contender refuses.
pub(crate) fn write(outlet: &mut impl Outlet, amount: &Amount) -> io::Result<Sent> {
    let Amount { delay, time, events: most, batch } = *amount;
    thread::sleep(delay);
    let time_ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let began_ns = now_ns();
    let mut events = 0;
    while events < most && now_ns() - began_ns < time_ns {
        let end = (events + BLOCK.max(batch)).min(most);
        if batch == 1 {
            for number in events..end {
                outlet.send(number)?;
            }
        } else {
            for first in (events..end).step_by(batch as usize) {
                outlet.send_all(first..(first + batch).min(end))?;
            }
        }
        events = end;
    }
    outlet.send(END)?;
    Ok(Sent { began_ns, events })
}

/// Receives until the end of the stream.
///
/// # Errors
///
/// The writer is gone, or the contender has lost events.
pub(crate) fn read<const N: usize>(inlet: &mut impl Inlet<N>) -> io::Result<Got> {
    let (mut fold, mut events, mut batches) = (Fold::new(), 0, 0);
    let mut has_ended = false;
    while !has_ended {
        inlet.receive(|event| {
            if event[0] == END {
                has_ended = true;
            } else {
                fold.add(digest(event));
                events += 1;
            }
        })?;
        batches += 1;
    }
    Ok(Got { ended_ns: now_ns(), events, answer: fold.answer(), batches })
}

/// Returns what a reader of so many events of `words` words must compute.
pub(crate) fn expected(events: u64, words: u64) -> u64 {
    let mut fold = Fold::new();
    (0..events).for_each(|number| fold.add(number.wrapping_mul(words)));
    fold.answer()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::tests::ends;
    use super::*;

    #[test]
    fn a_reader_computes_what_is_expected() {
        for batch in [1, 7, 1_000] {
            let (mut outlet, mut inlet) = ends();
            let amount = Amount { batch, ..Amount::events(3_000) };
            let sent = write(&mut outlet, &amount).unwrap();
            let got = read(&mut inlet).unwrap();
            assert_eq!((sent.events, got.events), (3_000, 3_000), "{batch}");
            assert_eq!(got.answer, expected(3_000, 8), "{batch}");
            assert!(got.ended_ns >= sent.began_ns && got.batches >= 1);
        }
    }

    #[test]
    fn a_stream_ends_when_its_time_is_over() {
        let (mut outlet, mut inlet) = ends();
        let amount = Amount { time: Duration::from_millis(1), ..Amount::events(u64::MAX - 1) };
        let sent = write(&mut outlet, &amount).unwrap();
        assert_eq!(read(&mut inlet).unwrap().events, sent.events);
    }
}
