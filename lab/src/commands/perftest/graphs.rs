//! One producer and three consumers: parallel, in a row, and as a diamond.
//!
//! ```text
//! OneToThree:  P1 -+--> EP1     Pipeline:  P1 --> EP1 --> EP2 --> EP3     Diamond:      +--> EP1 --+
//!                  +--> EP2                                                        P1 --+          +--> EP3
//!                  +--> EP3                                                             +--> EP2 --+
//! ```

use std::sync::atomic::{AtomicBool, Ordering};

use super::parts::{publish_each, ring};
use super::test::{Load, PerfTest, Work, sum_below};
use super::value::publish_numbers;
use crate::measure::crew::{Answers, RunError};
use crate::measure::run::Pass;
use crate::rings::crew::{self, Feed};
use crate::rings::tally::Tally;

/// The second operand of a pipeline's first event. It decreases by one per event.
const OPERAND_TWO: u64 = 777;

/// Three consumers of every event: one adds, one subtracts, one combines by AND.
pub(super) const ONE_TO_THREE: PerfTest = PerfTest {
    name: "OneToThreeSequencedThroughputTest",
    shape: "1P-3C",
    threads: 4,
    ring: 8_192,
    wait: "yielding",
    event_bytes: 8,
    lmax_events: 100_000_000,
    operations_per_event: 1,
    expected: three_results,
    work: Work::Throughput(one_to_three),
};

/// Three steps. Each needs the result of the previous one in the event.
pub(super) const PIPELINE: PerfTest = PerfTest {
    name: "OneToThreePipelineSequencedThroughputTest",
    event_bytes: size_of::<FunctionEvent>(),
    expected: pipeline_result,
    work: Work::Throughput(pipeline),
    ..ONE_TO_THREE
};

/// Two stages each write a property, and the third counts the events that have both.
pub(super) const DIAMOND: PerfTest = PerfTest {
    name: "OneToThreeDiamondSequencedThroughputTest",
    event_bytes: size_of::<FizzBuzzEvent>(),
    expected: |events| vec![u64::from(events.div_ceil(15))],
    work: Work::Throughput(diamond),
    ..ONE_TO_THREE
};

/// The event of a pipeline.
#[derive(Clone, Copy, Debug, Default)]
struct FunctionEvent {
    operand_one: u64,
    operand_two: u64,
    step_one: u64,
    step_two: u64,
}

/// The event of a diamond. Both stages write to one cache line, as in LMAX's test.
#[derive(Debug, Default)]
struct FizzBuzzEvent {
    fizz: AtomicBool,
    buzz: AtomicBool,
    value: u64,
}

/// The state of a consumer of [`ONE_TO_THREE`]. The number of its events shows a loss that AND
/// hides.
#[derive(Clone, Copy, Debug, Default)]
struct Mutation {
    value: u64,
    events: u64,
}

impl Mutation {
    /// Applies `operation` to the value.
    fn apply(&mut self, operation: impl FnOnce(u64) -> u64) {
        self.value = operation(self.value);
        self.events += 1;
    }
}

/// Returns the final results of the three consumers. All begin with zero, so AND stays zero.
fn three_results(events: u32) -> Answers {
    let (sum, events) = (sum_below(events), u64::from(events));
    vec![sum, events, sum.wrapping_neg(), events, 0, events]
}

fn one_to_three(load: Load) -> Result<Pass, RunError> {
    let [mut add, mut subtract, mut and] = [(); 3].map(|()| Tally::<Mutation>::new());
    let (producer, consumers) = ring(load, || 0)
        .parallel(|parallel| {
            parallel
                .stage("add")
                .read(|event, _, end_of_batch| {
                    add.answer.apply(|value| value.wrapping_add(*event));
                    add.count(end_of_batch);
                })
                .stage("subtract")
                .read(|event, _, end_of_batch| {
                    subtract.answer.apply(|value| value.wrapping_sub(*event));
                    subtract.count(end_of_batch);
                })
                .stage("and")
                .read(|event, _, end_of_batch| {
                    and.answer.apply(|value| value & *event);
                    and.count(end_of_batch);
                })
        })
        .build()
        .map_err(RunError::refused)?;
    let feed = Feed::new("producer", producer, |producer| publish_numbers(producer, load.events));
    let finish = crew::run(vec![feed], consumers, load.placement)?;
    let answers = [add.answer, subtract.answer, and.answer];
    let answers = answers.iter().flat_map(|mutation| [mutation.value, mutation.events]).collect();
    let batches = [add.batches, subtract.batches, and.batches];
    Ok(Pass::in_batches(finish, answers, load.events, &batches))
}

/// Returns the number of events with the third bit after two steps, by a plain loop.
fn pipeline_result(events: u32) -> Answers {
    let operands = (0..u64::from(events)).map(|one| (one, OPERAND_TWO.wrapping_sub(one)));
    let steps = operands.map(|(one, two)| one.wrapping_add(two).wrapping_add(3));
    vec![steps.filter(|result| result & 4 == 4).count() as u64]
}

fn pipeline(load: Load) -> Result<Pass, RunError> {
    let (mut one, mut two) = (Tally::<()>::new(), Tally::<()>::new());
    let mut three = Tally::<u64>::new();
    let (producer, consumers) = ring(load, FunctionEvent::default)
        .stage("step-1")
        .write(|event, _, end_of_batch| {
            event.step_one = event.operand_one.wrapping_add(event.operand_two);
            one.count(end_of_batch);
        })
        .stage("step-2")
        .write(|event, _, end_of_batch| {
            event.step_two = event.step_one.wrapping_add(3);
            two.count(end_of_batch);
        })
        .stage("step-3")
        .read(|event, _, end_of_batch| {
            three.answer += u64::from(event.step_two & 4 == 4);
            three.count(end_of_batch);
        })
        .build()
        .map_err(RunError::refused)?;
    let feed = Feed::new("producer", producer, |producer| {
        publish_each(producer, load.events, |event, value| {
            event.operand_one = value;
            event.operand_two = OPERAND_TWO.wrapping_sub(value);
        })
    });
    let finish = crew::run(vec![feed], consumers, load.placement)?;
    let batches = [one.batches, two.batches, three.batches];
    Ok(Pass::in_batches(finish, vec![three.answer], load.events, &batches))
}

fn diamond(load: Load) -> Result<Pass, RunError> {
    // Relaxed suffices for the properties: the barriers of the ring order the stages.
    let order = Ordering::Relaxed;
    let (mut fizz, mut buzz) = (Tally::<()>::new(), Tally::<()>::new());
    let mut both = Tally::<u64>::new();
    let (producer, consumers) = ring(load, FizzBuzzEvent::default)
        .parallel(|parallel| {
            parallel
                .stage("fizz")
                .read(|event, _, end_of_batch| {
                    if event.value.is_multiple_of(3) {
                        event.fizz.store(true, order);
                    }
                    fizz.count(end_of_batch);
                })
                .stage("buzz")
                .read(|event, _, end_of_batch| {
                    if event.value.is_multiple_of(5) {
                        event.buzz.store(true, order);
                    }
                    buzz.count(end_of_batch);
                })
        })
        .stage("fizz-buzz")
        .read(|event, _, end_of_batch| {
            both.answer += u64::from(event.fizz.load(order) && event.buzz.load(order));
            both.count(end_of_batch);
        })
        .build()
        .map_err(RunError::refused)?;
    let feed = Feed::new("producer", producer, |producer| {
        publish_each(producer, load.events, |event, value| {
            *event.fizz.get_mut() = false;
            *event.buzz.get_mut() = false;
            event.value = value;
        })
    });
    let finish = crew::run(vec![feed], consumers, load.placement)?;
    let batches = [fizz.batches, buzz.batches, both.batches];
    Ok(Pass::in_batches(finish, vec![both.answer], load.events, &batches))
}
