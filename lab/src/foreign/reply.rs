//! The contents of a reply. Another program writes it, so everything is checked. A reply is invalid
//! if it has an extra word, a time of zero, or a histogram of other events.

use std::str::{FromStr, SplitWhitespace};
use std::time::Duration;

use super::child::ChildError;
use crate::load::paced::{Delays, Paced};
use crate::measure::crew::Answers;

/// The reply to a request for a run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ran {
    /// The time from the release of the producers to the last event at the last consumer.
    pub(super) elapsed: Duration,
    /// CPU time of the process during the run.
    pub(super) cpu_time: Duration,
    /// The number of batches over all consumers.
    pub(super) batches: u64,
    /// The answers of the consumers.
    pub(super) answers: Answers,
}

impl Ran {
    /// Reads `reply`.
    ///
    /// # Errors
    ///
    /// [`ChildError`] if it is not a result.
    pub(super) fn read(reply: &str) -> Result<Self, ChildError> {
        let read = |mut words: Words<'_>| {
            let elapsed = words.positive_time()?;
            let cpu_time = words.time()?;
            let batches = words.next::<u64>().filter(|batches| *batches > 0)?;
            let answers = words.rest()?;
            (!answers.is_empty()).then_some(Self { elapsed, cpu_time, batches, answers })
        };
        result(reply, read)
    }
}

/// Reads `reply` to a request for the delays of `events`.
///
/// # Errors
///
/// [`ChildError`] if it is not a result.
pub(super) fn paced(reply: &str, events: u32) -> Result<Paced, ChildError> {
    let read = |mut words: Words<'_>| {
        let elapsed = words.positive_time()?;
        let cpu_time = Some(words.time()?);
        let answers = vec![words.next()?];
        let delays = words.delays(events)?;
        words.is_empty().then_some(Paced { elapsed, cpu_time, answers, delays })
    };
    result(reply, read)
}

/// Returns the result of `read` over the words after `ok`.
///
/// # Errors
///
/// [`ChildError::Refused`] if the reply is an error, [`ChildError::Nonsense`] if `read` returns
/// `None`.
pub(crate) fn result<T>(
    reply: &str,
    read: impl FnOnce(Words<'_>) -> Option<T>,
) -> Result<T, ChildError> {
    if let Some(reason) = reply.strip_prefix("error ") {
        return Err(ChildError::Refused(reason.to_owned()));
    }
    let mut words = reply.split_whitespace();
    let is_ok = words.next() == Some("ok");
    let found = if is_ok { read(Words(words)) } else { None };
    found.ok_or_else(|| ChildError::nonsense(reply))
}

/// The words of a reply that have not been read.
pub(crate) struct Words<'a>(SplitWhitespace<'a>);

impl Words<'_> {
    /// Returns the next word, such as a number.
    pub(crate) fn next<T: FromStr>(&mut self) -> Option<T> {
        self.0.next()?.parse().ok()
    }

    /// Returns the next word, as nanoseconds.
    pub(crate) fn time(&mut self) -> Option<Duration> {
        self.next().map(Duration::from_nanos)
    }

    /// Returns the next word as nanoseconds, if it is at least one.
    fn positive_time(&mut self) -> Option<Duration> {
        self.time().filter(|time| !time.is_zero())
    }

    /// Returns the remaining words as numbers.
    fn rest(self) -> Option<Answers> {
        self.0.map(|word| word.parse().ok()).collect()
    }

    /// Returns the next word as a histogram: values, and how often each occurred.
    pub(crate) fn counts(&mut self) -> Option<Vec<(u64, u64)>> {
        let entries = self.0.next()?.split(',').map(|entry| {
            let (value, count) = entry.split_once(':')?;
            Some((value.parse().ok()?, count.parse().ok()?))
        });
        entries.collect()
    }

    /// Returns the next words as histograms of `events` each.
    fn delays(&mut self, events: u32) -> Option<Delays> {
        let mut delays = Delays::new();
        for segment in &mut delays.segments {
            for (value, count) in self.counts()? {
                segment.saturating_record_n(value, count);
            }
            if segment.len() != u64::from(events) {
                return None;
            }
        }
        Some(delays)
    }

    /// Returns whether all words have been read.
    pub(crate) fn is_empty(&mut self) -> bool {
        self.0.next().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_read() {
        let ran = Ran::read("ok 2000 3000 4 5 18446744073709551615").unwrap();
        assert_eq!(ran.elapsed, Duration::from_nanos(2000));
        assert_eq!(ran.cpu_time, Duration::from_nanos(3000));
        assert_eq!((ran.batches, ran.answers), (4, vec![5, u64::MAX]));
    }

    #[test]
    fn nonsense_is_refused_as_such() {
        let cases = [
            "",
            "ok",
            "no 1 2 3 4",
            "ok 0 1 1 1",
            "ok 1 1 0 1",
            "ok 1 1 1",
            "ok 1 1 1 x",
            "ok -1 1 1 1",
        ];
        for reply in cases {
            let error = Ran::read(reply).unwrap_err();
            assert!(matches!(error, ChildError::Nonsense(_)), "{reply:?}: {error}");
        }
        let error = Ran::read("error no such thing").unwrap_err();
        assert_eq!(error.to_string(), "the process refused: no such thing");
    }

    #[test]
    fn delays_are_read_and_must_be_those_of_all_events() {
        let found = paced("ok 9 8 7 1:2 1:1,5:1 3:2 2048:1,100:1", 2).unwrap();
        assert_eq!(found.answers, [7]);
        assert_eq!(found.delays.end_to_end().max(), 2049);
        assert_eq!(found.delays.segments[1].min(), 1);

        let cases = [
            "ok 9 8 7 1:2 1:2 1:2",
            "ok 9 8 7 1:2 1:2 1:2 1:1",
            "ok 9 8 7 1:2 1:2 1:2 1:2 1:2",
            "ok 9 8 7 1:2 1:2 1:2 1;2",
            "ok 9 8 7 1:2 1:2 1:2 1:18446744073709551615,1:3",
        ];
        for reply in cases {
            assert!(matches!(paced(reply, 2), Err(ChildError::Nonsense(_))), "{reply:?}");
        }
    }
}
