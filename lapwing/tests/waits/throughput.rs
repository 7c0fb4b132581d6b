//! The throughput between two snapshots, and which part of the ring is named as the bottleneck.
//!
//! A ring of pollers, moved by a script before and between the snapshots, is a row of [`ROWS`].
//! What a thread does, or what a script cannot say, is a test of its own below.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::common::{Kind, Many, Turnstile, wait_until};
use crate::rig::{Rig, finish, gated, nothing, orders, row, until};
use lapwing::Stage;
use lapwing::graph::StartAt;
use lapwing::monitor::{Limits, Monitor, Part, Throughput};
use lapwing::producer::WhenFull;

crate::common::for_both_producers! {
    the_part_that_limits_the_ring_is_named,
    a_halted_ring_has_no_limit,
    a_slow_stage_that_makes_progress_is_named,
    a_worker_group_is_named_as_one_stage,
    the_stage_that_occupies_a_shared_thread_is_named,
    a_consumer_that_joined_in_between_is_named_and_not_counted,
    a_consumer_that_took_the_dynamic_stage_of_another_does_not_count_its_events,
    snapshots_in_the_wrong_order_or_the_same_count_nothing,
    what_was_dropped_in_between_is_counted,
    throughput_reads_as_a_table,
    a_full_ring_prints_its_limit_under_the_table,
    shares_of_limits_are_those_of_the_time,
}

/// A ring, what happens before the earlier snapshot and between the two, and what is then said:
/// what each stage finished in between and has ready, the limit by both snapshots, and by the later
/// alone.
type Row = ((usize, &'static str), [&'static str; 2], &'static str);

const ROWS: [Row; 13] = [
    (
        (8, "left+right join"),
        ["publish 8, left 8, right 1", "right 1, join 2, publish 2, left 2"],
        "left 2/0, right 1/8, join 2/0; right, right",
    ),
    // The slow stage is the first, the second or the third. All advance by two events.
    (
        (8, "first second third"),
        ["publish 8", "first 2, second 2, third 2, publish 2"],
        "first 2/8, second 2/0, third 2/0; first, first",
    ),
    (
        (8, "first second third"),
        ["publish 8, first 8", "second 2, third 2, publish 2, first 2"],
        "first 2/0, second 2/8, third 2/0; second, second",
    ),
    (
        (8, "first second third"),
        ["publish 8, first 8, second 7", "third 2, publish 2, first 2, second 2"],
        "first 2/0, second 2/1, third 2/7; third, third",
    ),
    (
        (4, "journal! reply"),
        ["publish 4, journal 4", "journal acked 1, reply 1, publish 1, journal 1"],
        "journal 1/0, reply 1/0; acknowledgement of journal, acknowledgement of journal",
    ),
    // With free slots, a stage that was behind all the time. One snapshot does not suffice.
    (
        (64, "decode journal"),
        ["publish 20, decode 20", "journal 19, publish 1"],
        "decode 0/1, journal 19/1; journal, -",
    ),
    // A new event is not a sign that a stage is slow.
    (
        (64, "decode journal"),
        ["publish 20, decode 20", "journal 20, publish 3"],
        "decode 0/3, journal 20/0; producers, -",
    ),
    // A stage that is behind in both snapshots counts only if producers were held back.
    ((8, "all"), ["publish 7", "all 7, publish 1"], "all 7/1; producers, -"),
    ((8, "all"), ["publish 8", "all 8, publish 1"], "all 8/1; all, -"),
    // Nothing limits an idle ring. A closed one is limited by what is left.
    ((8, "all"), ["publish 1, all 1", ""], "all 0/0; -, -"),
    ((8, "first second"), ["publish 4", "close, first 4"], "first 4/0, second 0/4; second, second"),
    ((8, "first second"), ["publish 4", "close, first 4, second 4"], "first 4/0, second 4/0; -, -"),
    // A stage that left is not counted.
    (
        (4, "first second"),
        ["publish 4", "first 1, second leaves, publish 1"],
        "first 1/4; first, first",
    ),
];

fn the_part_that_limits_the_ring_is_named<K: Kind>() {
    for ((capacity, shape), [before, between], expected) in ROWS {
        let mut rig = Rig::<K>::row(capacity, shape);
        let earlier = rig.does(before).monitor.snapshot();
        let later = rig.does(between).monitor.snapshot();
        let throughput = later.since(&earlier);
        let limits = [throughput.bottleneck().cloned(), later.bottleneck()].map(short);
        assert_eq!(format!("{}; {}", figures(&throughput), limits.join(", ")), expected);
    }
}

fn short(limit: Option<Part>) -> String {
    let text = limit.map_or_else(|| "-".to_owned(), |part| part.to_string());
    text.replace("the ", "").replace("stage ", "").replace('"', "")
}

fn stage(name: &str) -> Option<Part> {
    Some(Part::Stage { name: name.to_owned() })
}

fn figures(throughput: &Throughput) -> String {
    let stages = throughput.stages.iter();
    let each =
        stages.map(|stage| format!("{} {}/{}", stage.name, stage.finished, stage.queue_depth));
    each.collect::<Vec<_>>().join(", ")
}

fn a_halted_ring_has_no_limit<K: Kind>() {
    let ring = row::<K>(orders::<K>(2), "first").stage("second").read_handler(nothing());
    let mut rig = Rig::<K>::of(ring);
    let earlier = rig.monitor.snapshot();
    drop(rig.does("publish 2").consumers.take());
    let later = rig.monitor.snapshot();
    assert_eq!((later.bottleneck(), later.since(&earlier).bottleneck()), (None, None));
}

// ---- stages that run ----

/// Waits until a producer waits on a full ring, and the stages except `slow` have handled their
/// available events.
fn settle(monitor: &Monitor, slow: &str) {
    until(monitor, |seen| {
        let mut others = seen.stages.iter().filter(|stage| stage.name != slow);
        // A producer that has just claimed has not published yet, and still counts as waiting.
        seen.waiting_producers == 1
            && seen.free_slots == 0
            && seen.claimed == seen.published
            && others.all(|stage| stage.available == 0)
    });
}

/// A full ring with a waiting producer does not by itself show which stage is slow.
fn a_slow_stage_that_makes_progress_is_named<K: Kind>() {
    let (turnstile, handler) = gated();
    let ring = orders::<K>(4).stage("decode").read_handler(nothing());
    let ring = ring.stage("journal").max_batch(1).read_handler(handler);
    let mut rig = Rig::<K>::of(ring.stage("reply").read_handler(nothing()));
    let running = rig.start();
    let Rig { mut producer, monitor, .. } = rig;
    let feed = thread::spawn(move || (0..12).try_for_each(|_| producer.publish(|_| {}).map(drop)));
    turnstile.wait_for(0);
    settle(&monitor, "journal");
    let mut earlier = monitor.snapshot();
    for finished in 1..4 {
        turnstile.let_go();
        turnstile.wait_for(finished);
        settle(&monitor, "journal");
        let later = monitor.snapshot();
        assert_eq!(later.bottleneck(), stage("journal"), "{later}");
        let throughput = later.since(&earlier);
        assert_eq!(throughput.bottleneck(), stage("journal").as_ref(), "{throughput}");
        assert_eq!(throughput.published, 1);
        assert_eq!(figures(&throughput), "decode 1/0, journal 1/4, reply 1/0");
        let rate = throughput.stages[1].per_second();
        assert_eq!(rate, 1.0 / throughput.elapsed.as_secs_f64());
        assert_eq!(rate, throughput.published_per_second());
        earlier = later;
    }
    drop(turnstile);
    feed.join().unwrap().unwrap();
    running.shutdown().unwrap();
}

fn a_worker_group_is_named_as_one_stage<K: Kind>() {
    let (turnstile, pass) = Turnstile::new();
    let (pass, handled) = (Arc::new(Mutex::new(pass)), Arc::new(AtomicU64::new(0)));
    let count = Arc::clone(&handled);
    let (mut producer, consumers) = K::ring(4, || 0_u64)
        .stage("decode")
        .read(|_, _, _| {})
        .stage("work")
        .workers(2)
        .read(move |_| {
            let (pass, count) = (Arc::clone(&pass), Arc::clone(&count));
            move |_: &u64, sequence, _| {
                pass.lock().unwrap()(sequence);
                count.fetch_add(1, Ordering::SeqCst);
            }
        })
        .stage("reply")
        .read(|_, _, _| {})
        .build()
        .unwrap();
    let monitor = producer.monitor();
    let running = consumers.start().unwrap();
    let feed = thread::spawn(move || (0..12).try_for_each(|_| producer.publish(|_| {}).map(drop)));
    settle(&monitor, "work");
    let earlier = monitor.snapshot();
    // Runs until the event that all wait for is finished; either worker may have it.
    for events in 1.. {
        turnstile.let_go();
        wait_until(|| handled.load(Ordering::SeqCst) == events);
        let is_all = || monitor.snapshot().stages[1].sequence > earlier.stages[1].sequence;
        if events == 4 || is_all() {
            wait_until(is_all);
            break;
        }
    }
    settle(&monitor, "work");
    let later = monitor.snapshot();
    assert_eq!(later.bottleneck(), stage("work"), "{later}");
    let throughput = later.since(&earlier);
    assert_eq!(throughput.bottleneck(), stage("work").as_ref(), "{throughput}");
    assert_eq!(throughput.stages.len(), 3);
    assert_eq!(throughput.stages[1].finished, throughput.published, "{throughput}");
    drop(turnstile);
    feed.join().unwrap().unwrap();
    running.shutdown().unwrap();
}

/// The events pile up in front of the first stage, whichever is slow.
fn the_stage_that_occupies_a_shared_thread_is_named<K: Kind>() {
    let (turnstile, handler) = gated();
    let on_thread = |name| Stage::new(name).on_thread("both");
    let ring = orders::<K>(4).stage(on_thread("first")).read_handler(nothing());
    let mut rig = Rig::<K>::of(ring.stage(on_thread("second")).read_handler(handler));
    let running = rig.start();
    rig.does("publish 1");
    turnstile.wait_for(0);
    let earlier = rig.monitor.snapshot();
    let later = rig.does("publish 3").monitor.snapshot();
    let depths: Vec<_> = later.stages.iter().map(|stage| stage.available).collect();
    assert_eq!(depths, [3, 1]);
    assert_eq!(later.bottleneck(), stage("second"));
    assert_eq!(later.since(&earlier).bottleneck(), stage("second").as_ref());
    drop(turnstile);
    running.shutdown().unwrap();
}

#[test]
fn a_claim_that_is_held_leaves_the_limit_to_the_producers() {
    let mut rig = Rig::<Many>::row(2, "all");
    let mut holder = rig.producer.clone();
    let earlier = rig.monitor.snapshot();
    let claim = holder.claim().unwrap();
    let later = rig.does("publish 1").monitor.snapshot();
    assert_eq!((later.free_slots, later.published), (0, 0));
    assert_eq!(later.bottleneck(), Some(Part::Producers));
    assert_eq!(later.since(&earlier).bottleneck(), Some(&Part::Producers));
    drop(claim);
    assert_eq!(rig.monitor.snapshot().bottleneck(), stage("all"));
}

// ---- dynamic stages ----

fn a_consumer_that_joined_in_between_is_named_and_not_counted<K: Kind>() {
    let mut rig = Rig::<K>::of(row::<K>(orders::<K>(8).dynamic_stages(1), "all"));
    let earlier = rig.does("publish 3, all 3").monitor.snapshot();
    let dynamic_stages = rig.consumers.as_ref().unwrap().dynamic_stages();
    let guest = dynamic_stages.join("guest", StartAt::Now).unwrap().poller();
    let later = rig.does("publish 8, all 8").monitor.snapshot();
    let throughput = later.since(&earlier);
    assert_eq!(throughput.bottleneck(), stage("guest").as_ref());
    assert_eq!(figures(&throughput), "all 8/0");
    drop(guest);
    assert_eq!(figures(&rig.monitor.snapshot().since(&later)), "all 0/0");
}

fn a_consumer_that_took_the_dynamic_stage_of_another_does_not_count_its_events<K: Kind>() {
    let mut rig = Rig::<K>::of(row::<K>(orders::<K>(8).dynamic_stages(1), "all"));
    let dynamic_stages = rig.consumers.as_ref().unwrap().dynamic_stages();
    let mut guest = dynamic_stages.join("guest", StartAt::Now).unwrap().poller();
    rig.does("publish 4, all 4");
    finish(&mut guest, 4);
    let earlier = rig.monitor.snapshot();
    drop(guest);
    rig.does("publish 8, all 8");
    let _guest = dynamic_stages.join("guest", StartAt::Now).unwrap().poller();
    assert_eq!(figures(&rig.monitor.snapshot().since(&earlier)), "all 8/0");
}

// ---- other figures, and the texts ----

fn snapshots_in_the_wrong_order_or_the_same_count_nothing<K: Kind>() {
    let mut rig = Rig::<K>::row(8, "all");
    let first = rig.monitor.snapshot();
    let last = rig.does("publish 3, all 3").monitor.snapshot();
    // A consumer with fewer batches than before is another one.
    for (throughput, stages) in [(first.since(&last), ""), (last.since(&last), "all 0/0")] {
        assert_eq!((throughput.elapsed, throughput.published), (Duration::ZERO, 0));
        assert_eq!(throughput.bottleneck(), None);
        assert_eq!(figures(&throughput), stages);
        assert_eq!(throughput.published_per_second(), 0.0);
        assert!(throughput.stages.iter().all(|stage| stage.per_second() == 0.0));
    }
}

fn what_was_dropped_in_between_is_counted<K: Kind>() {
    let mut rig = Rig::<K>::row(2, "all");
    let mut earlier = rig.monitor.snapshot();
    for dropped in [3, 5] {
        for _ in 0..5 {
            rig.producer.publish_or(WhenFull::DropNew, |_| {}).unwrap();
        }
        let later = rig.monitor.snapshot();
        let throughput = later.since(&earlier);
        assert_eq!((throughput.dropped, throughput.published), (dropped, 5 - dropped));
        assert!(throughput.to_string().contains(&format!(", {dropped} dropped")), "{throughput}");
        earlier = later;
    }
}

fn throughput_reads_as_a_table<K: Kind>() {
    let ring = orders::<K>(4).stage("decode").poller().stage("jour\nnal").poller();
    let mut rig = Rig::<K>::of(ring);
    let earlier = rig.monitor.snapshot();
    let mut later = rig.does("publish 4, decode 4").monitor.snapshot();
    later.taken_at = earlier.taken_at + Duration::from_millis(2_500);
    let text = "\
ring \"orders\": 4 events published in 2.5 s, 1.6 a second, limited by stage \"jour\\nnal\"
stage      finished  a second  queue depth
decode            4       1.6            0
jour\\nnal         0       0.0            4";
    assert_eq!(later.since(&earlier).to_string(), text);
    let same = earlier.since(&earlier).to_string();
    assert!(same.starts_with("ring \"orders\": 0 events published in 0 ms, 0.0 a second\n"));
}

#[test]
fn a_part_reads_as_a_phrase() {
    let name = || "a \"b\"".to_owned();
    for (part, text) in [
        (Part::Producers, "the producers"),
        (Part::Claim, "a claim"),
        (Part::Stage { name: name() }, r#"stage "a \"b\"""#),
        (Part::Acknowledgement { stage: name() }, r#"the acknowledgement of stage "a \"b\"""#),
    ] {
        assert_eq!(part.to_string(), text);
    }
}

fn a_full_ring_prints_its_limit_under_the_table<K: Kind>() {
    let mut rig = Rig::<K>::row(4, "ticks");
    let text = |rig: &Rig<K>| rig.monitor.snapshot().to_string();
    assert!(!text(rig.does("publish 3")).contains("limited"));
    assert!(text(rig.does("publish 1")).ends_with("\nlimited by stage \"ticks\""));
}

/// The ring is limited by its stage, then by its producers, then by nothing that two snapshots
/// show.
fn shares_of_limits_are_those_of_the_time<K: Kind>() {
    let (mut rig, mut limits) = (Rig::<K>::row(4, "all"), Limits::new());
    let mut elapsed = Duration::ZERO;
    let mut before = rig.monitor.snapshot();
    for script in ["publish 4", "", "all 4, publish 1, all 1", ""] {
        if limits.shares().len() == 1 {
            thread::sleep(Duration::from_millis(20)); // still full
        }
        let now = rig.does(script).monitor.snapshot();
        let throughput = now.since(&before);
        elapsed += throughput.elapsed;
        limits.add(&throughput);
        before = now;
    }
    let part = |limit: Option<Part>| limits.of(limit.as_ref()).unwrap();
    let parts = [part(stage("all")), part(Some(Part::Producers)), part(None)];
    assert_eq!(parts.map(|part| part.intervals), [2, 1, 1]);
    assert_eq!(parts.iter().map(|part| part.elapsed).sum::<Duration>(), elapsed);
    assert!(parts[0].elapsed >= Duration::from_millis(20));
    for part in parts {
        let share = part.elapsed.as_secs_f64() / elapsed.as_secs_f64();
        assert!((part.share() - share).abs() < 1e-9, "{part}: {share}");
    }
    let shares: Vec<_> = limits.shares().iter().map(|part| part.elapsed).collect();
    assert!(shares.is_sorted_by(|longer, shorter| longer >= shorter));
    assert!(limits.to_string().starts_with("4 intervals, "));
    assert_eq!(limits.of(stage("other").as_ref()), None);
}
