//! Tests in which order stages see events, which graphs are refused, and how events are divided
//! into batches.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, mpsc};
use std::thread;

use crate::common::{Kind, Lcg, ProducerOf, repeats};
use lapwing::consumer::{Exclusive, Outcome};
use lapwing::error::BuildError;
use lapwing::graph::{Graph, StageId};
use lapwing::{Builder, Disruptor, EventHandler, Sequence};

crate::common::for_both_producers! {
    miri_stages_in_a_row_hand_on_what_each_has_written,
    sides_and_chains_keep_their_order,
    miri_random_graphs_keep_every_order,
    graphs_of_names_in_any_order_keep_every_order,
    graphs_and_other_stages_follow_each_other,
    batches_follow_each_other_and_end_at_the_wrap,
    max_batch_is_respected_by_every_kind_of_stage,
    few_stages_have_longer_batches_than_many,
    end_of_batch_comes_with_the_last_event_of_a_batch,
}

/// Publishes `events` events, each equal to its sequence, drains the ring, and checks that no stage
/// failed.
fn run<K: Kind>(events: u64, ring: Builder<'_, u64, K::Sequencer>) {
    let (mut producer, consumers) = ring.build().unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        for number in 0..events {
            producer.publish(|event| *event = number).unwrap();
        }
        let report = running.shutdown().unwrap_or_else(|failed| panic!("{failed}"));
        let is_done = |stage: &lapwing::consumer::StageReport| stage.processed() == events;
        assert!(report.stages().all(is_done), "{report:?}");
    });
}

// ---- order ----

/// Checks the order of stages by the sequences that each of them writes down: a stage gets each event
/// once, and after all stages that it depends on. A case names these for each stage.
struct Watch {
    seen: Vec<AtomicU64>,
}

impl Watch {
    fn new(stages: usize) -> Self {
        Self { seen: (0..stages).map(|_| AtomicU64::new(0)).collect() }
    }

    /// Returns what `stage` does, which is downstream of the stages `upstream`.
    fn stage(
        &self,
        stage: usize,
        upstream: impl Into<Vec<usize>>,
    ) -> impl FnMut(&u64, Sequence, bool) + Send {
        let upstream = upstream.into();
        move |event, sequence, _| {
            assert_eq!(*event, sequence, "stage {stage}");
            for &other in &upstream {
                let seen = self.seen[other].load(Ordering::Relaxed);
                assert!(seen > sequence, "stage {stage} is ahead of {other}");
            }
            // Relaxed: the order that the ring provides must suffice.
            let before = self.seen[stage].swap(sequence + 1, Ordering::Relaxed);
            assert_eq!(before, sequence, "stage {stage} gets each event once");
        }
    }

    /// The same for a stage that writes after all others, and spoils the event for them.
    fn last(&self, stage: usize) -> impl FnMut(&mut u64, Sequence, bool) + Send {
        let mut watch = self.stage(stage, (0..stage).collect::<Vec<_>>());
        move |event, sequence, end_of_batch| {
            watch(event, sequence, end_of_batch);
            *event = u64::MAX;
        }
    }
}

struct Triples;

impl EventHandler<u64, Exclusive> for Triples {
    fn on_event(&mut self, event: &mut u64, _: Sequence, _: bool) {
        *event *= 3;
    }
}

fn miri_stages_in_a_row_hand_on_what_each_has_written<K: Kind>() {
    let ring = K::ring(4, || 0_u64)
        .stage("add")
        .write(|event, _, _| *event += 1)
        .stage("double")
        .write_batch(|events, _| events.iter_mut().for_each(|event| *event *= 2))
        .stage("triple")
        .write_local(|| Triples)
        .stage("check")
        .read(|event, sequence, _| assert_eq!(*event, (sequence + 1) * 6));
    run::<K>(repeats(5_000), ring);
}

fn sides_and_chains_keep_their_order<K: Kind>() {
    let watch = Watch::new(9);
    let batches = AtomicU64::new(0);
    let ring = K::ring(8, || 0_u64)
        .stage("0")
        .read(watch.stage(0, []))
        .parallel(|parallel| {
            parallel
                .chain(|chain| {
                    chain
                        .stage("1")
                        .read(watch.stage(1, [0]))
                        .stage("2")
                        .read(watch.stage(2, [0, 1]))
                        .parallel(|parallel| {
                            parallel.stage("3").read(watch.stage(3, [1, 2])).chain(|chain| {
                                chain
                                    .stage("4")
                                    .read(watch.stage(4, [1, 2]))
                                    .stage("5")
                                    .read(watch.stage(5, [4]))
                            })
                        })
                })
                .stage("6")
                .read(watch.stage(6, [0]))
                .stage("by batch")
                .read_batch(|events, first| {
                    assert!(events.iter().copied().eq(first..first + events.len() as u64));
                    batches.fetch_add(events.len() as u64, Ordering::Relaxed);
                })
        })
        .stage("7")
        .read(watch.stage(7, [3, 5, 6]))
        .stage("8")
        .write(watch.last(8));
    run::<K>(repeats(5_000), ring);
    assert_eq!(batches.into_inner(), repeats(5_000));
}

/// For each stage of a random graph, those that it depends on.
fn random_upstream(random: &mut Lcg) -> Vec<Vec<usize>> {
    let stages = 2 + random.below(8) as usize;
    let mut upstream = |stage| (0..stage).filter(|_| random.below(3) == 0).collect();
    (0..stages).map(&mut upstream).collect()
}

/// Each stage of a random graph depends on a few earlier ones, and sees no event before they have.
fn miri_random_graphs_keep_every_order<K: Kind>() {
    let mut random = Lcg(2026);
    for _ in 0..repeats(20) {
        let stages = random_upstream(&mut random);
        let watch = Watch::new(stages.len());
        let mut graph = Graph::new();
        let mut ids: Vec<StageId> = Vec::new();
        for (stage, upstream) in stages.into_iter().enumerate() {
            let named = graph.stage(stage.to_string());
            let placed = upstream.iter().fold(named, |named, &other| named.after(ids[other]));
            ids.push(placed.read(watch.stage(stage, upstream)));
        }
        let capacity = 1 << random.below(5);
        run::<K>(repeats(400), K::ring(capacity, || 0_u64).graph(graph));
    }
}

/// The same with names instead of ids, and the stages added in a random order.
fn graphs_of_names_in_any_order_keep_every_order<K: Kind>() {
    let mut random = Lcg(2027);
    for _ in 0..repeats(20) {
        let stages = random_upstream(&mut random);
        let watch = Watch::new(stages.len());
        let mut graph = Graph::new();
        let mut left: Vec<_> = stages.into_iter().enumerate().collect();
        while !left.is_empty() {
            let (stage, upstream) = left.swap_remove(random.below(left.len() as u64) as usize);
            let named = graph.stage(stage.to_string());
            let named = upstream.iter().fold(named, |named, up| named.after_named(up.to_string()));
            named.read(watch.stage(stage, upstream));
        }
        let capacity = 1 << random.below(5);
        run::<K>(repeats(400), K::ring(capacity, || 0_u64).graph(graph));
    }
}

/// Also such as are empty, and graphs with stages that write between others.
fn graphs_and_other_stages_follow_each_other<K: Kind>() {
    let watch = Watch::new(6);
    let mut first = Graph::new();
    first.stage("2").after_named("1").read(watch.stage(2, [0, 1]));
    let c = first.stage("3").read(watch.stage(3, [0]));
    first.stage("1").after(c).read(watch.stage(1, [0, 3]));
    let mut second = Graph::new();
    let add = second.stage("add").write(|event: &mut u64, _, _| *event += 7);
    let left = second.stage("left").after(add);
    let left = left.read(|event, sequence, _| assert_eq!(*event, sequence + 7));
    let right = second.stage("right").after(add).read_batch(|_, _| {});
    let last = second.stage("take").after(left).after(right);
    let last = last.write_batch(|events, _| events.iter_mut().for_each(|event| *event -= 7));
    second.stage("4").after(last).after(add).read(watch.stage(4, [0, 1, 2, 3]));
    let ring = K::ring(4, || 0_u64)
        .parallel(|parallel| parallel)
        .stage("0")
        .read(watch.stage(0, []))
        .graph(first)
        .graph(Graph::default())
        .parallel(|parallel| parallel.chain(|chain| chain.parallel(|parallel| parallel)))
        .graph(second)
        .stage("5")
        .write(watch.last(5));
    run::<K>(repeats(5_000), ring);
}

// ---- batches ----

fn batches_follow_each_other_and_end_at_the_wrap<K: Kind>() {
    const CAPACITY: u64 = 16;
    let mut next = 0;
    let ring = K::ring(CAPACITY as usize, || 0_u64)
        .stage("reads")
        .max_batch(usize::MAX)
        .read_batch(|events, first| {
            assert_eq!(first, next);
            assert!(!events.is_empty() && first % CAPACITY + events.len() as u64 <= CAPACITY);
            assert!(events.iter().copied().eq(first..first + events.len() as u64));
            next += events.len() as u64;
        });
    run::<K>(repeats(20_000), ring);
    assert_eq!(next, repeats(20_000));
}

/// Publishes a full ring before the stages start, so that the batches are deterministic.
fn run_on_a_full_ring<'env, K: Kind>(
    capacity: usize,
    add: impl FnOnce(Builder<'env, u64, K::Sequencer>) -> Builder<'env, u64, K::Sequencer>,
) {
    let (mut producer, consumers) = add(K::ring(capacity, || 0_u64)).build().unwrap();
    fill::<K>(&mut producer);
    drop(producer);
    thread::scope(|scope| _ = consumers.start_scoped(scope).unwrap().join().unwrap());
}

fn fill<K: Kind>(producer: &mut ProducerOf<u64, K>) {
    let capacity = producer.capacity();
    producer
        .publish_batch(capacity, |slots| {
            (0..).zip(slots.iter_mut()).for_each(|(number, event)| *event = number);
        })
        .unwrap();
}

/// Reports its calls to the test.
struct Calls(mpsc::Sender<Call>);

#[derive(Debug, PartialEq)]
enum Call {
    Start { size: u64, depth: u64 },
    Event { sequence: Sequence, end_of_batch: bool },
}

impl EventHandler<u64> for Calls {
    fn on_batch_start(&mut self, size: u64, depth: u64) {
        assert!(size > 0 && depth >= size);
        self.0.send(Call::Start { size, depth }).unwrap();
    }

    fn on_event(&mut self, _: &u64, sequence: Sequence, end_of_batch: bool) {
        self.0.send(Call::Event { sequence, end_of_batch }).unwrap();
    }
}

fn max_batch_is_respected_by_every_kind_of_stage<K: Kind>() {
    let lengths = [(); 4].map(|()| Mutex::new(Vec::new()));
    let [reads, writes, by_default, starts] = &lengths;
    let note = |lengths: &Mutex<Vec<_>>, length, depth| {
        lengths.lock().unwrap().push((length, depth));
    };
    let (call, calls) = mpsc::channel();
    run_on_a_full_ring::<K>(8, |ring| {
        ring.stage("starts")
            .max_batch(3)
            .read_handler(Calls(call))
            .stage("reads")
            .max_batch(3)
            .read_batch(|events, _| note(reads, events.len() as u64, 0))
            .stage("writes")
            .max_batch(1)
            .write_batch(|events, _| note(writes, events.len() as u64, 0))
            .stage("the default, a quarter of the ring among four")
            .read_batch(|events, _| note(by_default, events.len() as u64, 0))
    });
    for call in calls {
        if let Call::Start { size, depth } = call {
            note(starts, size, depth);
        }
    }
    let [reads, writes, by_default, starts] = lengths.map(|lengths| lengths.into_inner().unwrap());
    // The batches of the first stage are known, as all its events are available.
    assert_eq!(starts, [(3, 8), (3, 5), (2, 2)]);
    assert!(reads.iter().all(|batch| batch.0 <= 3), "{reads:?}");
    assert_eq!(writes, [(1, 0); 8]);
    assert!(by_default.iter().all(|batch| batch.0 <= 2), "{by_default:?}");
}

fn few_stages_have_longer_batches_than_many<K: Kind>() {
    let longest = AtomicUsize::new(0);
    let see = |events: &[u64], _: Sequence| _ = longest.fetch_max(events.len(), Ordering::Relaxed);
    let (alone, of_two) = if K::IS_MULTI { (2048, 2048) } else { (4096, 2730) };
    run_on_a_full_ring::<K>(8192, |ring| ring.stage("alone").read_batch(see));
    assert_eq!(longest.swap(0, Ordering::Relaxed), alone);
    run_on_a_full_ring::<K>(8192, |ring| {
        ring.stage("first").read_batch(see).stage("second").read_batch(see)
    });
    assert_eq!(longest.swap(0, Ordering::Relaxed), of_two, "two stages");
    run_on_a_full_ring::<K>(64, |ring| ring.stage("of a small ring").read_batch(see));
    assert_eq!(longest.swap(0, Ordering::Relaxed), if K::IS_MULTI { 16 } else { 32 });
    run_on_a_full_ring::<K>(64, |ring| {
        let ring = ring.parallel(|parallel| {
            parallel.stage("left").read_batch(see).stage("right").read_batch(see)
        });
        ring.stage("join").read_batch(see)
    });
    assert_eq!(longest.swap(0, Ordering::Relaxed), 16, "three");
    run_on_a_full_ring::<K>(64, |ring| {
        (0..9).fold(ring, |ring, number| ring.stage(number.to_string()).read_batch(see))
    });
    assert_eq!(longest.swap(0, Ordering::Relaxed), 16, "many");
    run_on_a_full_ring::<K>(1, |ring| ring.stage("alone").read_batch(see));
    assert_eq!(longest.swap(0, Ordering::Relaxed), 1, "one slot");
    run_on_a_full_ring::<K>(1 << 15, |ring| ring.stage("alone").read_batch(see));
    let alone = if K::IS_MULTI { 4096 } else { 1 << 14 };
    assert_eq!(longest.swap(0, Ordering::Relaxed), alone, "a large ring");
}

fn end_of_batch_comes_with_the_last_event_of_a_batch<K: Kind>() {
    let (call, calls) = mpsc::channel();
    let (mut producer, consumers) =
        K::ring(16, || 0_u64).stage("all").read_handler(Calls(call)).build().unwrap();
    let running = consumers.start().unwrap();
    (0..repeats(2_000)).for_each(|_| _ = producer.publish(|_| {}).unwrap());
    let report = running.shutdown().unwrap();
    assert!(report.stages().all(|stage| *stage.outcome() == Outcome::Drained));
    let (mut left, mut next) = (0, 0);
    drop(report);
    for call in calls {
        match call {
            Call::Start { size, .. } => {
                assert_eq!(left, 0, "a batch begins when the last one has ended");
                left = size;
            }
            Call::Event { sequence, end_of_batch } => {
                left -= 1;
                assert_eq!((sequence, end_of_batch), (next, left == 0));
                next += 1;
            }
        }
    }
    assert_eq!((left, next), (0, repeats(2_000)));
}

// ---- refused graphs ----

fn build_error(graph: Graph<'_, u64>) -> BuildError {
    Disruptor::single_producer(4, || 0).graph(graph).build().err().unwrap()
}

fn nothing(_: &u64, _: Sequence, _: bool) {}

fn change(event: &mut u64, _: Sequence, _: bool) {
    *event += 1;
}

fn text(name: &str) -> String {
    name.to_owned()
}

/// The third row has two stages in a row and one parallel to both, and only the join orders it.
#[test]
fn overlap_names_the_stage_that_writes_and_the_parallel_one() {
    let overlap =
        |exclusive, other| BuildError::Overlap { exclusive: text(exclusive), other: text(other) };
    let mut graph = Graph::new();
    let first = graph.stage("first").read(nothing);
    graph.stage("reads").after(first).read(nothing);
    graph.stage("writes").after(first).write(change);
    let error = build_error(graph);
    assert_eq!(error, overlap("writes", "reads"));
    assert!(error.to_string().contains("\"writes\"") && error.to_string().contains("\"reads\""));

    let mut graph = Graph::new();
    graph.stage("left").poller_mut();
    graph.stage("right").poller_mut();
    assert_eq!(build_error(graph), overlap("left", "right"));

    let mut graph = Graph::new();
    let beside = graph.stage("beside").read(nothing);
    let first = graph.stage("first").read(nothing);
    let writes = graph.stage("writes").after(first).write(change);
    graph.stage("join").after(writes).after(beside).read(nothing);
    assert_eq!(build_error(graph), overlap("writes", "beside"));
}

#[test]
fn stage_of_another_graph_is_unknown() {
    let mut other = Graph::<u64>::new();
    let foreign = other.stage("foreign").read(nothing);
    let mut graph = Graph::new();
    graph.stage("first").read(nothing);
    graph.stage("second").after(foreign).read(nothing);
    assert_eq!(build_error(graph), BuildError::UnknownStage { stage: text("second") });
}

/// A graph with a stage for each pair of a name and the names of those that it depends on.
fn named(stages: &[(&str, &[&str])]) -> Graph<'static, u64> {
    let mut graph = Graph::new();
    for (name, upstream) in stages {
        let stage = graph.stage(*name);
        upstream.iter().fold(stage, |stage, up| stage.after_named(*up)).read(nothing);
    }
    graph
}

#[test]
fn a_graph_that_is_named_is_in_the_order_of_its_dependencies() {
    let names = |stages: &[(&str, &[&str])]| -> Vec<String> {
        let ring = Disruptor::single_producer(4, || 0).graph(named(stages));
        ring.build().unwrap().1.names().map(str::to_owned).collect()
    };
    assert_eq!(names(&[("c", &["a", "b"]), ("b", &["a"]), ("a", &[])]), ["a", "b", "c"]);
    assert_eq!(names(&[("x", &[]), ("y", &[]), ("z", &["y"])]), ["x", "y", "z"], "as it was");
}

#[test]
fn a_name_that_no_stage_of_the_graph_has_is_an_error_with_both_names() {
    let error = build_error(named(&[("b", &["a", "rsik"]), ("a", &[])]));
    let (stage, upstream) = (text("b"), text("rsik"));
    assert_eq!(error, BuildError::UnknownUpstream { stage, upstream });
    // A stage of the builder is not one of the graph.
    let ring = Disruptor::single_producer(4, || 0).stage("a").read(nothing);
    let (stage, upstream) = (text("b"), text("a"));
    let error = ring.graph(named(&[("b", &["a"])])).build().err().unwrap();
    assert_eq!(error, BuildError::UnknownUpstream { stage, upstream });
}

#[test]
fn a_dependency_that_is_named_twice_is_an_error_with_both_names() {
    let twice = || BuildError::DuplicateUpstream { stage: text("b"), upstream: text("a") };
    assert_eq!(build_error(named(&[("b", &["a", "a"]), ("a", &[])])), twice());
    let mut graph = Graph::new();
    let a = graph.stage("a").read(nothing);
    graph.stage("b").after_named("a").after(a).read(nothing);
    assert_eq!(build_error(graph), twice(), "by its name and by its id");
    let text = "a stage depends twice on another: stage=\"b\", upstream=\"a\"";
    assert_eq!(twice().to_string(), text);
}

#[test]
fn two_stages_with_the_name_of_a_dependency_are_an_error() {
    let error = build_error(named(&[("b", &["a"]), ("a", &[]), ("a", &[])]));
    assert_eq!(error, BuildError::DuplicateName { stage: text("a") });
}

#[test]
fn a_circle_of_stages_is_an_error_with_their_names() {
    let cycle =
        |stages: &[&str]| BuildError::Cycle { stages: stages.iter().copied().map(text).collect() };
    let stages: [(_, &[_]); 5] =
        [("first", &[]), ("in", &["a"]), ("a", &["b", "first"]), ("b", &["c"]), ("c", &["a"])];
    let error = build_error(named(&stages));
    assert_eq!(error, cycle(&["a", "b", "c"]), "without the stages before and behind it");
    let message =
        "stages depend on each other in a circle: \"a\" after \"b\" after \"c\" after \"a\"";
    assert_eq!(error.to_string(), message);
    let error = build_error(named(&[("a", &["a"])]));
    assert_eq!(error, cycle(&["a"]));
    let message = "stages depend on each other in a circle: \"a\" after \"a\"";
    assert_eq!(error.to_string(), message);
    let mut graph = Graph::new();
    let a = graph.stage("a").after_named("b").read(nothing);
    graph.stage("b").after(a).read(nothing);
    assert_eq!(build_error(graph), cycle(&["a", "b"]), "one of them by its id");
    // The first graph is at fault, not the second.
    let ring = Disruptor::single_producer(4, || 0).graph(named(&[("a", &["b"]), ("b", &["a"])]));
    let error = ring.graph(named(&[("d", &["c"]), ("c", &[])])).stage("e").read(nothing).build();
    assert_eq!(error.err(), Some(cycle(&["a", "b"])));
}
