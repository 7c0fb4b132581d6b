//! All tests, and the search by name.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::test::{PerfTest, Work};
use super::{graphs, large, many, ping_pong, raw, value};

/// The tests, in the order of LMAX's folders: raw, sequenced, translator, off heap.
pub(super) const ALL: [&PerfTest; 16] = [
    &raw::ONE_TO_ONE,
    &raw::ONE_TO_ONE_BATCH,
    &value::ONE_TO_ONE,
    &value::ONE_TO_ONE_BATCH,
    &value::ONE_TO_ONE_POLLER,
    &large::LONG_ARRAY,
    &graphs::ONE_TO_THREE,
    &graphs::PIPELINE,
    &graphs::DIAMOND,
    &many::THREE_TO_ONE,
    &many::THREE_TO_ONE_BATCH,
    &many::THREE_TO_THREE,
    &ping_pong::PING_PONG,
    &value::TRANSLATOR,
    &large::OFF_HEAP,
    &large::ON_HEAP,
];

/// Gives a wrong sum, to test that the error is found. Hidden from the help.
pub(super) const WRONG_SUM: PerfTest = PerfTest {
    name: "WrongSum",
    work: Work::Throughput(|load| {
        let mut pass = value::one_to_one(load)?;
        pass.answers.iter_mut().for_each(|sum| *sum ^= 1);
        Ok(pass)
    }),
    ..value::ONE_TO_ONE
};

/// Parses the name of a test.
pub(super) fn parser() -> impl TypedValueParser<Value = &'static PerfTest> {
    let mut names = ALL.map(|test| PossibleValue::new(test.name)).to_vec();
    names.push(PossibleValue::new(WRONG_SUM.name).hide(true));
    PossibleValuesParser::new(names).try_map(|name| named(&name).ok_or("there is no such test"))
}

/// Returns the test of this name, ignoring case.
fn named(name: &str) -> Option<&'static PerfTest> {
    let named = |test: &&PerfTest| test.name.eq_ignore_ascii_case(name);
    ALL.into_iter().chain([&WRONG_SUM]).find(named)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::perftest::test::Load;
    use crate::machine::placement::Placement;

    #[test]
    fn names_are_unique_and_found() {
        for (index, test) in ALL.iter().enumerate() {
            assert!(!ALL[..index].contains(test), "{}", test.name);
            assert_eq!(named(&test.name.to_lowercase()).map(|found| found.name), Some(test.name));
        }
        assert!(named("OneToNone").is_none());
    }

    #[test]
    fn every_test_has_the_right_answers_whatever_the_number_of_events() {
        for test in ALL {
            for (events, ring) in [(1, 16), (2, 16), (9, 16), (10, 16), (11, 16), (3_001, 64)] {
                let events =
                    if matches!(test.work, Work::Latency(_)) { events.min(50) } else { events };
                let load = Load { events, ring, placement: Placement::Free };
                let pass = match test.work {
                    Work::Throughput(run) => run(load),
                    Work::Latency(run) => run(load).map(|delayed| delayed.pass),
                };
                let pass = pass.unwrap();
                assert_eq!(pass.answers, (test.expected)(events), "{} events={events}", test.name);
                assert!(pass.events_per_batch >= 1.0, "{} events={events}", test.name);
            }
        }
    }

    #[test]
    fn parameters_are_those_of_lmax() {
        let operations =
            |test: &PerfTest| u64::from(test.lmax_events) * u64::from(test.operations_per_event);
        assert_eq!(operations(&raw::ONE_TO_ONE_BATCH), 200_000_000 * 10);
        assert_eq!(operations(&value::ONE_TO_ONE_BATCH), 100_000_000 * 10);
        assert_eq!(operations(&large::LONG_ARRAY), 1_000_000 * 2_048);
        assert_eq!(operations(&many::THREE_TO_THREE), 180_000_000 * 3);
        assert_eq!(ALL.map(|test| test.ring).iter().max(), Some(&(1 << 20)));
        assert!(ALL.iter().all(|test| test.ring.is_power_of_two()));
    }
}
