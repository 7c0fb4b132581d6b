//! Tests how stages start and end, on which threads, and what the report says. Not here: which
//! threads an end wakes, and the calls of a handler (`stopping.rs`).

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::mpsc;
use std::thread;

use crate::common::{
    Kind, MOMENT, PATIENCE, ProducerOf, repeats, threads_named, unique_prefix, wait_until,
    wait_until_no_thread_named,
};
use crate::start;
use lapwing::consumer::{Exclusive, Outcome};
use lapwing::error::{HaltCause, PollError, PublishError, RingError, StartError, TakeError};
use lapwing::lifecycle::{Backlog, ShutdownError};
use lapwing::producer::Sequencer;
use lapwing::{Consumers, EventHandler, Producer, Running, Sequence};

crate::common::for_both_producers! {
    miri_shutdown_at_once_loses_nothing,
    dropping_the_last_producer_ends_join,
    close_then_drain_then_join,
    threads_have_the_names_of_their_stages_and_end,
    failing_to_pin_is_an_error_that_leaves_no_thread,
    pinning_to_a_cpu_of_ours_works,
    miri_scoped_stages_borrow,
    scope_of_the_stages_may_be_shorter_than_what_they_borrow,
    miri_consumers_run_on_threads_of_the_callers_own,
    a_consumer_that_is_dropped_without_having_run_halts_the_ring,
    stages_drain_the_ring_after_running_was_detached_or_dropped,
    shutdown_timeout_reports_what_is_left_and_returns_the_stages,
    shutdown_by_a_handler_of_the_ring_is_an_error_that_halts_it,
    backlog_lists_stages_and_no_pollers,
    report_returns_handlers_by_name_and_type,
    report_lists_stages_in_the_order_of_the_graph,
}

/// A handler that counts its calls.
#[derive(Debug, Default)]
struct Calls {
    starts: u64,
    events: Vec<u64>,
    shutdowns: u64,
}

impl EventHandler<u64> for Calls {
    fn on_start(&mut self) {
        assert!(self.events.is_empty());
        self.starts += 1;
    }

    fn on_event(&mut self, event: &u64, _: Sequence, _: bool) {
        assert_eq!((self.starts, self.shutdowns), (1, 0));
        self.events.push(*event);
    }

    fn on_shutdown(&mut self) {
        self.shutdowns += 1;
    }
}

/// Distinguishes the handler of an exclusive stage from that of a shared one.
#[derive(Debug, Default, PartialEq)]
struct Doubles(u64);

impl EventHandler<u64, Exclusive> for Doubles {
    fn on_event(&mut self, event: &mut u64, _: Sequence, _: bool) {
        *event *= 2;
        self.0 += 1;
    }
}

/// Publishes `events` events, each equal to its number.
fn publish<K: Kind>(producer: &mut ProducerOf<u64, K>, events: u64) {
    (0..events).for_each(|number| _ = producer.publish(|event| *event = number).unwrap());
}

/// LMAX loses these events: a processor that has not started counts as stopped (issue 517).
fn miri_shutdown_at_once_loses_nothing<K: Kind>() {
    for round in 0..repeats(1_000) {
        let (mut producer, running) = start(
            K::ring(8, || 0_u64)
                .stage("first")
                .read_handler(Calls::default())
                .stage("second")
                .read_handler(Calls::default()),
        );
        let count = round % 9;
        publish::<K>(&mut producer, count);
        let mut report = running.shutdown().unwrap();
        for name in ["first", "second"] {
            let calls: Calls = report.take(name).unwrap();
            assert_eq!((calls.starts, calls.shutdowns), (1, 1));
            assert_eq!(calls.events, (0..count).collect::<Vec<_>>());
        }
    }
}

/// Also if all events were published before the start.
fn dropping_the_last_producer_ends_join<K: Kind>() {
    for is_before in [true, false] {
        let (mut producer, consumers) =
            K::ring(8, || 0_u64).stage("all").read_handler(Calls::default()).build().unwrap();
        let mut publish = move || publish::<K>(&mut producer, 8);
        let mut report = if is_before {
            publish();
            drop(publish); // and the producer
            consumers.start().unwrap().join().unwrap()
        } else {
            let running = consumers.start().unwrap();
            let thread = thread::spawn(publish);
            let report = running.join().unwrap();
            thread.join().unwrap();
            report
        };
        assert_eq!(report.stages().next().unwrap().processed(), 8);
        assert_eq!(report.take::<Calls>("all").unwrap().events, (0..8).collect::<Vec<_>>());
    }
}

fn close_then_drain_then_join<K: Kind>() {
    let (may_go_on, gate) = mpsc::channel::<()>();
    let (mut producer, running) = start(
        K::ring(4, || 0_u64)
            .stage("slow")
            .read(move |_, _, _| _ = gate.recv())
            .stage("all")
            .read_handler(Calls::default()),
    );
    publish::<K>(&mut producer, 4);
    running.close();
    assert_eq!(producer.publish(|_| {}), Err(PublishError::Closed));
    assert!(!running.is_finished());
    drop(may_go_on);
    let mut report = running.join().unwrap();
    assert!(report.stages().all(|stage| *stage.outcome() == Outcome::Drained));
    assert_eq!(report.take::<Calls>("all").unwrap().events, [0, 1, 2, 3]);
}

// ---- threads ----

fn threads_have_the_names_of_their_stages_and_end<K: Kind>() {
    let prefix = unique_prefix();
    let (name, names) = mpsc::channel();
    let stage = format!("{prefix}a name longer than the system keeps");
    let (mut producer, consumers) = K::ring(4, || 0_u64)
        .stage(stage.clone())
        .read(move |_, _, _| {
            name.send(thread::current().name().map(ToOwned::to_owned)).unwrap();
        })
        .build()
        .unwrap();
    assert_eq!(threads_named(&prefix), 0);
    let running = consumers.start().unwrap();
    producer.publish(|_| {}).unwrap();
    assert_eq!(names.recv().unwrap(), Some(stage));
    // The system's list can miss a thread while threads of other tests start and end.
    let expected = usize::from(cfg!(all(target_os = "linux", not(miri))));
    wait_until(|| threads_named(&prefix) == expected);
    running.shutdown().unwrap();
    wait_until_no_thread_named(&prefix);
}

fn failing_to_pin_is_an_error_that_leaves_no_thread<K: Kind>() {
    // The second mask has none of its lowest 31 bits set: it must not be cut to a CPU that exists.
    for absurd in [usize::MAX, usize::MAX / 2 + 1, 1023] {
        let prefix = unique_prefix();
        let (mut producer, consumers) = K::ring(2, || 0_u64)
            .stage(format!("{prefix}free"))
            .read(|_, _, _| {})
            .stage(format!("{prefix}pinned"))
            .pin(absurd)
            .read(|_, _, _| {})
            .stage(format!("{prefix}last"))
            .read(|_, _, _| {})
            .build()
            .unwrap();
        producer.publish(|_| {}).unwrap();
        let error = consumers.start().unwrap_err();
        let StartError::Pin { stage, cpu, .. } = &error else { panic!("{error}") };
        assert_eq!((stage.as_str(), *cpu), (format!("{prefix}pinned").as_str(), absurd));
        assert_eq!(producer.publish(|_| {}), Err(PublishError::Halted(HaltCause::StageDropped)));
        wait_until_no_thread_named(&prefix);
    }
}

fn pinning_to_a_cpu_of_ours_works<K: Kind>() {
    if !cfg!(all(target_os = "linux", not(miri))) {
        return;
    }
    let ours = first_allowed_cpu();
    let (mut producer, running) = start(
        K::ring(2, || 0_u64)
            .stage("pinned")
            .pin(ours)
            .read(move |_, _, _| assert_eq!(allowed_cpus(), ours.to_string())),
    );
    producer.publish(|_| {}).unwrap();
    running.shutdown().unwrap();
}

/// Returns the CPUs that this thread may run on, as Linux lists them: "0-3,5".
fn allowed_cpus() -> String {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    line.unwrap().trim().to_owned()
}

fn first_allowed_cpu() -> usize {
    allowed_cpus().split(['-', ',']).next().unwrap().parse().unwrap()
}

fn miri_scoped_stages_borrow<K: Kind>() {
    let (mut sum, mut count) = (0, 0);
    let bonus = 1;
    let (mut producer, consumers) = K::ring(2, || 0_u64)
        .stage("add")
        .write(|event, _, _| *event += bonus)
        .parallel(|parallel| {
            parallel
                .stage("sum")
                .read(|event, _, _| sum += event)
                .stage("count")
                .read(|_, _, _| count += 1)
        })
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        publish::<K>(&mut producer, 10);
        running.shutdown().unwrap();
    });
    assert_eq!((sum, count), (55, 10));
}

/// A function that gets stages can run them beside threads that borrow its local variables.
fn scope_of_the_stages_may_be_shorter_than_what_they_borrow<K: Kind>() {
    fn publish_beside<S: Sequencer>(mut producer: Producer<u64, S>, consumers: Consumers<'_, u64>) {
        let published = AtomicU64::new(0);
        thread::scope(|scope| {
            let running = consumers.start_scoped(scope).unwrap();
            let published = &published;
            scope.spawn(move || published.store(producer.publish(|_| {}).unwrap() + 1, SeqCst));
            running.join().unwrap();
        });
        assert_eq!(published.into_inner(), 1);
    }
    let mut count = 0;
    let (producer, consumers) =
        K::ring(2, || 0_u64).stage("count").read(|_, _, _| count += 1).build().unwrap();
    publish_beside(producer, consumers);
    assert_eq!(count, 1);
}

fn miri_consumers_run_on_threads_of_the_callers_own<K: Kind>() {
    let (mut producer, consumers) = K::ring(2, || 0_u64)
        .stage("first")
        .read_handler(Calls::default())
        .stage("second")
        .pin(0)
        .read_handler(Calls::default())
        .build()
        .unwrap();
    let consumers: Vec<_> = consumers.into_iter().collect();
    assert_eq!(
        consumers.iter().map(|each| (each.name(), each.pin())).collect::<Vec<_>>(),
        [("first", None), ("second", Some(0))]
    );
    thread::scope(|scope| {
        let threads: Vec<_> =
            consumers.into_iter().map(|consumer| scope.spawn(move || consumer.run())).collect();
        publish::<K>(&mut producer, 10);
        drop(producer);
        for thread in threads {
            let mut finished = thread.join().unwrap();
            assert_eq!((finished.outcome(), finished.processed()), (&Outcome::Drained, 10));
            assert!(matches!(
                finished.take_handler::<Doubles>().err(),
                Some(TakeError::WrongType { .. })
            ));
            assert_eq!(finished.take_handler::<Calls>().unwrap().events.len(), 10);
        }
    });
}

/// One of them, or all.
fn a_consumer_that_is_dropped_without_having_run_halts_the_ring<K: Kind>() {
    for is_first_run in [true, false] {
        let (mut producer, mut consumers) = K::ring(2, || 0_u64)
            .stage("runs")
            .read(|_, _, _| {})
            .stage("dropped")
            .read(|_, _, _| {})
            .stage("poller")
            .poller()
            .build()
            .unwrap();
        let mut poller = consumers.take_poller("poller").unwrap();
        producer.publish(|_| {}).unwrap();
        if is_first_run {
            let mut consumers = consumers.into_iter();
            let runs = consumers.next().unwrap();
            let thread = thread::spawn(move || runs.run());
            drop(consumers);
            assert_eq!(*thread.join().unwrap().outcome(), Outcome::Halted);
        } else {
            drop(consumers);
        }
        let cause = HaltCause::StageDropped;
        assert_eq!(producer.publish(|_| {}), Err(PublishError::Halted(cause)));
        assert_eq!(poller.poll().err(), Some(PollError::Halted(cause)));
        assert_eq!(poller.wait().err(), Some(RingError::Halted(cause)));
    }
}

/// A dropped `Running` closes the ring, a detached one leaves that to the producer.
fn stages_drain_the_ring_after_running_was_detached_or_dropped<K: Kind>() {
    for is_detached in [true, false] {
        let prefix = unique_prefix();
        let (number, numbers) = mpsc::channel();
        let (mut producer, running) = start(
            K::ring(4, || 0_u64)
                .stage(format!("{prefix}work"))
                .read(move |event, _, _| number.send(*event).unwrap()),
        );
        if is_detached {
            running.detach();
            publish::<K>(&mut producer, 10);
            drop(producer);
        } else {
            publish::<K>(&mut producer, 10);
            drop(running);
            assert_eq!(producer.publish(|_| {}), Err(PublishError::Closed));
        }
        assert_eq!(numbers.iter().collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
        wait_until_no_thread_named(&prefix);
    }
}

// ---- stopping ----

fn shutdown_timeout_reports_what_is_left_and_returns_the_stages<K: Kind>() {
    let (may_go_on, gate) = mpsc::channel::<()>();
    let (at_work, is_at_work) = mpsc::channel();
    let (mut producer, mut running) = start(
        K::ring(4, || 0_u64).stage("first").read(|_, _, _| {}).stage("slow").max_batch(1).read(
            move |_, _, _| {
                at_work.send(()).unwrap();
                let _ = gate.recv();
            },
        ),
    );
    publish::<K>(&mut producer, 3);
    is_at_work.recv().unwrap();
    wait_until(|| running.backlog()[0].events == 0);
    let error = running.shutdown_timeout(MOMENT).unwrap_err();
    assert!(error.to_string().contains("stage=\"slow\" events=3"), "{error}");
    let ShutdownError::TimedOut { backlog } = error else { panic!("{error}") };
    // The first stage may or may not have left its result by this time.
    assert_eq!(backlog.last(), Some(&Backlog { stage: "slow".to_owned(), events: 3 }));
    assert!(backlog.iter().all(|left| left.stage == "slow" || left.events == 0));
    assert_eq!(producer.publish(|_| {}), Err(PublishError::Closed));
    running.halt();
    drop(may_go_on);
    let Err(ShutdownError::Failed(failed)) = running.shutdown_timeout(PATIENCE) else { panic!() };
    assert_eq!(failed.report().stages().last().unwrap().processed(), 1);
}

fn shutdown_by_a_handler_of_the_ring_is_an_error_that_halts_it<K: Kind>() {
    let (hand_over, handed_over) = mpsc::channel::<Running<'static>>();
    let (tell, told) = mpsc::channel();
    let handed_over = std::sync::Mutex::new(handed_over);
    let (mut producer, consumers) = K::ring(8, || 0_u64)
        .stage("first")
        .read(|_, _, _| {})
        .stage("ends")
        .read(move |_, _, _| {
            let running = handed_over.lock().unwrap().recv().unwrap();
            let failed = running.shutdown().unwrap_err();
            let ends: Vec<_> = failed.report().stages().map(|end| end.outcome().clone()).collect();
            tell.send(ends).unwrap();
        })
        .stage("last")
        .read(|_, _, _| {})
        .build()
        .unwrap();
    // Published before the stages run, because a call in progress when the ring is halted returns
    // an error.
    producer.publish(|_| {}).unwrap();
    hand_over.send(consumers.start().unwrap()).unwrap();
    let ends = told.recv_timeout(PATIENCE).unwrap();
    assert!(matches!(ends[0], Outcome::Halted | Outcome::Drained), "{ends:?}");
    assert!(matches!(ends[1], Outcome::Panicked { .. }), "it has not ended: {ends:?}");
    assert_eq!(ends[2], Outcome::Halted);
    while producer.publish(|_| {}).is_ok() {}
}

/// As documented at `Running::backlog`.
fn backlog_lists_stages_and_no_pollers<K: Kind>() {
    let (mut producer, mut consumers) = K::ring(4, || 0_u64)
        .parallel(|parallel| parallel.stage("stage").read(|_, _, _| {}).stage("poller").poller())
        .build()
        .unwrap();
    let mut poller = consumers.take_poller("poller").unwrap();
    let running = consumers.start().unwrap();
    producer.publish(|_| {}).unwrap();
    let stages: Vec<_> = running.backlog().into_iter().map(|left| left.stage).collect();
    assert_eq!(stages, ["stage"]);
    poller.poll().unwrap().consume_all();
    running.shutdown().unwrap();
}

// ---- the report ----

fn report_returns_handlers_by_name_and_type<K: Kind>() {
    let (mut producer, running) = start(
        K::ring(4, || 0_u64)
            .stage("doubles")
            .write_handler(Doubles::default())
            .stage("calls")
            .read_handler(Calls::default())
            .stage("closure")
            .read(|_, _, _| {})
            .stage("local")
            .read_local(Calls::default),
    );
    publish::<K>(&mut producer, 3);
    let mut report = running.shutdown().unwrap();
    assert!(matches!(report.take::<Calls>("doubles").err(), Some(TakeError::WrongType { .. })));
    assert_eq!(report.take::<Doubles>("doubles"), Ok(Doubles(3)));
    assert!(matches!(report.take::<Doubles>("doubles"), Err(TakeError::AlreadyTaken { .. })));
    assert_eq!(report.take::<Calls>("calls").unwrap().events, [0, 2, 4]);
    assert!(matches!(report.take::<Calls>("unknown").err(), Some(TakeError::UnknownName { .. })));
    assert!(matches!(report.take::<Calls>("closure").err(), Some(TakeError::WrongType { .. })));
    assert!(matches!(report.take::<Calls>("local").err(), Some(TakeError::WrongType { .. })));
}

fn report_lists_stages_in_the_order_of_the_graph<K: Kind>() {
    let (producer, mut consumers) = K::ring(4, || 0_u64)
        .stage("z")
        .read(|_, _, _| {})
        .stage("poller")
        .poller()
        .parallel(|parallel| {
            parallel
                .chain(|chain| chain.stage("m").read(|_, _, _| {}).stage("n").read(|_, _, _| {}))
                .stage("a")
                .read(|_, _, _| {})
        })
        .stage("b")
        .read(|_, _, _| {})
        .build()
        .unwrap();
    assert!(consumers.names().eq(["z", "poller", "m", "n", "a", "b"]));
    drop(consumers.take_poller("poller").unwrap());
    drop(producer);
    let report = consumers.start().unwrap().join().unwrap();
    assert!(report.stages().map(|stage| stage.name()).eq(["z", "m", "n", "a", "b"]));
}
