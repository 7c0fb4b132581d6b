//! Which thread runs which stage, for a placement of the ring, its groups, and settings of the stages.
//! Also tests that a ring does the same for every placement.
//!
//! A case is a row: a placement, the stages as text (see [`ring`]), and the threads as text, or the
//! message of the error.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, available_parallelism};
use std::time::Duration;

use crate::assert_pipeline_keeps_its_order;
use crate::common::{
    Kind, Lcg, MOMENT, ON_PURPOSE, PATIENCE, ProducerOf, Turnstile, quiet_panics, repeats,
    threads_named, unique_prefix, wait_until, wait_until_no_thread_named,
};
use lapwing::consumer::{Failure, Outcome, Retries};
use lapwing::error::{BuildError, HaltCause, PublishError, StartError};
use lapwing::graph::{Graph, Placement, StartAt};
use lapwing::monitor::StageState;
use lapwing::{Action, Builder, Consumers, EventHandler, Sequence, Stage};

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
    miri_threads_are_those_that_were_announced,
    failing_to_pin_a_thread_of_a_placement_leaves_no_thread,
    a_pipeline_on_one_thread_has_its_order_at_every_size_of_ring_and_batch,
    batches_of_a_shared_thread_fit_the_first_level_cache,
    batches_of_a_shared_thread_respect_their_maximum,
    the_next_stage_gets_what_the_one_before_has_just_handled,
    a_panic_of_one_stage_halts_the_others_on_its_thread,
    policies_are_those_of_each_stage,
    a_stage_that_is_stopped_leaves_its_thread_to_the_others,
    a_shutdown_that_times_out_names_the_stages_of_the_thread,
    a_halt_ends_every_stage_of_a_thread,
    acknowledgements_hold_back_the_next_stage_on_the_thread,
    a_stage_that_publishes_to_its_own_full_ring_gets_an_error,
    workers_by_key_keep_their_order_on_few_threads_through_resizes,
    consumers_join_and_leave_beside_stages_that_share_a_thread,
    the_monitor_shows_the_threads,
    a_worker_group_on_an_occupied_thread_is_not_the_culprit,
    every_placement_loses_nothing,
}

fn nothing(_: &u64, _: Sequence, _: bool) {}

// ---- which thread runs which stage ----

/// A ring of 8 with these stages in a row: "a", "disk!" which is blocking, "ticks?" which is a poller,
/// "e@x" on thread "x", "hot#1" pinned to CPU 1, "w*2" which are two workers, "w*1..3" which may become
/// three, "w*2#4,5" whose pins are these.
fn ring<'env, K: Kind>(placement: Placement, shape: &str) -> Builder<'env, u64, K::Sequencer> {
    let cpus = |list: &str| list.split(',').map(|cpu| cpu.parse().unwrap()).collect::<Vec<usize>>();
    shape.split(' ').fold(K::ring(8, || 0_u64).placement(placement), |ring, word| {
        let (rest, pins) = word.split_once('#').unwrap_or((word, ""));
        let (rest, thread) = rest.split_once('@').unwrap_or((rest, ""));
        let (rest, workers) = rest.split_once('*').unwrap_or((rest, ""));
        let stage = Stage::new(rest.trim_end_matches(['!', '?']));
        let stage = if rest.ends_with('!') { stage.may_block() } else { stage };
        let stage = if thread.is_empty() { stage } else { stage.on_thread(thread) };
        if !workers.is_empty() {
            let (count, most) = workers.split_once("..").unwrap_or((workers, workers));
            let group = ring.stage(stage).workers(count.parse().unwrap());
            let group = if count == most { group } else { group.up_to(most.parse().unwrap()) };
            let group = if pins.is_empty() { group } else { group.pin(cpus(pins)) };
            return group.read(|_| nothing);
        }
        let stage = if pins.is_empty() { stage } else { stage.pin(cpus(pins)[0]) };
        if rest.ends_with('?') {
            ring.stage(stage).poller()
        } else {
            ring.stage(stage).read(nothing)
        }
    })
}

/// Returns the threads as text, "ring-0: a b; c: c", or the message of the error.
fn threads_or_error<K: Kind>(ring: Builder<'static, u64, K::Sequencer>) -> String {
    ring.build().map_or_else(|error| error.to_string(), |(_, consumers)| threads_of(&consumers))
}

fn threads_of(consumers: &Consumers<'_, u64>) -> String {
    let of_thread = |(thread, stages): (&str, Vec<&str>)| format!("{thread}: {}", stages.join(" "));
    consumers.threads().map(of_thread).collect::<Vec<_>>().join("; ")
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

fn threads(count: usize) -> Placement {
    Placement::threads(count)
}

fn each() -> Placement {
    Placement::thread_per_stage()
}

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

#[test]
fn messages_about_stages_name_the_stage() {
    let stage = || "a".to_owned();
    let messages = [
        (BuildError::DuplicateName { stage: stage() }, "two stages share a name: stage=\"a\""),
        (
            BuildError::InvalidName { stage: stage() },
            "the name of a stage or a thread must not be empty or contain a NUL: name=\"a\"",
        ),
        (
            BuildError::UnknownStage { stage: stage() },
            "a stage depends on a stage of another graph: stage=\"a\"",
        ),
        (
            BuildError::Overlap { exclusive: stage(), other: "b".to_owned() },
            "a stage with exclusive access must run before or after each other stage: exclusive=\"a\" and other=\"b\" could run at the same time",
        ),
        (BuildError::ZeroMaxBatch { stage: stage() }, "max_batch must be at least 1: stage=\"a\""),
        (
            BuildError::UnusedSetting { stage: stage(), setting: "pin", needs: "a handler" },
            "the setting has no effect, because it needs a handler: stage=\"a\", setting=pin",
        ),
        (
            BuildError::Workers { stage: stage(), requested: 9, max: 8 },
            "a group must have 1..=8 workers: stage=\"a\", requested=9",
        ),
    ];
    for (error, message) in messages {
        assert_eq!(error.to_string(), message);
    }
}

// ---- the threads themselves ----

type Names = Arc<Mutex<HashMap<String, String>>>;

fn miri_threads_are_those_that_were_announced<K: Kind>() {
    let seen = Names::default();
    let note = |stage: &str| {
        let (seen, stage) = (Arc::clone(&seen), stage.to_owned());
        move |_: &u64, _: Sequence, _: bool| {
            let thread = thread::current().name().unwrap().to_owned();
            let before = seen.lock().unwrap().insert(stage.clone(), thread.clone());
            assert!(before.is_none_or(|before| before == thread), "it changes its thread");
        }
    };
    let (mut producer, consumers) = K::ring(4, || 0_u64)
        .name("market")
        .placement(Placement::threads(2).group("cold", ["audit"]))
        .stage("a")
        .read(note("a"))
        .stage("audit")
        .read(note("audit"))
        .stage("b")
        .read(note("b"))
        .stage("c")
        .read(note("c"))
        .stage("disk")
        .may_block()
        .read(note("disk"))
        .build()
        .unwrap();
    let announced: Vec<(String, Vec<String>)> = consumers
        .threads()
        .map(|(thread, stages)| (thread.to_owned(), stages.into_iter().map(Into::into).collect()))
        .collect();
    assert_eq!(announced.len(), 4);
    let running = consumers.start().unwrap();
    for _ in 0..repeats(1_000) {
        producer.publish(|_| {}).unwrap();
    }
    running.shutdown().unwrap();
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 5);
    for (thread, stages) in announced {
        assert!(stages.iter().all(|stage| seen[stage] == thread), "{seen:?}");
    }
}

fn failing_to_pin_a_thread_of_a_placement_leaves_no_thread<K: Kind>() {
    let prefix = unique_prefix();
    let placement = Placement::threads(1).pin(format!("{prefix}-0"), usize::MAX);
    let ring = ring::<K>(placement, "a b").name(&prefix);
    let (mut producer, consumers) = ring.build().unwrap();
    let error = consumers.start().unwrap_err();
    assert!(matches!(error, StartError::Pin { cpu: usize::MAX, .. }), "{error}");
    wait_until_no_thread_named(&prefix);
    assert_eq!(threads_named(&prefix), 0);
    assert_eq!(producer.publish(|_| {}), Err(PublishError::Halted(HaltCause::StageDropped)));
}

// ---- turns ----

fn a_pipeline_on_one_thread_has_its_order_at_every_size_of_ring_and_batch<K: Kind>() {
    for (capacity, longest) in [(1, 1), (2, 3), (64, 1), (64, 7), (1024, 64)] {
        let ring = K::ring(capacity, || 0_u64).placement(Placement::threads(1));
        // Two stages with that maximum, two without.
        let stage = |name: &str| match name {
            "two" | "check" => Stage::new(name).max_batch(longest),
            _ => Stage::new(name),
        };
        assert_pipeline_keeps_its_order(ring, stage, repeats(2_000));
    }
}

/// Returns the lengths of the batches of two stages over a ring of `E` that was full before they
/// began.
fn batches_of<K: Kind, E: Clone + Default + Send + Sync + 'static>(
    placement: Placement,
    capacity: usize,
    longest: usize,
) -> Vec<(&'static str, usize)> {
    let (tell, told) = mpsc::channel();
    let note = |name: &'static str| {
        let tell = tell.clone();
        move |events: &[E], _: Sequence| tell.send((name, events.len())).unwrap()
    };
    let (mut producer, consumers) = K::ring(capacity, E::default)
        .placement(placement)
        .stage("a")
        .max_batch(longest)
        .read_batch(note("a"))
        .stage("b")
        .max_batch(longest)
        .read_batch(note("b"))
        .build()
        .unwrap();
    producer.publish_batch(capacity, |_| {}).unwrap();
    drop((producer, tell));
    consumers.start().unwrap().join().unwrap();
    told.iter().collect()
}

fn batches_of_a_shared_thread_fit_the_first_level_cache<K: Kind>() {
    let one = || Placement::threads(1);
    let turns = |events: usize, count: usize| [("a", events), ("b", events)].repeat(count);
    // 16 KiB of events at a time, at least 16 events.
    assert_eq!(batches_of::<K, u64>(one(), 8192, 8192), turns(2048, 4));
    assert_eq!(batches_of::<K, [u64; 16]>(one(), 512, 512), turns(128, 4));
    assert_eq!(batches_of::<K, [[u64; 32]; 16]>(one(), 64, 64), turns(16, 4));
    assert_eq!(batches_of::<K, ()>(one(), 1 << 15, 1 << 15), turns(1 << 14, 2));
    // A stage alone on its thread passes nothing to another one through the cache.
    let each = batches_of::<K, u64>(Placement::thread_per_stage(), 8192, 8192);
    assert_eq!(each, [("a", 8192), ("b", 8192)]);
}

fn batches_of_a_shared_thread_respect_their_maximum<K: Kind>() {
    let turns = batches_of::<K, u64>(Placement::threads(1), 64, 10);
    assert!(turns.iter().all(|&(_, events)| events <= 10), "{turns:?}");
    assert_eq!(turns.iter().map(|&(_, events)| events).sum::<usize>(), 128);
}

fn the_next_stage_gets_what_the_one_before_has_just_handled<K: Kind>() {
    let order = Arc::new(Mutex::new(Vec::new()));
    let note = |name: &'static str| {
        let order = Arc::clone(&order);
        move |_: &[u64], first: Sequence| order.lock().unwrap().push((name, first))
    };
    let (mut producer, consumers) = K::ring(64, || 0_u64)
        .placement(Placement::threads(1))
        .stage("a")
        .read_batch(note("a"))
        .stage("b")
        .read_batch(note("b"))
        .stage("c")
        .read_batch(note("c"))
        .build()
        .unwrap();
    producer.publish_batch(48, |_| {}).unwrap();
    drop(producer);
    consumers.start().unwrap().join().unwrap();
    let turn = |first| ["a", "b", "c"].map(|name| (name, first));
    assert_eq!(*order.lock().unwrap(), [turn(0), turn(16), turn(32)].concat());
}

// ---- a ring does the same for every placement ----

fn a_panic_of_one_stage_halts_the_others_on_its_thread<K: Kind>() {
    quiet_panics();
    let (mut producer, consumers) = ring::<K>(threads(1), "before")
        .stage("bad")
        .read(|_, sequence, _| assert!(sequence < 5, "{ON_PURPOSE}"))
        .stage("after")
        .read(nothing)
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    while producer.publish(|_| {}).is_ok() {}
    let failed = running.join().unwrap_err();
    let outcomes: Vec<_> = failed.report().stages().map(|stage| stage.outcome().clone()).collect();
    let panicked = Outcome::Panicked { message: ON_PURPOSE.to_owned(), sequence: 5 };
    assert_eq!(outcomes, [Outcome::Halted, panicked, Outcome::Halted]);
    assert!(
        failed.report().stages().last().unwrap().processed() <= 5,
        "what came before the panic"
    );
}

/// Records which events came as failed.
#[derive(Default)]
struct Failures(Vec<Sequence>);

impl EventHandler<u64> for Failures {
    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}

    fn on_failed_event(&mut self, _: &u64, sequence: Sequence, _: bool, _: &Failure<'_>) {
        self.0.push(sequence);
    }
}

fn policies_are_those_of_each_stage<K: Kind>() {
    quiet_panics();
    let mut tries = 0;
    let mut rewound = false;
    let (mut producer, consumers) = K::ring(8, || 0_u64)
        .placement(Placement::threads(1))
        .stage("skips")
        .on_error(Action::Skip)
        .read(|_, sequence, _| if sequence % 7 == 3 { Err("no") } else { Ok(()) })
        .stage("retries")
        .on_panic(Retries::with_restart().attempts(3))
        .read(|_, sequence, _| {
            tries += u64::from(sequence == 9);
            assert!(sequence != 9 || tries == 3, "{ON_PURPOSE}");
        })
        .stage("rewinds")
        .read(|_, sequence, _| {
            if sequence == 11 && !rewound {
                rewound = true;
                return Action::Rewind(Duration::from_micros(10));
            }
            Action::Continue
        })
        .stage("hears")
        .read_handler(Failures::default())
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        for _ in 0..20 {
            producer.publish(|_| {}).unwrap();
        }
        let mut report = running.shutdown().unwrap();
        let skipped: Vec<_> = report.stages().map(|stage| stage.skipped()).collect();
        assert_eq!(skipped, [3, 0, 0, 0]);
        assert_eq!(report.take::<Failures>("hears").unwrap().0, [3, 10, 17]);
    });
    assert!(tries == 3 && rewound);
}

fn a_stage_that_is_stopped_leaves_its_thread_to_the_others<K: Kind>() {
    let handled = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&handled);
    let (mut producer, consumers) = ring::<K>(threads(1), "first leaves")
        .stage("last")
        .read(move |_, sequence, _| count.store(sequence + 1, SeqCst))
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let stop = running.stop_handle("leaves").unwrap();
    producer.publish_batch(4, |_| {}).unwrap();
    wait_until(|| handled.load(SeqCst) == 4);
    stop.stop();
    for _ in 0..100 {
        producer.publish(|_| {}).unwrap();
    }
    let report = running.shutdown().unwrap();
    let outcomes: Vec<_> = report.stages().map(|stage| stage.outcome().clone()).collect();
    assert_eq!(outcomes, [Outcome::Drained, Outcome::Stopped, Outcome::Drained]);
    assert_eq!(handled.load(SeqCst), 104);
}

fn a_shutdown_that_times_out_names_the_stages_of_the_thread<K: Kind>() {
    let (turnstile, mut pass) = Turnstile::new();
    let (mut producer, consumers) = ring::<K>(threads(1), "a")
        .stage("stuck")
        .read(move |_, sequence, _| pass(sequence))
        .build()
        .unwrap();
    let mut running = consumers.start().unwrap();
    producer.publish(|_| {}).unwrap();
    turnstile.wait_for(0);
    let error = running.shutdown_timeout(MOMENT).unwrap_err();
    assert!(error.to_string().contains("stuck"), "{error}");
    drop(turnstile);
    let report = running.shutdown_timeout(PATIENCE).unwrap();
    assert!(report.stages().all(|stage| stage.processed() == 1));
}

fn a_halt_ends_every_stage_of_a_thread<K: Kind>() {
    let (_producer, consumers) = ring::<K>(threads(1), "a b c").build().unwrap();
    let running = consumers.start().unwrap();
    running.halt();
    let failed = running.join().unwrap_err();
    assert!(failed.report().stages().all(|stage| *stage.outcome() == Outcome::Halted));
}

fn acknowledgements_hold_back_the_next_stage_on_the_thread<K: Kind>() {
    let (tell, told) = mpsc::channel();
    let tell_too = tell.clone();
    let (mut producer, mut consumers) = K::ring(8, || 0_u64)
        .placement(Placement::threads(1))
        .stage("journal")
        .acknowledged()
        .read(move |_, sequence, _| {
            tell.send(("journal", sequence)).unwrap();
        })
        .stage("reply")
        .read(move |_, sequence, _| tell_too.send(("reply", sequence)).unwrap())
        .build()
        .unwrap();
    let disk = consumers.take_acknowledger("journal").unwrap();
    let running = consumers.start().unwrap();
    producer.publish_batch(2, |_| {}).unwrap();
    for expected in [("journal", 0), ("journal", 1)] {
        assert_eq!(told.recv_timeout(PATIENCE), Ok(expected));
    }
    for sequence in 0..2 {
        assert!(told.try_recv().is_err(), "nothing is on disk yet");
        disk.acknowledge(sequence + 1).unwrap(); // wakes the thread
        assert_eq!(told.recv_timeout(PATIENCE), Ok(("reply", sequence)));
    }
    running.shutdown().unwrap();
}

fn a_stage_that_publishes_to_its_own_full_ring_gets_an_error<K: Kind>() {
    let (give, gift) = mpsc::channel();
    let (tell, told) = mpsc::channel();
    let mut own = None;
    let (mut producer, consumers) = ring::<K>(threads(1), "a")
        .stage("echo")
        .read(move |_, _, _| {
            let producer: &mut ProducerOf<u64, K> = own.get_or_insert_with(|| gift.recv().unwrap());
            let refused = (0..9).find_map(|_| producer.publish(|_| {}).err());
            tell.send(refused).unwrap();
            Action::Halt
        })
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    producer.publish(|_| {}).unwrap();
    give.send(producer).unwrap();
    assert_eq!(told.recv_timeout(PATIENCE), Ok(Some(PublishError::WouldDeadlock)));
    assert!(running.join().is_err());
}

#[derive(Default)]
struct Keyed {
    key: u64,
    number: u64,
}

fn workers_by_key_keep_their_order_on_few_threads_through_resizes<K: Kind>() {
    let events = repeats(4_000);
    let last: Arc<[AtomicU64; 8]> = Arc::default();
    let (mut producer, consumers) = K::ring(32, Keyed::default)
        .placement(Placement::threads(2))
        .stage("work")
        .workers(2)
        .up_to(4)
        .by_key(|event| event.key)
        .read(|_| {
            let last = Arc::clone(&last);
            move |event: &Keyed, _: Sequence, _: bool| {
                let before = last[event.key as usize].swap(event.number + 1, SeqCst);
                assert!(before <= event.number, "the order of a key");
            }
        })
        .stage("after")
        .read(|_, _, _| {})
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let group = running.workers("work").unwrap();
    for number in 0..events {
        producer.publish(|event| (event.key, event.number) = (number % 8, number)).unwrap();
        if number % 50 == 0 {
            group.resize(1 + (number / 50) as usize % 4).unwrap();
        }
    }
    let report = running.shutdown().unwrap();
    let of_workers = report.stages().filter(|stage| stage.name().starts_with("work-"));
    assert_eq!(of_workers.map(|worker| worker.processed()).sum::<u64>(), events);
}

fn consumers_join_and_leave_beside_stages_that_share_a_thread<K: Kind>() {
    let is_done = AtomicBool::new(false);
    let (producer, consumers) = ring::<K>(threads(1), "a b").seats(2).build().unwrap();
    let seats = consumers.seats();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        let is_done = &is_done;
        let mut producer = producer;
        scope.spawn(move || {
            while !is_done.load(SeqCst) {
                producer.publish(|event| *event = 7).unwrap();
            }
        });
        for round in 0..repeats(30) {
            let mut poller = seats.join(format!("late {round}"), StartAt::Now).unwrap().poller();
            let (mut next, count) = (poller.sequence(), repeats(100));
            let end = next + count;
            while next < end {
                let mut batch = poller.wait().unwrap();
                for (sequence, event) in batch.iter() {
                    assert_eq!((sequence, *event), (next, 7));
                    next += 1;
                }
            }
        }
        is_done.store(true, SeqCst);
        let report = running.join().unwrap();
        assert!(report.stages().all(|stage| *stage.outcome() == Outcome::Drained));
    });
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

fn a_worker_group_on_an_occupied_thread_is_not_the_culprit<K: Kind>() {
    let (turnstile, mut pass) = Turnstile::new();
    let (mut producer, consumers) = K::ring(8, || 0_u64)
        .placement(Placement::threads(1))
        .parallel(|parallel| {
            parallel
                .stage("stuck")
                .read(move |_, sequence, _| pass(sequence))
                .stage("work")
                .workers(2)
                .read(|_| nothing)
        })
        .build()
        .unwrap();
    let monitor = producer.monitor();
    let running = consumers.start().unwrap();
    producer.publish_batch(3, |_| {}).unwrap();
    turnstile.wait_for(0);
    let is_seen = || monitor.snapshot().stages.iter().all(|stage| stage.available > 0);
    wait_until(is_seen);
    let _ = monitor.snapshot();
    let stall = monitor.stalled_for(Duration::ZERO).expect("it is held up");
    assert!(stall.to_string().contains("stage \"stuck\""), "{stall}");
    assert_eq!(stall.others, 0);
    drop(turnstile);
    running.shutdown().unwrap();
}

/// A graph of stages that read, write, share, block and leave, on random threads.
fn every_placement_loses_nothing<K: Kind>() {
    let events = repeats(2_000);
    let mut random = Lcg(7);
    let placements: [fn(usize) -> Placement; 5] = [
        |_| Placement::thread_per_stage(),
        |random| Placement::threads(1 + random % 6),
        |random| Placement::automatic().producers(random % 3),
        |random| Placement::threads(1 + random % 2).group("x", ["enrich", "work", "last"]),
        |_| Placement::thread_per_stage().group("x", ["left", "right"]).group("y", ["work-1"]),
    ];
    for round in 0..repeats(20) as usize {
        let placement = placements[round % placements.len()](random.below(100) as usize);
        let (sums, leaves_at) = (<[AtomicU64; 4]>::default(), random.below(events));
        let add = |to: usize| {
            let sums = &sums;
            move |event: &u64, _: Sequence, _: bool| _ = sums[to].fetch_add(*event, SeqCst)
        };
        let right = Stage::new("right");
        let right = if random.below(2) == 0 { right.may_block() } else { right };
        let leaves = |sequence| if sequence == leaves_at { Action::Stop } else { Action::Continue };
        let placement = match round % placements.len() {
            4 => Placement::threads(2), // "right" may be blocking, so it is in no group
            _ => placement,
        };
        let ring = K::ring(1 << random.below(8), || 0_u64)
            .placement(placement)
            .stage("enrich")
            .write(|event, _, _| *event += 1)
            .parallel(|parallel| {
                let parallel = parallel.stage("left").read(add(0)).stage(right).read(add(1));
                parallel.stage("leaves").read(|_, sequence, _| leaves(sequence))
            })
            .stage("work")
            .workers(1 + random.below(3) as usize)
            .read(|_| add(2));
        let (mut producer, consumers) = ring.stage("last").read(add(3)).build().unwrap();
        let threads = threads_of(&consumers);
        thread::scope(|scope| {
            let running = consumers.start_scoped(scope).unwrap();
            for value in 0..events {
                producer.publish(|event| *event = value).unwrap();
            }
            running.shutdown().unwrap();
        });
        let expected = (1..=events).sum::<u64>();
        for (at, sum) in sums.iter().enumerate() {
            assert_eq!(sum.load(SeqCst), expected, "{at}: {threads}");
        }
    }
}

/// All threads run on one CPU, including the producer: none waits for a thread that waits for the
/// CPU.
#[cfg(all(target_os = "linux", not(miri)))]
mod one_cpu {
    use super::*;

    crate::common::for_both_producers! {
        everything_moves_on_one_cpu,
    }

    /// Runs `body` on a thread of its own. That thread and all that it starts use one of the
    /// available CPUs.
    fn on_one_cpu<R: Send>(body: impl FnOnce() -> R + Send) -> R {
        use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

        let pinned = || {
            let mine = sched_getaffinity(None).unwrap();
            let first = (0..CpuSet::MAX_CPU).find(|&cpu| mine.is_set(cpu)).unwrap();
            let mut one = CpuSet::new();
            one.set(first);
            sched_setaffinity(None, &one).unwrap();
            body()
        };
        thread::scope(|scope| scope.spawn(pinned).join().unwrap())
    }

    fn everything_moves_on_one_cpu<K: Kind>() {
        on_one_cpu(|| {
            assert_eq!(available_parallelism().unwrap().get(), 1);
            for placement in
                [Placement::automatic(), Placement::threads(2), Placement::thread_per_stage()]
            {
                let is_automatic = format!("{placement:?}").contains("Automatic");
                let ring = ring::<K>(placement, "a b c d");
                let (mut producer, consumers) = ring.build().unwrap();
                if is_automatic {
                    assert_eq!(threads_of(&consumers), "ring-0: a b c d");
                }
                let running = consumers.start().unwrap();
                for _ in 0..400 {
                    producer.publish(|_| {}).unwrap();
                }
                let report = running.shutdown().unwrap();
                assert!(report.stages().all(|stage| stage.processed() == 400));
            }
        });
    }
}
