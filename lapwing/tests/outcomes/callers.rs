//! What user code may contain: return types, inferred types, `dyn` handlers, and settings without
//! effect.

use std::cell::Cell;
use std::error::Error;
use std::io;
use std::mem;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use lapwing::consumer::{
    Access, BatchHandler, Done, Exclusive, Failure, FailurePolicy, IntoAction, Outcome, Retries,
    Shared,
};
use lapwing::graph::Graph;
use lapwing::{Action, EventHandler, Sequence, Stage};

use crate::common::{self, Kind, ON_PURPOSE, ProducerOf, quiet_panics};
use crate::{Book, Form, Log, Said, Spy, counts, drain, drain_one};

common::for_both_producers! {
    closures_that_only_panic_need_no_types,
    closures_return_results_of_many_kinds,
    closures_use_the_question_mark,
    closures_for_batches_and_writers_return_the_same,
    handlers_over_any_access_return_nothing,
    handlers_with_several_return_types_say_which,
    boxed_handlers_are_handlers_and_get_every_call,
    handlers_that_cannot_cross_threads_may_fail_and_restart,
    handlers_of_batches_that_only_start_are_restarted_by_that,
    policies_of_every_kind,
    a_stage_with_policies_crosses_threads,
}

fn closures_that_only_panic_need_no_types<K: Kind>() {
    quiet_panics();
    let ring = K::ring(8, || 0_u64)
        .stage("panics")
        .read(|_, _, _| panic!("{ON_PURPOSE}"))
        .stage("panics too")
        .write(|_, _, _| todo!())
        .stage("and this")
        .read_batch(|_, _| unreachable!())
        .stage("this as well")
        .write_batch(|_, _| unimplemented!())
        .parallel(|parallel| {
            parallel
                .stage("beside")
                .read(|_, _, _| panic!())
                .stage("beside, by batch")
                .read_batch(|_, _| panic!())
                .chain(|chain| chain.stage("in a chain").read(|_, _, _| panic!()))
        });
    let finished = drain(ring, 1);
    assert_eq!(finished.len(), 7);
    assert!(matches!(finished[0].outcome(), Outcome::Panicked { .. }));
    let mut graph = Graph::new();
    let first = graph.stage("panics").read(|_: &u64, _, _| panic!());
    graph.stage("writes").after(first).write(|_, _, _| std::process::abort());
    assert!(K::ring(8, || 0).graph(graph).build().is_ok());
}

fn closures_return_results_of_many_kinds<K: Kind>() {
    let io = |_: &u64, at, _: bool| -> Result<(), io::Error> {
        if at == 1 { Err(io::Error::other(ON_PURPOSE)) } else { Ok(()) }
    };
    let text = |_: &u64, at, _: bool| -> Result<Action, String> {
        if at == 2 { Err(ON_PURPOSE.to_owned()) } else { Ok(Action::ReleaseNow) }
    };
    let boxed = |_: &u64, at, _: bool| -> Result<(), Box<dyn Error + Send + Sync>> {
        if at == 3 { Err(ON_PURPOSE.into()) } else { Ok(()) }
    };
    let nested = |_: &u64, at, _: bool| -> Result<Result<Action, io::Error>, String> {
        if at == 4 { Ok(Err(io::Error::other(ON_PURPOSE))) } else { Ok(Ok(Action::Continue)) }
    };
    let unit = |_: &u64, _: Sequence, _: bool| -> Result<(), std::convert::Infallible> { Ok(()) };
    let skips = |name: &str| Stage::new(name).on_error(Action::Skip);
    let ring = K::ring(8, || 0)
        .stage(skips("io"))
        .read(io)
        .stage(skips("text"))
        .read(text)
        .stage(skips("boxed"))
        .read(boxed)
        .stage(skips("nested"))
        .read(nested)
        .stage(skips("unit"))
        .read(unit)
        .stage("book")
        .read_handler(Book::default());
    let mut finished = drain(ring, 6);
    assert_eq!(finished.iter().map(lapwing::consumer::StageReport::skipped).sum::<u64>(), 4);
    let book: Book = finished[5].take_handler().unwrap();
    assert_eq!((book.done, book.failed), (vec![0, 5], vec![1, 2, 3, 4]));
}

/// A text that may contain a number.
#[derive(Default)]
struct Line(String);

fn closures_use_the_question_mark<K: Kind>() {
    let mut sum = 0;
    let (mut producer, consumers) = K::ring(8, Line::default)
        .stage("sum")
        .on_error(Action::Skip)
        .read(|line, _, _| {
            let value: i64 = line.0.parse()?;
            sum += u64::try_from(value)?;
            Ok::<(), Box<dyn Error + Send + Sync>>(())
        })
        .build()
        .unwrap();
    for text in ["7", "-1", "x", "8"] {
        producer.publish(|line| text.clone_into(&mut line.0)).unwrap();
    }
    drop(producer);
    let finished = consumers.into_iter().next().unwrap().run();
    assert_eq!(counts(&finished), (4, 2));
    drop(finished);
    assert_eq!(sum, 15);
}

fn closures_for_batches_and_writers_return_the_same<K: Kind>() {
    let skips = |name: &str| Stage::new(name).max_batch(1).on_error(Action::Skip);
    let ring = K::ring(8, || 0)
        .stage(skips("writes"))
        .write(|_, at, _| if at == 0 { Err("no") } else { Ok(()) })
        .stage(skips("by batch"))
        .read_batch(|_, first| if first == 1 { Err("no") } else { Ok(Action::Continue) })
        .stage("writes batches")
        .max_batch(1)
        .write_batch(|_, first| if first == 2 { Action::Skip } else { Action::Continue })
        .parallel(|parallel| {
            parallel
                .stage(skips("beside"))
                .read(|_, at, _| if at == 3 { Err(ON_PURPOSE) } else { Ok(()) })
                .chain(|chain| {
                    chain
                        .stage(skips("in a chain"))
                        .read_batch(|_, at| if at == 4 { Err(ON_PURPOSE) } else { Ok(()) })
                })
        })
        .stage("book")
        .read_handler(Book::default());
    let mut finished = drain(ring, 6);
    let book: Book = finished[5].take_handler().unwrap();
    assert_eq!((book.done, book.failed), (vec![5], vec![0, 1, 2, 3, 4]));
}

/// Handles any event with either access, and returns nothing.
#[derive(Default)]
struct Count(u64);

impl<E, A: Access> EventHandler<E, A> for Count {
    fn on_event(&mut self, _: A::Ref<'_, E>, _: Sequence, _: bool) {
        self.0 += 1;
    }
}

fn handlers_over_any_access_return_nothing<K: Kind>() {
    let ring = K::ring(8, || 0)
        .stage("reads")
        .read_handler(Count::default())
        .stage("writes")
        .write_handler(Count::default())
        .stage("made here")
        .read_local(Count::default)
        .stage("made here, writes")
        .write_local(Count::default)
        .parallel(|parallel| {
            parallel
                .stage("beside")
                .read_handler(Count::default())
                .stage("local")
                .read_local(Count::default)
        });
    let mut finished = drain(ring, 3);
    for index in [0, 1, 4] {
        assert_eq!(finished[index].take_handler::<Count>().unwrap().0, 3);
    }
    assert!(finished.iter().all(|stage| counts(stage) == (3, 0)));
}

/// Handles events with both kinds of access.
struct TwoWays;

impl EventHandler<u64, Shared, Action> for TwoWays {
    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) -> Action {
        Action::Skip
    }
}

impl EventHandler<u64, Exclusive, Result<(), String>> for TwoWays {
    fn on_event(&mut self, _: &mut u64, at: Sequence, _: bool) -> Result<(), String> {
        if at == 0 { Err(ON_PURPOSE.to_owned()) } else { Ok(()) }
    }
}

fn handlers_with_several_return_types_say_which<K: Kind>() {
    let ring = K::ring(8, || 0)
        .stage("reads")
        .read_handler(TwoWays)
        .stage("writes")
        .with_failed_events()
        .on_error(Action::Skip)
        .write_handler(TwoWays);
    let skipped: Vec<u64> = drain(ring, 3).iter().map(|stage| stage.skipped()).collect();
    assert_eq!(skipped, [3, 1]);
}

fn boxed_handlers_are_handlers_and_get_every_call<K: Kind>() {
    type Boxed<A> = Box<dyn EventHandler<u64, A, Said> + Send>;
    let spy = |log: &Log| {
        let mut is_first = true;
        Spy::new(log, move |call| match call.includes(2) && mem::take(&mut is_first) {
            true => Ok(Action::Restart(Duration::ZERO)),
            false => Ok(Action::Continue),
        })
    };
    let [plain, read, written] = [(); 3].map(|()| Log::default());
    let (reader, writer): (Boxed<Shared>, Boxed<Exclusive>) =
        (Box::new(spy(&read)), Box::new(spy(&written)));
    let ring = K::ring(8, || 0)
        .stage("skips")
        .read(|_, at, _| if at == 1 { Action::Skip } else { Action::Continue })
        .stage("plain")
        .read_handler(spy(&plain))
        .stage("boxed")
        .read_handler(reader)
        .stage("boxed, writes")
        .write_handler(writer);
    let mut finished = drain(ring, 4);
    assert!(plain.calls().len() > 8);
    assert_eq!((read.calls(), written.calls()), (plain.calls(), plain.calls()));
    assert!(finished[2].take_handler::<Boxed<Shared>>().is_ok());
    assert!(finished[3].take_handler::<Boxed<Exclusive>>().is_ok());
}

/// Is not `Send`, fails at every other event, and counts how often it was started.
struct Local {
    failures: Rc<Cell<u64>>,
    starts: Arc<AtomicU32>,
}

impl<A: Access> EventHandler<u64, A, Result<(), String>> for Local {
    fn on_start(&mut self) {
        self.starts.fetch_add(1, Ordering::SeqCst);
    }

    fn on_event(&mut self, _: A::Ref<'_, u64>, at: Sequence, _: bool) -> Result<(), String> {
        if at.is_multiple_of(2) && self.failures.get() == at / 2 {
            self.failures.set(self.failures.get() + 1);
            return Err(ON_PURPOSE.to_owned());
        }
        Ok(())
    }
}

/// Each row has an action, how often it starts the handler, and how many events it skips.
fn handlers_that_cannot_cross_threads_may_fail_and_restart<K: Kind>() {
    for (action, starts, skipped) in [
        (Action::Skip, 1, 3),
        (Action::Retry(Duration::ZERO), 1, 0),
        (Action::Restart(Duration::ZERO), 4, 0),
    ] {
        let started = Arc::new(AtomicU32::new(0));
        let counter = Arc::clone(&started);
        let make = move || Local { failures: Rc::default(), starts: counter };
        let stage = Stage::new("local").on_error(action);
        let finished = drain_one(K::ring(8, || 0).stage(stage).write_local(make), 5);
        assert_eq!(counts(&finished), (5, skipped), "{action:?}");
        assert_eq!(started.load(Ordering::SeqCst), starts, "{action:?}");
    }
}

/// Handles batches, and fails at its first one.
#[derive(Default)]
struct Starts(u32);

impl BatchHandler<u64, Shared, Result<(), &'static str>> for Starts {
    fn on_start(&mut self) {
        self.0 += 1;
    }

    fn on_batch(&mut self, _: &[u64], _: Sequence, _: Done<'_>) -> Result<(), &'static str> {
        if self.0 == 1 { Err(ON_PURPOSE) } else { Ok(()) }
    }
}

fn handlers_of_batches_that_only_start_are_restarted_by_that<K: Kind>() {
    let stage = Stage::new("starts").on_error(Action::Restart(Duration::ZERO));
    let ring = K::ring(8, || 0).stage(stage).read_batch_handler(Starts::default());
    let mut finished = drain_one(ring, 5);
    assert_eq!(counts(&finished), (5, 0));
    assert_eq!(finished.take_handler::<Starts>().unwrap().0, 2);
}

/// A policy that is a named type with state.
#[derive(Clone)]
struct Budget(u32);

impl FailurePolicy for Budget {
    fn decide(&mut self, _: &Failure<'_>) -> Action {
        self.0 = self.0.saturating_sub(1);
        if self.0 > 0 { Action::Skip } else { Action::Halt }
    }
}

fn by_function(failure: &Failure<'_>) -> Action {
    if failure.sequence() < 3 { Action::Skip } else { Action::Halt }
}

fn policies_of_every_kind<K: Kind>() {
    let mut left = 4;
    let closure = move |_: &Failure<'_>| {
        left -= 1;
        if left > 0 { Action::Skip } else { Action::Stop }
    };
    let never = |_: &Failure<'_>| unreachable!("another policy replaces it");
    let give_up = Retries::with_restart().attempts(2).or(Action::Skip);
    let stage = || Stage::new("fails");
    for (stage, expected) in [
        (stage().on_error(Action::Skip), (5, 5)),
        (stage().on_error(Action::default()), (5, 0)),
        (stage().on_error(Budget(3)), (2, 2)),
        (stage().on_error(by_function), (3, 3)),
        (stage().on_error(closure), (3, 3)),
        (stage().on_error(give_up), (5, 5)),
        (stage().on_error(Action::Halt).on_error(never).on_error(Action::Skip), (5, 5)),
    ] {
        let spy = Spy::new(&Log::default(), |_| Err(ON_PURPOSE));
        assert_eq!(counts(&drain_one(Form::Event.add(K::ring(8, || 0), stage, spy), 5)), expected);
    }
}

fn assert_send<T: Send>(value: T) -> T {
    value
}

fn a_stage_with_policies_crosses_threads<K: Kind>() {
    let stage = assert_send(Stage::new("fails").on_error(Budget(9)).on_panic(Retries::of_batch()));
    let (producer, consumers) = thread::spawn(move || {
        let fails = |_: &u64, _, _: bool| Err::<Action, _>(ON_PURPOSE);
        K::ring(8, || 0).stage(stage).read(fails).build().unwrap()
    })
    .join()
    .unwrap();
    let mut producer: ProducerOf<u64, K> = assert_send(producer);
    let running = assert_send(consumers).start().unwrap();
    producer.publish(|_| {}).unwrap();
    let report = assert_send(running.shutdown().unwrap());
    assert_eq!(counts(report.stages().next().unwrap()), (1, 1));
    assert!(Err::<(), _>(ON_PURPOSE).into_action().is_err());
}
