//! Which thread runs which stage, for a placement of the ring, its groups, and settings of the stages.
//! Not here: what stages that share a thread do there (`turns`, `together`), and that a ring does the
//! same for every placement (`every_placement`).
//!
//! A case is a row: a placement, the stages as text (see [`ring`]), and the threads as text, or the
//! message of the error.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId, available_parallelism};

use crate::common::{Kind, repeats, unique_prefix, wait_until_no_thread_named};
use crate::shapes::{nothing, ring, stage, threads, threads_of};
use lapwing::error::{BuildError, HaltCause, PublishError, StartError};
use lapwing::graph::{Graph, Placement};
use lapwing::monitor::StageState;
use lapwing::{Builder, Sequence, Stage};

crate::common::for_both_producers! {
    stages_and_workers_are_spread_over_the_threads,
    stages_that_have_a_thread_are_not_spread,
    faults_of_a_placement_are_errors,
    faults_of_pins_are_errors,
    the_last_poll_runs_on_the_thread_of_its_stage,
    automatic_leaves_a_cpu_to_each_producer_and_each_named_thread,
    names_derived_from_a_ring_are_valid_thread_names,
    stages_of_a_graph_are_placed_too,
    consumers_that_are_run_one_by_one_know_their_thread_and_cpu,
    the_monitor_shows_the_threads,
    miri_each_stage_runs_on_the_thread_that_was_announced,
    failing_to_pin_a_shared_thread_leaves_no_thread,
}

/// Returns the threads as text, or the message of the error.
fn threads_or_error<K: Kind>(ring: Builder<'static, u64, K::Sequencer>) -> String {
    ring.build().map_or_else(|error| error.to_string(), |(_, consumers)| threads_of(&consumers))
}

/// A placement, a ring, and its threads.
type Row = (Placement, &'static str, &'static str);

#[track_caller]
fn assert_rows<K: Kind>(rows: impl IntoIterator<Item = Row>) {
    for (placement, shape, expected) in rows {
        let text = format!("{placement:?}: {shape}");
        assert_eq!(threads_or_error::<K>(ring::<K>(placement, shape)), expected, "{text}");
    }
}

fn each() -> Placement {
    Placement::thread_per_stage()
}

// ---- the plan ----

fn stages_and_workers_are_spread_over_the_threads<K: Kind>() {
    let each_its_own = "a: a; b: b; w-0: w-0; w-1: w-1";
    assert_rows::<K>([
        // In their order, and evenly.
        (threads(1), "a b c d e", "ring-0: a b c d e"),
        (threads(2), "a b c d e", "ring-0: a b c; ring-1: d e"),
        (threads(3), "a b c d e", "ring-0: a b; ring-1: c d; e: e"),
        (threads(4), "a b c d e", "ring-0: a b; c: c; d: d; e: e"),
        // As many threads as consumers are a thread each.
        (each(), "a b w*2", each_its_own),
        (threads(4), "a b w*2", each_its_own),
        (threads(usize::MAX), "a b w*2", each_its_own),
        (Placement::default(), "a b w*2", each_its_own),
        // Workers of a group are apart.
        (threads(1), "a w*2 b", "ring-0: a w-0 w-1 b"),
        (threads(2), "a w*2 b", "ring-0: a w-0; ring-1: w-1 b"),
        (threads(3), "a w*2 b", "ring-0: a w-0; w-1: w-1; b: b"),
        (threads(2), "a w*1..3 b", "ring-0: a w-0 w-2; ring-1: w-1 b"),
        (threads(2), "a v*3 w*3", "ring-0: a v-0 v-2 w-1; ring-1: v-1 w-0 w-2"),
        // A poller has no thread.
        (threads(1), "a ticks? b", "ring-0: a b"),
    ]);
}

fn stages_that_have_a_thread_are_not_spread<K: Kind>() {
    assert_rows::<K>([
        (each().group("x", ["a", "d"]), "a b c d e@x f@y", "x: a d e; b: b; c: c; y: f"),
        (threads(1).group("x", ["a", "d"]), "a b c d e@x f@y", "x: a d e; ring-0: b c; y: f"),
        // A repeated setting has no further effect.
        (
            threads(1).group("x", ["a", "d"]).group("x", ["e"]).group("y", ["f", "f"]),
            "a b c d e@x f@y",
            "x: a d e; ring-0: b c; y: f",
        ),
        // A group may name one worker.
        (threads(1).group("x", ["a", "w"]), "a b w*2", "x: a w-0 w-1; b: b"),
        (threads(1).group("x", ["a", "w-1"]), "a b w*2", "x: a w-1; ring-0: b w-0"),
        // A stage may have the name of a thread.
        (threads(1).group("b", ["d"]), "a b c d", "ring-0: a c; b: b d"),
        (
            threads(2).group("ring-2", ["e"]),
            "ring-0 b c d e f ring-3?",
            "ring-1: ring-0 b c; ring-4: d f; ring-2: e",
        ),
        // A blocking stage has a thread of its own, which may have another name.
        (threads(1), "a disk! b", "ring-0: a b; disk: disk"),
        (threads(1), "a disk! b net!*2", "ring-0: a b; disk: disk; net-0: net-0; net-1: net-1"),
        (threads(1).group("writer", ["disk"]), "a disk! b", "ring-0: a b; writer: disk"),
        // So has one that asks for a CPU.
        (threads(1), "a hot#1 b c#2 w*2#3", "ring-0: a b w-1; hot: hot; c: c; w-0: w-0"),
    ]);
    let ring = ring::<K>(threads(1), "a hot#1 b c#2 w*2#3");
    let pins: Vec<_> = ring.build().unwrap().1.into_iter().map(|each| each.pin()).collect();
    assert_eq!(pins, [None, Some(1), None, Some(2), Some(3), None]);
}

/// A message, and the placements and rings that lead to it with these details. "'" stands for """.
#[track_caller]
fn assert_errors<K: Kind>(message: &str, rows: impl IntoIterator<Item = Row>) {
    for (placement, shape, details) in rows {
        let text = threads_or_error::<K>(ring::<K>(placement, shape)).replace('"', "'");
        assert_eq!(text, format!("{message}: {details}"), "{shape}");
    }
}

fn in_x(stages: &[&'static str]) -> Placement {
    each().group("x", stages.iter().copied())
}

fn faults_of_a_placement_are_errors<K: Kind>() {
    assert_errors::<K>(
        "a placement must have at least one thread",
        [(threads(0), "a", "threads=0")],
    );
    assert_errors::<K>(
        "a group names a stage that the ring does not have",
        [(in_x(&["a", "z"]), "a b", "stage='z', thread='x'")],
    );
    assert_errors::<K>(
        "a group cannot name a poller, which runs on the thread that polls it",
        [(in_x(&["a", "p"]), "a p?", "stage='p', thread='x'")],
    );
    assert_errors::<K>(
        "a stage must run on one thread",
        [
            (in_x(&["a"]).group("y", ["b", "a"]), "a b", "stage='a', first='x', second='y'"),
            (in_x(&["a"]), "a@y", "stage='a', first='y', second='x'"),
            (in_x(&["w"]).group("y", ["w-1"]), "a w*2", "stage='w-1', first='x', second='y'"),
        ],
    );
    assert_errors::<K>(
        "a blocking stage must not share its thread",
        [
            (in_x(&["a", "disk"]), "a disk!", "stage='disk', thread='x'"),
            (each().group("disk", ["a"]), "a disk!", "stage='disk', thread='disk'"),
            (each(), "disk! b@disk", "stage='disk', thread='disk'"),
            (in_x(&["net"]), "a net!*2", "stage='net-0', thread='x'"),
        ],
    );
    for name in ["", "with\0nul"] {
        let message = BuildError::InvalidName { stage: name.to_owned() }.to_string();
        for group in [each().group(name, ["a"]), each().group(name, <[&str; 0]>::default())] {
            assert_eq!(threads_or_error::<K>(ring::<K>(group, "a")), message);
        }
        let stage = Stage::new("a").on_thread(name);
        let ring = K::ring(8, || 0).stage(stage).read(nothing);
        assert_eq!(threads_or_error::<K>(ring), message);
    }
}

fn faults_of_pins_are_errors<K: Kind>() {
    assert_errors::<K>(
        "the ring does not have the thread to pin",
        [
            (in_x(&[]).pin("ring-0", 0), "a p?", "thread='ring-0'"),
            (in_x(&[]).pin("p", 0), "a p?", "thread='p'"),
            (in_x(&[]).pin("x", 0), "a p?", "thread='x'"),
            (threads(1).pin("a", 0), "a b", "thread='a'"),
        ],
    );
    assert_errors::<K>(
        "a thread must be pinned to one CPU",
        [
            (each().pin("a", 0).pin("a", 1), "a", "thread='a', first=0, second=1"),
            (in_x(&["a", "b"]), "a#0 b#1", "thread='x', first=0, second=1"),
            (each(), "a@x#0 b@x#1", "thread='x', first=0, second=1"),
            (each().pin("b", 2), "a b#1", "thread='b', first=1, second=2"),
            (in_x(&["w"]), "a w*2#4,5", "thread='x', first=4, second=5"),
        ],
    );
    assert_rows::<K>([(each().pin("a", 1).pin("a", 1), "a", "a: a")]);
}

fn the_last_poll_runs_on_the_thread_of_its_stage<K: Kind>() {
    for (placement, shape, expected) in [
        (each(), "a b c", "a: a; b: b; c: c clear"),
        (threads(2), "a b c", "ring-0: a b; c: c clear"),
        (each().group("x", ["a", "c"]), "a b c", "x: a c clear; b: b"),
        (each().group("x", ["clear"]), "a b c", "a: a; b: b; c: c; x: clear"),
        (each(), "a b c@y", "a: a; b: b; y: c clear"),
        // A poller does no work on the thread, so a blocking stage cannot hold it up.
        (threads(1), "a b c!", "ring-0: a b; c: c clear"),
    ] {
        let ring = ring::<K>(placement, shape).clear(|event| *event = 0);
        assert_eq!(threads_or_error::<K>(ring), expected);
    }
}

fn automatic_leaves_a_cpu_to_each_producer_and_each_named_thread<K: Kind>() {
    let cpus = available_parallelism().map_or(1, |cpus| cpus.get());
    let count = |placement: Placement| {
        let names: Vec<_> = (0..2 * cpus).map(|number| format!("stage-{number}")).collect();
        let ring = ring::<K>(placement, &format!("{} named disk!", names.join(" ")));
        ring.build().unwrap().1.threads().count()
    };
    let automatic = Placement::automatic;
    // And one thread for "disk", which is not counted.
    assert_eq!(count(automatic().producers(0)), cpus + 1);
    assert_eq!(count(automatic()), (cpus - 1).max(1) + 1);
    assert_eq!(count(automatic().producers(2)), cpus.saturating_sub(2).max(1) + 1);
    assert_eq!(count(automatic().producers(usize::MAX)), 2);
    let named = automatic().producers(0).group("x", ["named"]);
    assert_eq!(count(named), (cpus - 1).max(1) + 2);
}

fn names_derived_from_a_ring_are_valid_thread_names<K: Kind>() {
    for (name, expected) in
        [("", "ring-0: a b"), ("\0", "ring-0: a b"), ("or\0ders", "orders-0: a b")]
    {
        let ring = ring::<K>(threads(1), "a b").name(name);
        let (producer, consumers) = ring.build().unwrap();
        assert_eq!(threads_of(&consumers), expected);
        drop(producer);
        consumers.start().unwrap().join().unwrap();
    }
}

fn stages_of_a_graph_are_placed_too<K: Kind>() {
    let mut graph = Graph::new();
    let first = graph.stage("first").read(nothing);
    graph.stage("left").after(first).read(nothing);
    graph.stage("right").after(first).read(nothing);
    // Set before the graph exists.
    let ring = K::ring(8, || 0).placement(Placement::threads(2).group("x", ["right"])).graph(graph);
    let threads = threads_or_error::<K>(ring.stage("last").read(nothing));
    assert_eq!(threads, "ring-0: first left; x: right; last: last");
}

fn consumers_that_are_run_one_by_one_know_their_thread_and_cpu<K: Kind>() {
    let placement = Placement::threads(1).group("x", ["c"]).pin("ring-0", 5).pin("disk", 6);
    let (_, consumers) = ring::<K>(placement, "a b c disk!").build().unwrap();
    let places: Vec<_> = consumers
        .into_iter()
        .map(|consumer| (consumer.thread().map(str::to_owned), consumer.pin()))
        .collect();
    let named = |name: &str| Some(name.to_owned());
    let expected = [
        (named("ring-0"), Some(5)),
        (named("ring-0"), Some(5)),
        (named("x"), None),
        (None, Some(6)),
    ];
    assert_eq!(places, expected);
}

fn the_monitor_shows_the_threads<K: Kind>() {
    let placement = Placement::threads(2).group("cold", ["audit"]);
    let (producer, _consumers) = ring::<K>(placement, "a audit b ticks? w*2").build().unwrap();
    let snapshot = producer.monitor().snapshot();
    let threads: Vec<_> = snapshot.stages.iter().map(|stage| stage.thread.as_deref()).collect();
    let expected = [Some("ring-0"), Some("cold"), Some("ring-1"), None, Some("ring-0, ring-1")];
    assert_eq!(threads, expected);
    assert_eq!(snapshot.stages[3].state, StageState::NotAsked);
}

// ---- the threads themselves ----

/// The thread of each stage, with its name.
type Seen = Arc<Mutex<HashMap<String, (String, ThreadId)>>>;

fn note(seen: &Seen, stage: &str) -> impl FnMut(&u64, Sequence, bool) + use<> {
    let (seen, stage) = (Arc::clone(seen), stage.to_owned());
    move |_, _, _| {
        let thread = thread::current();
        let place = (thread.name().unwrap().to_owned(), thread.id());
        let before = seen.lock().unwrap().insert(stage.clone(), place.clone());
        assert!(before.is_none_or(|before| before == place), "it changes its thread");
    }
}

fn miri_each_stage_runs_on_the_thread_that_was_announced<K: Kind>() {
    for (placement, shape, expected) in [
        (
            threads(2).group("cold", ["audit"]),
            "a audit b c disk!",
            "market-0: a b; cold: audit; c: c; disk: disk",
        ),
        (each(), "a@shared alone b@shared", "shared: a b; alone: alone"),
        // A thread may have the name of one of its stages.
        (each(), "a alone b@a", "a: a b; alone: alone"),
    ] {
        let seen = Seen::default();
        let ring = K::ring(4, || 0_u64).name("market").placement(placement);
        let ring = shape.split(' ').fold(ring, |ring, word| {
            let name = word.split(['!', '@']).next().unwrap();
            ring.stage(stage(word)).read(note(&seen, name))
        });
        let (mut producer, consumers) = ring.build().unwrap();
        assert_eq!(threads_of(&consumers), expected);
        let running = consumers.start().unwrap();
        for _ in 0..repeats(1_000) {
            producer.publish(|_| {}).unwrap();
        }
        running.shutdown().unwrap();
        let seen = seen.lock().unwrap();
        assert_eq!(seen.len(), shape.split(' ').count());
        for thread in expected.split("; ") {
            let (name, stages) = thread.split_once(": ").unwrap();
            assert!(stages.split(' ').all(|stage| seen[stage].0 == name), "{seen:?}");
        }
        let ids: HashSet<_> = seen.values().map(|(_, id)| id).collect();
        assert_eq!(ids.len(), expected.split("; ").count(), "{seen:?}");
    }
}

/// The pin is that of a thread of the placement, or of one of the stages.
fn failing_to_pin_a_shared_thread_leaves_no_thread<K: Kind>() {
    for is_of_the_stage in [false, true] {
        let prefix = unique_prefix();
        let ring: Builder<'_, u64, K::Sequencer> = if is_of_the_stage {
            let stage = |name| Stage::new(name).on_thread(format!("{prefix}both"));
            let ring = K::ring(8, || 0_u64).stage(stage("a")).read(nothing);
            ring.stage(stage("b").pin(usize::MAX)).read(nothing)
        } else {
            let placement = threads(1).pin(format!("{prefix}-0"), usize::MAX);
            ring::<K>(placement, "a b").name(&prefix)
        };
        let (mut producer, consumers) = ring.build().unwrap();
        assert_eq!(consumers.threads().count(), 1);
        let error = consumers.start().unwrap_err();
        assert!(matches!(error, StartError::Pin { cpu: usize::MAX, .. }), "{error}");
        wait_until_no_thread_named(&prefix);
        assert_eq!(producer.publish(|_| {}), Err(PublishError::Halted(HaltCause::StageDropped)));
    }
}
