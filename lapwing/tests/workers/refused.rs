//! Groups that are refused, and names that are taken.

use crate::group::Sharing;
use lapwing::error::{BuildError, DynamicStageError, TakeError};
use lapwing::graph::{Graph, StartAt};
use lapwing::producer::Single;
use lapwing::{Builder, Disruptor};

type Ring = Builder<'static, u64, Single>;

fn nothing(_: &u64, _: u64, _: bool) {}

fn ring() -> Ring {
    Disruptor::single_producer(8, || 0_u64)
}

#[test]
fn a_group_has_at_least_one_worker_and_at_most_64() {
    let error = |requested, max| Err(BuildError::Workers { stage: "w".into(), requested, max });
    for (workers, up_to, result) in [
        (0, None, error(0, 64)),
        (65, None, error(65, 64)),
        (usize::MAX, None, error(usize::MAX, 64)),
        (0, Some(2), error(0, 2)),
        (3, Some(2), error(3, 2)),
        (3, Some(usize::MAX), error(usize::MAX, 64)),
        (64, None, Ok(())),
        (1, Some(64), Ok(())),
    ] {
        for sharing in Sharing::BOTH {
            let mut group = ring().stage("w").workers(workers);
            if let Some(max) = up_to {
                group = group.up_to(max);
            }
            if sharing == Sharing::ByKey {
                group = group.by_key(|key| *key);
            }
            assert_eq!(group.read(|_| nothing).build().map(drop), result, "{sharing:?}");
        }
    }
    let text = "a group must have 1..=64 workers: stage=\"w\", requested=0";
    assert_eq!(error(0, 64).unwrap_err().to_string(), text);
}

#[test]
fn the_name_of_a_worker_is_unique() {
    let duplicate = Err(BuildError::DuplicateName { stage: "w-1".into() });
    let group = |ring: Ring, workers| ring.stage("w").workers(workers).read(|_| nothing);
    let stage = |ring: Ring| ring.stage("w-1").read(nothing);
    assert_eq!(group(stage(ring()), 2).build().map(drop), duplicate);
    assert_eq!(stage(group(ring(), 2)).build().map(drop), duplicate);
    assert_eq!(stage(group(ring(), 1)).build().map(drop), Ok(()));
}

#[test]
fn no_dynamic_consumer_has_the_name_of_a_worker() {
    let ring = ring().dynamic_stages(1).stage("work").workers(2).read(|_| nothing);
    let (_producer, consumers) = ring.build().unwrap();
    for name in ["work", "work-0", "work-1"] {
        let error = consumers.dynamic_stages().join(name, StartAt::Now).unwrap_err();
        assert_eq!(error, DynamicStageError::DuplicateName { stage: name.to_owned() });
    }
    assert_eq!(consumers.dynamic_stages().join("work-2", StartAt::Now).unwrap().name(), "work-2");
}

#[test]
fn a_group_that_writes_has_no_parallel_stage() {
    let mut graph = Graph::new();
    graph.stage("left").workers(2).write(|_| |event: &mut u64, _, _| *event += 1);
    graph.stage("right").read(|_, _, _| {});
    let error = Disruptor::single_producer(8, || 0).graph(graph).build().unwrap_err();
    assert_eq!(error, BuildError::Overlap { exclusive: "left".into(), other: "right".into() });
}

#[test]
fn the_name_of_a_group_takes_no_poller_and_no_handler() {
    let ring = ring().stage("w").workers(2).read(|_| nothing);
    let (_producer, mut consumers) = ring.build().unwrap();
    assert!(matches!(consumers.take_poller("w").err(), Some(TakeError::WrongType { .. })));
    assert!(matches!(consumers.take_poller("w-0").err(), Some(TakeError::UnknownName { .. })));
    let mut report = consumers.start().unwrap().shutdown().unwrap();
    assert!(matches!(report.take::<u64>("w").err(), Some(TakeError::UnknownName { .. })));
}
