//! What a monitor shows of the A/B tests of a ring.

use std::fmt;

use super::Monitor;
use super::text::visible;
use crate::ab_tests::Record;

pub use crate::ab_tests::AbTestSubject;

/// The state of one A/B test of one end of a ring. Made by [`Monitor::ab_tests`].
///
/// Whether a variant pays off depends on the CPU, on the placement of the threads, and on other
/// load. An end therefore times both variants from time to time, for some thousand events or two
/// laps of the ring, and keeps the faster one. [`Builder::ab_tests`](crate::Builder::ab_tests)
/// turns the tests off.
///
/// It prints as one line:
///
/// ```text
/// stage "journal": acquire lines before release is on; 12 tests, the last one 3.1 ns an event on, 4.0 ns off
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AbTest {
    /// The end that runs the test: the name of a stage, or `None` for a producer. Each worker of a
    /// group runs its own tests, under the name of the group.
    pub stage: Option<String>,
    /// What the test turns on or off.
    pub subject: AbTestSubject,
    /// Whether the subject is on. During a test: whether it was on before the test.
    pub is_on: bool,
    /// Number of tests that this end has finished.
    pub tests: u64,
    /// What the last test measured. `None` until the first one has ended.
    pub last: Option<AbTimes>,
}

/// The times of one A/B test, in nanoseconds per event.
///
/// ```
/// use lapwing::monitor::{AbTest, AbTimes};
///
/// /// Returns how much faster an event is if the subject of the test is on.
/// fn gain(test: &AbTest) -> Option<f64> {
///     let AbTimes { on, off, .. } = test.last?;
///     Some(off / on)
/// }
///
/// let ring = lapwing::Disruptor::single_producer(1024, || 0_u64).stage("all").poller();
/// let (producer, _consumers) = ring.build()?;
/// let tests = producer.monitor().ab_tests();
/// assert!(tests.iter().all(|test| gain(test).is_none())); // not tested yet
/// # Ok::<(), lapwing::error::BuildError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct AbTimes {
    /// With the subject on.
    pub on: f64,
    /// With the subject off.
    pub off: f64,
}

impl AbTest {
    fn of(record: &Record) -> Self {
        let seen = record.seen();
        let [off, on] = seen.nanoseconds;
        Self {
            stage: record.stage.clone(),
            subject: record.subject,
            is_on: seen.is_on,
            tests: seen.tests,
            last: (seen.tests > 0).then_some(AbTimes { on, off }),
        }
    }
}

impl fmt::Display for AbTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.stage {
            Some(stage) => write!(f, "stage \"{}\"", visible(stage))?,
            None => f.write_str("producer")?,
        }
        write!(f, ": {} is {}; ", self.subject, if self.is_on { "on" } else { "off" })?;
        match (self.tests, self.last) {
            (tests, Some(AbTimes { on, off })) => {
                let noun = if tests == 1 { "test" } else { "tests" };
                write!(f, "{tests} {noun}, the last one {on:.1} ns an event on, {off:.1} ns off")
            }
            (_, None) => f.write_str("not tested yet"),
        }
    }
}

impl Monitor {
    /// Returns the state of each A/B test of the ring, for the ends that currently exist.
    ///
    /// Never waits for the ring. The figures of a test are read one after another. If a test ends
    /// meanwhile, they may belong to two tests. The list is empty if
    /// [`Builder::ab_tests`](crate::Builder::ab_tests) turned the tests off. It omits tests that
    /// are useless on this CPU or for a ring of this size.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(1024, || 0_u64).stage("sum").poller().build()?;
    /// let mut sum = consumers.take_poller("sum")?;
    /// for _ in 0..100 {
    ///     producer.publish_batch(512, |_| {})?;
    ///     sum.poll()?.consume_all();
    /// }
    /// for test in producer.monitor().ab_tests() {
    ///     assert!(matches!(test.stage.as_deref(), None | Some("sum")), "{test}");
    ///     assert_eq!(test.last.is_some(), test.tests > 0);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn ab_tests(&self) -> Vec<AbTest> {
        self.description.ab_tests().records().iter().map(|record| AbTest::of(record)).collect()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_test_prints_as_one_line() {
        let last = Some(AbTimes { on: 3.12, off: 4.0 });
        let (stage, subject) = (Some("a\tb".to_owned()), AbTestSubject::AcquireLines);
        let mut test = AbTest { stage, subject, is_on: true, tests: 12, last };
        let text = "stage \"a\\tb\": acquire lines before release is on; 12 tests, the last one 3.1 ns an \
                    event on, 4.0 ns off";
        assert_eq!(test.to_string(), text);
        (test.stage, test.is_on, test.tests) = (None, false, 1);
        assert!(
            test.to_string().starts_with("producer: acquire lines before release is off; 1 test,")
        );
        (test.tests, test.last) = (0, None);
        assert!(test.to_string().ends_with(" is off; not tested yet"));
    }
}
