//! The A/B tests of one ring as figures for monitors. Not here: how a test decides (`tuning::ab_test`).
//!
//! Each end of a ring has a record for each of its tests. The end stores into it after a test, which happens at
//! most once in some thousand events. Monitors load it. A record goes with its end.

use std::fmt;
// The standard library's in a model as well: no model is about a figure.
use std::sync::Arc;

use crate::registry::Registry;
use crate::sync::{Figure, Ordering};

/// What an A/B test turns on or off.
///
/// ```
/// use lapwing::monitor::AbTestSubject;
///
/// assert_eq!(AbTestSubject::AcquireLines.to_string(), "acquire lines before release");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AbTestSubject {
    /// A producer prefetches the next slots before it writes them.
    PrefetchSlots,
    /// A consumer of a small ring prefetches a batch before it reads it.
    PrefetchBatch,
    /// A consumer acquires ownership of the cache lines of finished events before it releases their slots.
    AcquireLines,
    /// A consumer that waits begins with several pause hints after each poll, not with one.
    PauseLonger,
}

impl fmt::Display for AbTestSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::PrefetchSlots => "prefetch slots",
            Self::PrefetchBatch => "prefetch a batch",
            Self::AcquireLines => "acquire lines before release",
            Self::PauseLonger => "pause longer between polls",
        })
    }
}

/// The A/B tests of one ring.
#[derive(Debug, Default)]
pub(crate) struct AbTests {
    /// Whether its ends run none.
    pub(crate) are_off: bool,
    records: Registry<Record>,
}

impl AbTests {
    /// The tests of the end that belongs to `stage`, or to a producer.
    pub(crate) fn of_end(&self, stage: Option<String>) -> EndTests<'_> {
        EndTests { tests: self, stage }
    }

    fn add(&self, stage: Option<String>, subject: AbTestSubject) -> Option<Arc<Record>> {
        if self.are_off {
            return None;
        }
        let record = Arc::new(Record::new(stage, subject));
        self.records.add(&record);
        Some(record)
    }

    /// The records of the ends that still exist.
    pub(crate) fn records(&self) -> Vec<Arc<Record>> {
        self.records.all()
    }
}

/// The A/B tests of one end of a ring.
#[derive(Debug)]
pub(crate) struct EndTests<'a> {
    tests: &'a AbTests,
    stage: Option<String>,
}

impl EndTests<'_> {
    /// A record for a test of this end; `None` if the ring runs no tests.
    pub(crate) fn add(&self, subject: AbTestSubject) -> Option<Arc<Record>> {
        self.tests.add(self.stage.clone(), subject)
    }

    /// The same, for a test that may be of no use on this CPU or in a ring of this size. Then there is no record either.
    pub(crate) fn add_if(&self, is_of_use: bool, subject: AbTestSubject) -> Option<Arc<Record>> {
        is_of_use.then(|| self.add(subject)).flatten()
    }
}

/// What one test has shown. Written by one end, one word after another; read by monitors.
#[derive(Debug)]
pub(crate) struct Record {
    /// The stage whose end runs it, or `None` for a producer.
    pub(crate) stage: Option<String>,
    pub(crate) subject: AbTestSubject,
    /// 1 if the subject is on.
    is_on: Figure,
    /// Number of tests so far.
    tests: Figure,
    /// Nanoseconds an event in the last test, with the subject off and on: the bits of an `f64`.
    nanoseconds: [Figure; 2],
}

/// What a monitor sees of a [`Record`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Seen {
    pub(crate) is_on: bool,
    pub(crate) tests: u64,
    /// With the subject off, and on.
    pub(crate) nanoseconds: [f64; 2],
}

impl Record {
    fn new(stage: Option<String>, subject: AbTestSubject) -> Self {
        let (is_on, tests, nanoseconds) = Default::default();
        Self { stage, subject, is_on, tests, nanoseconds }
    }

    /// A test has ended; the subject is on from now on, or not.
    pub(crate) fn tested(&self, nanoseconds: [f64; 2], is_on: bool) {
        // O13, Relaxed: figures for monitors; nothing comes with them.
        let store = |figure: &Figure, value| figure.store(value, Ordering::Relaxed);
        store(&self.is_on, is_on.into());
        for (figure, value) in self.nanoseconds.iter().zip(nanoseconds) {
            store(figure, value.to_bits());
        }
        self.tests.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn seen(&self) -> Seen {
        // O13, Relaxed: as in `tested`.
        let load = |figure: &Figure| figure.load(Ordering::Relaxed);
        let nanoseconds = [0, 1].map(|way| f64::from_bits(load(&self.nanoseconds[way])));
        Seen { is_on: load(&self.is_on) != 0, tests: load(&self.tests), nanoseconds }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_record_goes_with_its_end() {
        let tests = AbTests::default();
        let first = tests.of_end(None).add(AbTestSubject::PrefetchSlots).unwrap();
        let second = tests.of_end(Some("b".into())).add(AbTestSubject::PauseLonger).unwrap();
        drop(first);
        let left: Vec<_> = tests.records().iter().map(|record| record.stage.clone()).collect();
        assert_eq!(left, [Some("b".into())]);
        drop(second);
        tests.add(None, AbTestSubject::PrefetchSlots).unwrap();
        assert_eq!(tests.records.lock().len(), 1, "the next one removes the old ones");
    }

    #[test]
    fn a_ring_without_tests_has_no_records() {
        let tests = AbTests { are_off: true, ..AbTests::default() };
        assert!(
            tests.add(None, AbTestSubject::PauseLonger).is_none() && tests.records().is_empty()
        );
    }

    #[test]
    fn a_monitor_sees_what_the_last_test_showed() {
        let record = Record::new(None, AbTestSubject::AcquireLines);
        record.tested([3.0, 5.0], false);
        record.tested([4.5, 2.25], true);
        assert_eq!(record.seen(), Seen { is_on: true, tests: 2, nanoseconds: [4.5, 2.25] });
    }
}
