//! Tests the throughput between two snapshots, and which part of the ring is named as the
//! bottleneck.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::common::{Kind, Many, Turnstile, wait_until};
use lapwing::graph::StartAt;
use lapwing::monitor::{Limits, Monitor, Part, Throughput};
use lapwing::{Consumers, Poller, Stage};

crate::common::for_both_producers! {
    a_slow_stage_that_makes_progress_is_named,
    the_slow_one_of_two_parallel_stages_is_named,
    each_place_of_a_slow_stage_is_named,
    a_worker_group_is_named_as_one_stage,
    the_stage_that_occupies_a_shared_thread_is_named,
    an_acknowledgement_that_comes_slowly_is_named,
    a_stage_that_was_behind_all_the_time_is_named_in_a_ring_with_free_slots,
    stages_that_keep_up_leave_the_limit_to_the_producers,
    a_stage_behind_in_both_snapshots_counts_only_if_producers_were_held_back,
    nothing_limits_an_idle_ring,
    a_closed_ring_is_limited_by_what_is_left,
    a_halted_ring_has_no_limit,
    a_consumer_that_joined_in_between_is_named_and_not_counted,
    a_consumer_that_took_the_seat_of_another_does_not_count_its_events,
    a_stage_that_left_is_not_counted,
    snapshots_in_the_wrong_order_count_nothing,
    what_was_dropped_in_between_is_counted,
    throughput_reads_as_a_table,
    a_full_ring_prints_its_limit_under_the_table,
    shares_of_limits_are_those_of_the_time,
}

fn stage(name: &str) -> Option<Part> {
    Some(Part::Stage { name: name.to_owned() })
}

/// What each stage finished between the snapshots, and its number of ready events.
fn figures(throughput: &Throughput) -> Vec<(&str, u64, u64)> {
    let stages = throughput.stages.iter();
    stages.map(|stage| (stage.name.as_str(), stage.finished, stage.queue_depth)).collect()
}

fn pollers<const N: usize>(
    consumers: &mut Consumers<'static, u64>,
    names: [&str; N],
) -> [Poller<u64>; N] {
    names.map(|name| consumers.take_poller(name).unwrap())
}

/// Finishes `events` available events.
fn take(poller: &mut Poller<u64>, mut events: u64) {
    while events > 0 {
        let mut batch = poller.poll_max(events as usize).unwrap();
        events -= batch.len() as u64;
        batch.consume_all();
    }
}

/// Waits until a producer waits on a full ring, and the stages except `slow` have handled their
/// available events.
fn settle(monitor: &Monitor, slow: &str) {
    wait_until(|| {
        let snapshot = monitor.snapshot();
        let mut others = snapshot.stages.iter().filter(|stage| stage.name != slow);
        // A producer that has just claimed has not published yet, and still counts as waiting.
        snapshot.waiting_producers == 1
            && snapshot.free_slots == 0
            && snapshot.claimed == snapshot.published
            && others.all(|stage| stage.available == 0)
    });
}

/// A full ring with a waiting producer does not by itself show which stage is slow.
fn a_slow_stage_that_makes_progress_is_named<K: Kind>() {
    let (turnstile, mut pass) = Turnstile::new();
    let (mut producer, consumers) = K::ring(4, || 0_u64)
        .name("orders")
        .stage("decode")
        .read(|_, _, _| {})
        .stage("journal")
        .max_batch(1)
        .read(move |_, sequence, _| pass(sequence))
        .stage("reply")
        .read(|_, _, _| {})
        .build()
        .unwrap();
    let monitor = producer.monitor();
    let running = consumers.start().unwrap();
    let feed = thread::spawn(move || (0..12).try_for_each(|_| producer.publish(|_| {}).map(drop)));
    turnstile.wait_for(0);
    settle(&monitor, "journal");
    let watchdog = monitor.clone();
    let mut earlier = watchdog.snapshot();
    assert_eq!(earlier.bottleneck(), stage("journal"));
    for finished in 1..4 {
        turnstile.let_go();
        turnstile.wait_for(finished);
        settle(&monitor, "journal");
        let later = watchdog.snapshot();
        assert_eq!(later.stall(Duration::ZERO), None, "nothing has stopped");
        assert_eq!(later.bottleneck(), stage("journal"), "{later}");
        let throughput = later.since(&earlier);
        assert_eq!(throughput.bottleneck(), stage("journal").as_ref(), "{throughput}");
        assert_eq!(throughput.published, 1);
        assert_eq!(figures(&throughput), [("decode", 1, 0), ("journal", 1, 4), ("reply", 1, 0)]);
        let rate = throughput.stages[1].per_second();
        assert_eq!(rate, 1.0 / throughput.elapsed.as_secs_f64());
        assert_eq!(rate, throughput.published_per_second());
        earlier = later;
    }
    drop(turnstile);
    feed.join().unwrap().unwrap();
    running.shutdown().unwrap();
}

fn the_slow_one_of_two_parallel_stages_is_named<K: Kind>() {
    let (mut producer, mut consumers) = K::ring(8, || 0_u64)
        .side_by_side(|side| side.stage("left").poller().stage("right").poller())
        .stage("join")
        .poller()
        .build()
        .unwrap();
    let [mut left, mut right, mut join] = pollers(&mut consumers, ["left", "right", "join"]);
    let monitor = producer.monitor();
    producer.publish_batch(8, |_| {}).unwrap();
    take(&mut left, 8);
    take(&mut right, 1);
    let earlier = monitor.snapshot();
    take(&mut right, 1);
    take(&mut join, 2);
    producer.publish_batch(2, |_| {}).unwrap();
    take(&mut left, 2);
    let later = monitor.snapshot();
    assert_eq!((earlier.bottleneck(), later.bottleneck()), (stage("right"), stage("right")));
    let throughput = later.since(&earlier);
    assert_eq!(throughput.bottleneck(), stage("right").as_ref());
    assert_eq!(figures(&throughput), [("left", 2, 0), ("right", 1, 8), ("join", 2, 0)]);
}

fn each_place_of_a_slow_stage_is_named<K: Kind>() {
    let names = ["first", "second", "third"];
    for slow in 0..3 {
        let ring = names.iter().fold(K::ring(8, || 0_u64), |ring, name| ring.stage(*name).poller());
        let (mut producer, mut consumers) = ring.build().unwrap();
        let mut pollers = pollers(&mut consumers, names);
        let monitor = producer.monitor();
        // All stages advance by two events. Each holds one of them in the snapshots, the slow one
        // the rest.
        producer.publish_batch(8, |_| {}).unwrap();
        pollers[..slow].iter_mut().enumerate().for_each(|(at, each)| take(each, 8 - at as u64));
        let earlier = monitor.snapshot();
        pollers[slow..].iter_mut().for_each(|each| take(each, 2));
        producer.publish_batch(2, |_| {}).unwrap();
        pollers[..slow].iter_mut().for_each(|each| take(each, 2));
        let later = monitor.snapshot();
        let throughput = later.since(&earlier);
        assert!(throughput.stages.iter().all(|stage| stage.finished == 2), "{throughput}");
        assert_eq!(throughput.bottleneck(), stage(names[slow]).as_ref(), "{throughput}");
        assert_eq!(later.bottleneck(), stage(names[slow]));
    }
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
    let (turnstile, mut pass) = Turnstile::new();
    let on_thread = |name| Stage::new(name).on_thread("both");
    let (mut producer, consumers) = K::ring(4, || 0_u64)
        .stage(on_thread("first"))
        .read(|_, _, _| {})
        .stage(on_thread("second"))
        .read(move |_, sequence, _| pass(sequence))
        .build()
        .unwrap();
    let monitor = producer.monitor();
    let running = consumers.start().unwrap();
    producer.publish(|_| {}).unwrap();
    turnstile.wait_for(0);
    let earlier = monitor.snapshot();
    producer.publish_batch(3, |_| {}).unwrap();
    let later = monitor.snapshot();
    let depths: Vec<_> = later.stages.iter().map(|stage| stage.available).collect();
    assert_eq!(depths, [3, 1]);
    assert_eq!(later.bottleneck(), stage("second"));
    assert_eq!(later.since(&earlier).bottleneck(), stage("second").as_ref());
    drop(turnstile);
    running.shutdown().unwrap();
}

fn an_acknowledgement_that_comes_slowly_is_named<K: Kind>() {
    let (mut producer, mut consumers) = K::ring(4, || 0_u64)
        .stage("journal")
        .acknowledged()
        .poller()
        .stage("reply")
        .poller()
        .build()
        .unwrap();
    let [mut journal, mut reply] = pollers(&mut consumers, ["journal", "reply"]);
    let disk = consumers.take_acknowledger("journal").unwrap();
    let monitor = producer.monitor();
    producer.publish_batch(4, |_| {}).unwrap();
    take(&mut journal, 4);
    let earlier = monitor.snapshot();
    disk.acknowledge(1).unwrap();
    take(&mut reply, 1);
    producer.publish(|_| {}).unwrap();
    take(&mut journal, 1);
    let later = monitor.snapshot();
    let limit = Part::Acknowledgement { stage: "journal".to_owned() };
    assert_eq!(limit.to_string(), "the acknowledgement of stage \"journal\"");
    assert_eq!(later.bottleneck(), Some(limit.clone()));
    let throughput = later.since(&earlier);
    assert_eq!(throughput.bottleneck(), Some(&limit));
    assert_eq!(figures(&throughput), [("journal", 1, 0), ("reply", 1, 0)]);
}

#[test]
fn a_claim_that_is_held_leaves_the_limit_to_the_producers() {
    let (mut producer, _consumers) = Many::ring(2, || 0_u64).stage("all").poller().build().unwrap();
    let monitor = producer.monitor();
    let mut other = producer.clone();
    let earlier = monitor.snapshot();
    let claim = producer.claim().unwrap();
    other.publish(|_| {}).unwrap();
    let later = monitor.snapshot();
    assert_eq!((later.free_slots, later.published), (0, 0));
    assert_eq!(later.bottleneck(), Some(Part::Producers));
    assert_eq!(later.since(&earlier).bottleneck(), Some(&Part::Producers));
    drop(claim);
    assert_eq!(monitor.snapshot().bottleneck(), stage("all"));
}

fn a_stage_that_was_behind_all_the_time_is_named_in_a_ring_with_free_slots<K: Kind>() {
    let (mut producer, mut consumers) =
        K::ring(64, || 0_u64).stage("decode").poller().stage("journal").poller().build().unwrap();
    let [mut decode, mut journal] = pollers(&mut consumers, ["decode", "journal"]);
    let monitor = producer.monitor();
    producer.publish_batch(20, |_| {}).unwrap();
    take(&mut decode, 20);
    let earlier = monitor.snapshot();
    take(&mut journal, 19);
    producer.publish(|_| {}).unwrap();
    let later = monitor.snapshot();
    assert_eq!(later.bottleneck(), None, "one snapshot does not suffice");
    let throughput = later.since(&earlier);
    assert_eq!(throughput.bottleneck(), stage("journal").as_ref());
    assert_eq!(figures(&throughput), [("decode", 0, 1), ("journal", 19, 1)]);
}

fn stages_that_keep_up_leave_the_limit_to_the_producers<K: Kind>() {
    let (mut producer, mut consumers) =
        K::ring(64, || 0_u64).stage("decode").poller().stage("journal").poller().build().unwrap();
    let [mut decode, mut journal] = pollers(&mut consumers, ["decode", "journal"]);
    let monitor = producer.monitor();
    producer.publish_batch(20, |_| {}).unwrap();
    take(&mut decode, 20);
    let earlier = monitor.snapshot();
    take(&mut journal, 20);
    producer.publish_batch(3, |_| {}).unwrap();
    let later = monitor.snapshot();
    let throughput = later.since(&earlier);
    // A new event is not a sign that a stage is slow.
    assert_eq!(figures(&throughput), [("decode", 0, 3), ("journal", 20, 0)]);
    assert_eq!(throughput.bottleneck(), Some(&Part::Producers));
}

fn a_stage_behind_in_both_snapshots_counts_only_if_producers_were_held_back<K: Kind>() {
    for (published, expected) in [(7, Some(Part::Producers)), (8, stage("all"))] {
        let (mut producer, mut consumers) =
            K::ring(8, || 0_u64).stage("all").poller().build().unwrap();
        let [mut all] = pollers(&mut consumers, ["all"]);
        let monitor = producer.monitor();
        producer.publish_batch(published, |_| {}).unwrap();
        let earlier = monitor.snapshot();
        take(&mut all, published as u64);
        producer.publish(|_| {}).unwrap();
        let later = monitor.snapshot();
        assert_eq!(later.since(&earlier).bottleneck(), expected.as_ref(), "{published}");
    }
}

fn nothing_limits_an_idle_ring<K: Kind>() {
    let (mut producer, mut consumers) = K::ring(8, || 0_u64).stage("all").poller().build().unwrap();
    let [mut all] = pollers(&mut consumers, ["all"]);
    let monitor = producer.monitor();
    producer.publish(|_| {}).unwrap();
    take(&mut all, 1);
    let (earlier, later) = (monitor.snapshot(), monitor.snapshot());
    assert_eq!((later.bottleneck(), later.since(&earlier).bottleneck()), (None, None));
    let same = later.since(&later);
    assert_eq!((same.elapsed, same.bottleneck()), (Duration::ZERO, None));
    assert_eq!((same.published_per_second(), same.stages[0].per_second()), (0.0, 0.0));
}

fn a_closed_ring_is_limited_by_what_is_left<K: Kind>() {
    let (mut producer, mut consumers) =
        K::ring(8, || 0_u64).stage("first").poller().stage("second").poller().build().unwrap();
    let [mut first, mut second] = pollers(&mut consumers, ["first", "second"]);
    let monitor = producer.monitor();
    producer.publish_batch(4, |_| {}).unwrap();
    let earlier = monitor.snapshot();
    drop(producer);
    take(&mut first, 4);
    let later = monitor.snapshot();
    assert_eq!(later.bottleneck(), stage("second"));
    assert_eq!(later.since(&earlier).bottleneck(), stage("second").as_ref());
    take(&mut second, 4);
    let last = monitor.snapshot();
    assert_eq!((last.bottleneck(), last.since(&earlier).bottleneck()), (None, None));
}

fn a_halted_ring_has_no_limit<K: Kind>() {
    let (mut producer, mut consumers) = K::ring(2, || 0_u64)
        .stage("first")
        .poller()
        .stage("second")
        .read(|_, _, _| {})
        .build()
        .unwrap();
    let _first = consumers.take_poller("first").unwrap();
    let monitor = producer.monitor();
    let earlier = monitor.snapshot();
    producer.publish_batch(2, |_| {}).unwrap();
    drop(consumers);
    let later = monitor.snapshot();
    assert_eq!((later.bottleneck(), later.since(&earlier).bottleneck()), (None, None));
}

fn a_consumer_that_joined_in_between_is_named_and_not_counted<K: Kind>() {
    let (mut producer, mut consumers) =
        K::ring(8, || 0_u64).seats(1).stage("all").poller().build().unwrap();
    let [mut all] = pollers(&mut consumers, ["all"]);
    let monitor = producer.monitor();
    producer.publish_batch(3, |_| {}).unwrap();
    take(&mut all, 3);
    let earlier = monitor.snapshot();
    let guest = consumers.seats().take("guest", StartAt::Now).unwrap().poller();
    producer.publish_batch(8, |_| {}).unwrap();
    take(&mut all, 8);
    let later = monitor.snapshot();
    let throughput = later.since(&earlier);
    assert_eq!(throughput.bottleneck(), stage("guest").as_ref());
    assert_eq!(figures(&throughput), [("all", 8, 0)]);
    drop(guest);
    assert_eq!(figures(&monitor.snapshot().since(&later)), [("all", 0, 0)]);
}

fn a_consumer_that_took_the_seat_of_another_does_not_count_its_events<K: Kind>() {
    let (mut producer, mut consumers) =
        K::ring(8, || 0_u64).seats(1).stage("all").poller().build().unwrap();
    let [mut all] = pollers(&mut consumers, ["all"]);
    let monitor = producer.monitor();
    let seats = consumers.seats();
    let mut guest = seats.take("guest", StartAt::Now).unwrap().poller();
    producer.publish_batch(4, |_| {}).unwrap();
    [&mut all, &mut guest].into_iter().for_each(|poller| take(poller, 4));
    let earlier = monitor.snapshot();
    drop(guest);
    producer.publish_batch(8, |_| {}).unwrap();
    take(&mut all, 8);
    let _guest = seats.take("guest", StartAt::Now).unwrap().poller();
    assert_eq!(figures(&monitor.snapshot().since(&earlier)), [("all", 8, 0)]);
}

fn a_stage_that_left_is_not_counted<K: Kind>() {
    let (mut producer, mut consumers) =
        K::ring(4, || 0_u64).stage("first").poller().stage("second").poller().build().unwrap();
    let [mut first, second] = pollers(&mut consumers, ["first", "second"]);
    let monitor = producer.monitor();
    producer.publish_batch(4, |_| {}).unwrap();
    let earlier = monitor.snapshot();
    take(&mut first, 1);
    drop(second);
    producer.publish(|_| {}).unwrap();
    let throughput = monitor.snapshot().since(&earlier);
    assert_eq!(figures(&throughput), [("first", 1, 4)]);
    assert_eq!(throughput.bottleneck(), stage("first").as_ref());
}

fn snapshots_in_the_wrong_order_count_nothing<K: Kind>() {
    let (mut producer, mut consumers) = K::ring(8, || 0_u64).stage("all").poller().build().unwrap();
    let [mut all] = pollers(&mut consumers, ["all"]);
    let monitor = producer.monitor();
    let first = monitor.snapshot();
    producer.publish_batch(3, |_| {}).unwrap();
    take(&mut all, 3);
    let throughput = first.since(&monitor.snapshot());
    assert_eq!((throughput.elapsed, throughput.published), (Duration::ZERO, 0));
    assert_eq!(throughput.bottleneck(), None);
    assert!(throughput.stages.iter().all(|stage| stage.finished == 0));
}

fn what_was_dropped_in_between_is_counted<K: Kind>() {
    let (mut producer, _consumers) = K::ring(2, || 0_u64).stage("all").poller().build().unwrap();
    let monitor = producer.monitor();
    let mut earlier = monitor.snapshot();
    for dropped in [3, 5] {
        for _ in 0..5 {
            producer.publish_or(lapwing::producer::WhenFull::DropNew, |_| {}).unwrap();
        }
        let later = monitor.snapshot();
        let throughput = later.since(&earlier);
        assert_eq!((throughput.dropped, throughput.published), (dropped, 5 - dropped));
        earlier = later;
    }
}

fn throughput_reads_as_a_table<K: Kind>() {
    let (mut producer, mut consumers) = K::ring(4, || 0_u64)
        .name("orders")
        .stage("decode")
        .poller()
        .stage("jour\nnal")
        .poller()
        .build()
        .unwrap();
    let [mut decode] = pollers(&mut consumers, ["decode"]);
    let monitor = producer.monitor();
    let earlier = monitor.snapshot();
    producer.publish_batch(4, |_| {}).unwrap();
    take(&mut decode, 4);
    let mut later = monitor.snapshot();
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

fn a_full_ring_prints_its_limit_under_the_table<K: Kind>() {
    let (mut producer, _consumers) = K::ring(4, || 0_u64).stage("ticks").poller().build().unwrap();
    let monitor = producer.monitor();
    producer.publish_batch(3, |_| {}).unwrap();
    assert!(!monitor.snapshot().to_string().contains("limited"));
    producer.publish(|_| {}).unwrap();
    assert!(monitor.snapshot().to_string().ends_with("\nlimited by stage \"ticks\""));
}

/// The ring is limited by its stage, then by its producers, then by nothing that two snapshots show.
fn shares_of_limits_are_those_of_the_time<K: Kind>() {
    let (mut producer, mut consumers) = K::ring(4, || 0_u64).stage("all").poller().build().unwrap();
    let [mut all] = pollers(&mut consumers, ["all"]);
    let (monitor, mut limits) = (producer.monitor(), Limits::new());
    let mut elapsed = Duration::ZERO;
    let mut before = monitor.snapshot();
    for step in 0..4 {
        match step {
            0 => drop(producer.publish_batch(4, |_| {}).unwrap()),
            1 => thread::sleep(Duration::from_millis(20)), // still full
            2 => {
                take(&mut all, 4);
                producer.publish(|_| {}).unwrap();
                take(&mut all, 1);
            }
            _ => {}
        }
        let now = monitor.snapshot();
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
