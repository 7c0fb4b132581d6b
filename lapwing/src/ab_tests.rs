//! Records the A/B tests of one ring as figures for monitors. Not here: how a test decides
//! (`tuning::ab_test`).
//!
//! Each end of a ring has a record for each of its tests. The end stores into the record after a
//! test, at most once in some thousand events. Monitors load it. A record is dropped with its end.

use std::fmt;
// Always the standard library's `Arc`: no model depends on a figure.
use std::sync::Arc;

use crate::registry::Registry;
use crate::sync::{Figure, Ordering};

/// What an A/B test turns on or off.
///
/// ```
/// use lapwing::{Disruptor, monitor::AbTestSubject};
///
/// let (producer, _consumers) =
///     Disruptor::single_producer(1024, || 0_u64).stage("all").poller().build()?;
/// let tests = producer.monitor().ab_tests();
/// let prefetch = tests.iter().find(|test| test.subject == AbTestSubject::PrefetchSlots);
/// assert!(prefetch.is_none_or(|test| !test.is_on)); // off before the first test
/// assert_eq!(AbTestSubject::PrefetchSlots.to_string(), "prefetch slots");
/// # Ok::<(), lapwing::error::BuildError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AbTestSubject {
    /// A producer prefetches the next slots before it writes them.
    PrefetchSlots,
    /// A consumer of a small ring prefetches a batch before it reads it.
    PrefetchBatch,
    /// A consumer acquires ownership of the cache lines of finished events before it releases their
    /// slots.
    AcquireLines,
}

impl fmt::Display for AbTestSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::PrefetchSlots => "prefetch slots",
            Self::PrefetchBatch => "prefetch a batch",
            Self::AcquireLines => "acquire lines before release",
        })
    }
}

/// The A/B tests of one ring.
#[derive(Debug, Default)]
pub(crate) struct AbTests {
    /// Whether the ends of the ring run no tests.
    pub(crate) are_off: bool,
    records: Registry<Record>,
}

impl AbTests {
    /// Returns the tests of the end that belongs to `stage`, or to a producer.
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

    /// Returns the records of the ends that still exist.
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
    /// Returns a record for a test of this end; `None` if the ring runs no tests.
    pub(crate) fn add(&self, subject: AbTestSubject) -> Option<Arc<Record>> {
        self.tests.add(self.stage.clone(), subject)
    }

    /// Like [`add`](Self::add), but returns `None` if the test is useless on this CPU or for a ring
    /// of this size.
    pub(crate) fn add_if(&self, is_of_use: bool, subject: AbTestSubject) -> Option<Arc<Record>> {
        is_of_use.then(|| self.add(subject)).flatten()
    }
}

/// The result of one test. Stored by one end, one word after another; loaded by monitors.
#[derive(Debug)]
pub(crate) struct Record {
    /// The stage whose end runs the test, or `None` for a producer.
    pub(crate) stage: Option<String>,
    pub(crate) subject: AbTestSubject,
    /// 1 if the subject is on.
    is_on: Figure,
    /// Number of tests so far.
    tests: Figure,
    /// Nanoseconds per event in the last test, with the subject off and on, as the bits of an
    /// `f64`.
    nanoseconds: [Figure; 2],
}

/// The values of a [`Record`] as a monitor loads them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Seen {
    pub(crate) is_on: bool,
    pub(crate) tests: u64,
    /// With the subject off and on.
    pub(crate) nanoseconds: [f64; 2],
}

impl Record {
    fn new(stage: Option<String>, subject: AbTestSubject) -> Self {
        let (is_on, tests, nanoseconds) = Default::default();
        Self { stage, subject, is_on, tests, nanoseconds }
    }

    /// Records the end of a test, and whether the subject is on from now on.
    pub(crate) fn tested(&self, nanoseconds: [f64; 2], is_on: bool) {
        // O13, Relaxed: figures for monitors; they carry nothing.
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
        let second = tests.of_end(Some("b".into())).add(AbTestSubject::PrefetchBatch).unwrap();
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
            tests.add(None, AbTestSubject::PrefetchBatch).is_none() && tests.records().is_empty()
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
