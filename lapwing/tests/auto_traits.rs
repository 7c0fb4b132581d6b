//! Tests which public types are `Send` and `Sync`, and that a handler's type is inferred. The
//! checks run at compile time.
//!
//! Types that a program shares by reference are both. A guard that borrows events is `Sync` only if
//! the events are. A type that contains user closures, which need only be `Send`, and that building
//! consumes is not `Sync`.
#![cfg(not(loom))]

use std::cell::Cell;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::slice;
use std::sync::{Mutex, OnceLock};
use std::thread;

use lapwing::consumer::{
    Acknowledger, Batch, Cause, Consumer, Events, Exclusive, Failure, Iter, IterMut, Outcome,
    Retries, Shared, StageReport, StopHandle,
};
use lapwing::error::{BatchError, BuildError, PublishError, StartError};
use lapwing::graph::{
    Chain, DynamicStage, DynamicStages, Graph, Parallel, Placement, StageId, Unplaced, WorkerStage,
};
use lapwing::lifecycle::{Backlog, RunError, ShutdownError, WorkerGroup};
use lapwing::monitor::{Monitor, Part, Snapshot, StageSnapshot, Stall};
use lapwing::observe::{Observer, RingFile};
use lapwing::producer::{Claim, ClaimBatch, Multi, Single, Slots, SlotsIter};
use lapwing::{
    Action, Builder, Consumers, Disruptor, MultiProducer, Poller, Report, Running, SingleProducer,
    Stage, channel, tap, wait,
};

/// An event that is `Send` but not `Sync`.
type Unshared = Cell<u64>;

/// The associated constants of this type hide those of [`Not`] if `T` implements the trait.
struct Of<T: ?Sized>(PhantomData<T>);

trait Not {
    const SEND: bool = false;
    const SYNC: bool = false;
}

impl<T: ?Sized> Not for Of<T> {}

impl<T: ?Sized + Send> Of<T> {
    const SEND: bool = true;
}

impl<T: ?Sized + Sync> Of<T> {
    const SYNC: bool = true;
}

macro_rules! assert_auto_traits {
    (send: $send:literal, sync: $sync:literal: $($type:ty),* $(,)?) => {
        $(
            const _: () = assert!(Of::<$type>::SEND == $send, concat!("`Send`: ", stringify!($type)));
            const _: () = assert!(Of::<$type>::SYNC == $sync, concat!("`Sync`: ", stringify!($type)));
        )*
    };
}

// The ends of a ring, for any event.
assert_auto_traits! { send: true, sync: true:
    SingleProducer<u64>, SingleProducer<Unshared>, MultiProducer<u64>, MultiProducer<Unshared>,
    Poller<u64, Shared>, Poller<u64, Exclusive>, Poller<Unshared, Exclusive>,
    Consumer<'static>, Consumers<'static, u64>, Consumers<'static, Unshared>,
    Running<'static>, Report, StageReport, RunError, ShutdownError, Backlog, Outcome,
    StopHandle, Acknowledger, WorkerGroup, DynamicStages<u64>, DynamicStage<u64>,
    Monitor, Snapshot, StageSnapshot, Stall, Part, Observer, RingFile,
}

/// A program may observe a ring in code whose panics it catches.
#[test]
fn monitors_cross_a_boundary_at_which_panics_are_caught() {
    fn is_unwind_safe<T: UnwindSafe + RefUnwindSafe>() {}
    is_unwind_safe::<Monitor>();
    is_unwind_safe::<Observer>();
}

// Builders.
assert_auto_traits! { send: true, sync: true:
    Stage, StageId, WorkerStage<Unplaced, u64>, WorkerStage<Unplaced, Unshared>, Placement, Action, Retries, Failure<'static>,
    Cause<'static>, BuildError, StartError, PublishError, BatchError,
}

// Their closures are only `Send`, and a factory runs on the building thread.
assert_auto_traits! { send: true, sync: false: Graph<'static, u64>, Parallel<'static, 'static, u64>, Chain<'static, 'static, u64> }
assert_auto_traits! { send: false, sync: false: Builder<'static, u64, Single>, Builder<'static, u64, Multi> }

// Guards that borrow events.
assert_auto_traits! { send: true, sync: true:
    Slots<'static, u64>, SlotsIter<'static, u64>,
    Batch<'static, u64, Shared>, Batch<'static, u64, Exclusive>,
    Iter<'static, u64>, IterMut<'static, u64>, Events<slice::Iter<'static, u64>, u64>,
}
assert_auto_traits! { send: true, sync: false:
    Slots<'static, Unshared>, SlotsIter<'static, Unshared>,
    Batch<'static, Unshared, Exclusive>, IterMut<'static, Unshared>,
}

// A claim stays on the thread that made it, because a waiting producer searches that thread's
// claims.
assert_auto_traits! { send: false, sync: true:
    Claim<'static, u64, Single>, Claim<'static, u64, Multi>,
    ClaimBatch<'static, u64, Single>, ClaimBatch<'static, u64, Multi>,
}
assert_auto_traits! { send: false, sync: false:
    Claim<'static, Unshared, Single>, Claim<'static, Unshared, Multi>,
    ClaimBatch<'static, Unshared, Single>, ClaimBatch<'static, Unshared, Multi>,
}

// The ends of a channel, and the guards that borrow its values.
assert_auto_traits! { send: true, sync: true:
    channel::SingleSender<u64>, channel::SingleSender<Unshared>,
    channel::MultiSender<u64>, channel::MultiSender<Unshared>,
    channel::Receiver<u64>, channel::Receiver<Unshared>, channel::BroadcastReceiver<u64>,
    channel::Iter<'static, channel::Receiver<u64>>, channel::TryIter<'static, channel::Receiver<u64>>,
    channel::IntoIter<channel::Receiver<u64>>,
    channel::Values<'static, u64>, channel::SharedValues<'static, u64>, channel::Builder,
}
assert_auto_traits! { send: true, sync: false:
    channel::Values<'static, Unshared>, channel::SendError<Unshared>,
}

// A tap copies its events.
assert_auto_traits! { send: true, sync: true:
    tap::TapWriter<u64>, tap::TapWriter<Unshared>, tap::TapReader<u64>, tap::TapReader<Unshared>,
    tap::TryIter<'static, u64>, tap::Reading<u64>,
}

// Wait strategies.
assert_auto_traits! { send: true, sync: true:
    wait::Adaptive, wait::Blocking, wait::BusySpin, wait::Sleeping, wait::Yielding,
    wait::PhasedBackoff<wait::Adaptive>, wait::Pacing<'static>, wait::WaiterElsewhere,
}

// Types that are not `Send` stay on their thread.
assert_auto_traits! { send: false, sync: false: SingleProducer<*const u64>, Poller<*const u64>, channel::MultiSender<*const u64>, tap::TapReader<*const u64> }

/// A static of type `OnceLock<MultiProducer<_>>` requires that a producer's wait strategy is
/// `Sync`.
#[test]
fn a_static_keeps_a_producer_that_every_thread_clones() {
    static PRODUCER: OnceLock<MultiProducer<u64>> = OnceLock::new();

    let (producer, mut consumers) =
        Disruptor::multi_producer(8, || 0_u64).stage("all").poller().build().unwrap();
    let mut all = consumers.take_poller("all").unwrap();
    PRODUCER.set(producer).unwrap();
    let publish = |value| {
        let mut producer = PRODUCER.get().unwrap().clone();
        producer.publish(|event| *event = value).unwrap();
    };
    let threads = [1, 2, 3].map(|value| thread::spawn(move || publish(value)));
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    PRODUCER.get().unwrap().close();
    let mut values = all.poll().unwrap().as_slice().to_vec();
    values.sort_unstable();
    assert_eq!(values, [1, 2, 3]);
}

/// The same for a channel.
#[test]
fn a_static_keeps_a_sender_that_every_thread_clones() {
    static SENDER: OnceLock<channel::MultiSender<Unshared>> = OnceLock::new();

    let (sender, mut receiver) = channel::mpsc(8).unwrap();
    SENDER.set(sender).unwrap();
    let threads = [1, 2, 3].map(|value| {
        thread::spawn(move || SENDER.get().unwrap().clone().send(Cell::new(value)).unwrap())
    });
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let mut values: Vec<u64> = receiver.try_iter().map(Cell::into_inner).collect();
    values.sort_unstable();
    assert_eq!(values, [1, 2, 3]);
}

/// `?` converts the error of a shutdown into the usual boxed error, even if a handler is not
/// `Sync`.
#[test]
fn the_error_of_a_shutdown_is_an_error_that_may_go_anywhere() {
    type AnyError = Box<dyn std::error::Error + Send + Sync>;

    fn run() -> Result<Report, AnyError> {
        let (producer, consumers) =
            Disruptor::single_producer(8, || 0_u64).stage("all").read(|_, _, _| {}).build()?;
        let running = consumers.start()?;
        running.halt();
        drop(producer);
        Ok(running.shutdown()?)
    }

    assert!(run().unwrap_err().is::<RunError>());
}

/// A handler that is not `Sync` can be taken from a report, which is `Sync`.
#[test]
fn a_handler_that_is_not_sync_comes_back_from_a_report_that_is_shared() {
    struct Sum(Cell<u64>);

    impl lapwing::EventHandler<u64> for Sum {
        fn on_event(&mut self, event: &u64, _: lapwing::Sequence, _: bool) {
            self.0.set(self.0.get() + event);
        }
    }

    let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
        .stage("sum")
        .read_handler(Sum(Cell::new(0)))
        .build()
        .unwrap();
    let consumers = Mutex::new(consumers);
    producer.publish(|event| *event = 7).unwrap();
    let running = consumers.into_inner().unwrap().start().unwrap();
    let mut report = running.shutdown().unwrap();
    thread::scope(|scope| {
        let stages = scope.spawn(|| report.stages().count());
        assert_eq!(stages.join().unwrap(), 1);
    });
    assert_eq!(report.take::<Sum>("sum").unwrap().0.get(), 7);
}

/// A generic handler needs no annotation where it is added: the access and the return type of its
/// trait are inferred.
#[allow(dead_code)]
fn handlers_need_no_annotation<H: lapwing::EventHandler<u64, Shared> + Send + 'static>(handler: H) {
    let _ = Disruptor::single_producer(8, || 0_u64).stage("h").read_handler(handler);
}
