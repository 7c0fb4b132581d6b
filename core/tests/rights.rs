//! Safe calls in an order that no layer above uses. Each must panic or be harmless: none may let
//! two threads access one event, or show an event that is not published.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use lapwing_core::advice::{Plain, ReadAdvice};
use lapwing_core::{
    Factory, Graph, Joined, Place, Producer, Reader, Ring, Room, SingleClaims, StageIndex, StartAt,
    Waits,
};

const CAPACITY: u64 = 4;

fn ring(graph: Graph) -> Ring<u64> {
    let room =
        Room::reserve(&mut lapwing_core::Words::private(), CAPACITY as usize, false).unwrap();
    room.into_ring(
        &mut lapwing_core::Words::private(),
        Factory::of(|| 0),
        graph,
        0,
        Waits::default(),
    )
}

fn stages(upstream: &[&[StageIndex]]) -> Graph {
    Graph::new(upstream.iter().map(|&stages| stages.into()).collect())
}

fn reader(ring: &Ring<u64>, place: Place) -> Reader<u64, Plain> {
    // SAFETY: I5: numbers are `Sync`.
    unsafe { Reader::new(ring.clone(), place, false, CAPACITY, Plain) }
}

type Only = Producer<u64, SingleClaims<Plain>>;

fn publish(producer: &mut Only, event: u64) -> bool {
    let Ok(mut claim) = producer.claim(|_, why| Err(why)) else { return false };
    *claim = event;
    claim.publish().is_ok()
}

fn panics(act: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(act)).is_err()
}

/// The word of an acknowledgement, a worker or a dynamic stage has another owner.
#[test]
fn only_a_stage_has_the_reader_of_a_stage() {
    let mut graph = stages(&[&[], &[0]]);
    let acknowledgement = graph.acknowledge(0);
    let workers = graph.share(1, 2);
    let ring = ring(graph.with_dynamic_stages(1, None));
    let dynamic_stage = ring.control().dynamic_stages().start;
    for word in [acknowledgement, workers[0], workers[1], workers[2], dynamic_stage] {
        assert!(panics(|| drop(reader(&ring, Place::Stage(word)))), "word={word}");
    }
    drop(reader(&ring, Place::Stage(0)));
}

/// Here the reader of the acknowledgement reads what the producer overwrites.
#[test]
fn an_acknowledgement_takes_no_event_from_a_reader() {
    let mut graph = stages(&[&[]]);
    let acknowledgement = graph.acknowledge(0);
    let ring = ring(graph);
    let mut producer = Producer::only(ring.clone(), Plain);
    let mut first = reader(&ring, Place::Stage(0));
    let other = catch_unwind(AssertUnwindSafe(|| reader(&ring, Place::Stage(acknowledgement))));
    let Ok(mut second) = other else { return };
    (0..CAPACITY).for_each(|n| assert!(publish(&mut producer, n)));
    assert_eq!(first.poll(CAPACITY), Ok(0..CAPACITY));
    assert_eq!(second.poll(CAPACITY), Ok(0..CAPACITY));
    first.release(CAPACITY);
    let events = second.events(0..CAPACITY);
    ring.control().acknowledge(acknowledgement, CAPACITY);
    thread::scope(|scope| {
        scope.spawn(|| publish(&mut producer, 7));
    });
    assert_eq!(events[0], 0, "overwritten while a reader has it");
}

/// Advice that acquires every cache line, and counts how often.
struct Greedy(Arc<AtomicU32>);

impl ReadAdvice for Greedy {
    fn wants_lines_of(&mut self, _: Range<u64>) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed);
        true
    }
}

/// The store of an unchanged byte would undo what a producer writes there, which the other stage
/// lets pass.
#[test]
fn a_reader_that_has_left_acquires_no_cache_line() {
    let ring = ring(stages(&[&[], &[]]));
    let mut producer = Producer::only(ring.clone(), Plain);
    let times = Arc::new(AtomicU32::new(0));
    let greedy = Greedy(Arc::clone(&times));
    // SAFETY: I5: numbers are `Sync`.
    let mut left = unsafe { Reader::new(ring.clone(), Place::Stage(0), false, CAPACITY, greedy) };
    let mut right = reader(&ring, Place::Stage(1));
    assert!((0..3).all(|n| publish(&mut producer, n)));
    assert_eq!(left.poll(CAPACITY), Ok(0..3));
    left.release(1);
    left.leave();
    assert_eq!(right.poll(CAPACITY), Ok(0..3));
    right.release(3);
    assert!(panics(|| left.release(2)));
    assert!(panics(|| _ = left.events(2..3)));
    assert_eq!(times.load(Ordering::Relaxed), 1);
}

/// Nothing holds the producer back from what such a reader would get.
#[test]
fn a_reader_that_has_left_gets_no_event() {
    let ring = ring(stages(&[&[], &[]]));
    let mut producer = Producer::only(ring.clone(), Plain);
    let (mut left, _right) = (reader(&ring, Place::Stage(0)), reader(&ring, Place::Stage(1)));
    assert!((0..3).all(|n| publish(&mut producer, n)));
    left.leave();
    assert!(panics(|| _ = left.poll(CAPACITY)));
    assert!(panics(|| _ = left.available_now()));
    assert!(panics(|| _ = left.spin(1)));
    assert!(panics(|| _ = left.events(0..1)));
    assert_eq!((left.next_known(), left.rest()), (None, None));
}

/// A dynamic stage behind the acknowledgement alone would get what is acknowledged, published or
/// not.
#[test]
fn a_dynamic_stage_follows_a_stage() {
    let shows_anything = |last_writer: fn(StageIndex) -> StageIndex| {
        let mut graph = stages(&[&[]]);
        let acknowledgement = graph.acknowledge(0);
        let ring = ring(graph.with_dynamic_stages(1, Some(last_writer(acknowledgement))));
        let joined = Joined::new(ring.control(), StartAt::Oldest).unwrap();
        let mut late = reader(&ring, Place::DynamicStage(joined));
        ring.control().acknowledge(acknowledgement, 3);
        late.poll(CAPACITY).is_ok()
    };
    let with_dynamic_stage_behind = |last_writer| {
        catch_unwind(AssertUnwindSafe(|| shows_anything(last_writer))).unwrap_or(false)
    };
    assert!(!with_dynamic_stage_behind(|_| 0), "nothing is published");
    assert!(!with_dynamic_stage_behind(|words| words), "nothing is published");
    assert!(!with_dynamic_stage_behind(|words| words + 1), "nothing is published");
}

/// Words that are added behind the dynamic stages would be taken for dynamic stages.
#[test]
fn the_dynamic_stages_are_the_last_words() {
    let with_dynamic_stages = || stages(&[&[]]).with_dynamic_stages(1, None);
    assert!(panics(|| _ = with_dynamic_stages().acknowledge(0)));
    assert!(panics(|| _ = with_dynamic_stages().share(0, 1)));
    assert!(panics(|| _ = with_dynamic_stages().with_dynamic_stages(1, None)));
    assert!(panics(|| _ = stages(&[&[]]).share(0, 0)), "a group has workers");
}

/// The end of the longest batch is a sequence, whatever the limits are.
#[test]
fn no_limit_of_a_batch_is_too_large() {
    let ring = ring(stages(&[&[]]));
    let mut producer = Producer::only(ring.clone(), Plain);
    // SAFETY: I5: numbers are `Sync`.
    let mut reader = unsafe { Reader::new(ring, Place::Stage(0), false, u64::MAX, Plain) };
    assert!((0..3).all(|n| publish(&mut producer, n)));
    assert_eq!(reader.poll(1), Ok(0..1));
    reader.release(1);
    assert_eq!(reader.poll(u64::MAX), Ok(1..3));
}
