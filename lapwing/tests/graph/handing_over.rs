//! Tests that the state of a key is with its worker when an event of that key arrives, however the
//! group changes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use crate::common::{Kind, Lcg, ON_PURPOSE, ProducerOf, quiet_panics, repeats, wait_until};
use lapwing::consumer::{Exclusive, Finished, HandOver, IntoAction, MovedKeys, Outcome, Retries};
use lapwing::error::PublishError;
use lapwing::lifecycle::RunError;
use lapwing::wait::{Adaptive, Blocking, BusySpin, Sleeping, WaitStrategy, Yielding};
use lapwing::{Action, EventHandler, Report, Running, Sequence, Stage};

crate::common::for_both_producers! {
    a_state_per_key_moves_with_its_key_at_a_resize,
    miri_a_state_per_key_survives_resizes_under_load,
    a_state_per_key_survives_resizes_whatever_the_strategy,
    a_state_per_key_survives_resizes_on_one_thread,
    a_state_per_key_survives_workers_that_are_stopped_under_load_and_resizes,
    a_state_per_key_survives_workers_that_stop_at_an_event,
    a_state_per_key_survives_a_panic_with_a_restart,
    a_worker_that_a_policy_detaches_for_an_error_gives_its_states,
    a_worker_that_panicked_does_not_give_its_states,
    an_idle_worker_gives_its_states,
    the_last_worker_that_leaves_keeps_all_states,
    a_state_that_need_not_move_comes_back,
    a_panic_of_give_halts_the_ring,
    a_panic_of_take_halts_the_ring,
    a_panic_of_give_of_a_worker_that_leaves_halts_the_ring,
    a_halt_while_keys_move_ends_all_workers,
    a_give_that_would_wait_for_the_ring_gets_an_error,
    workers_without_keys_never_give_states,
}

const KEYS: u64 = 23;

/// An event with a key, and its number among the events of that key.
#[derive(Debug, Default)]
struct Trade {
    account: u64,
    number: u64,
}

/// The actions of a test in the calls of a [`Counts`].
type Hook = Arc<dyn Fn(usize, Call, u64) + Send + Sync>;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Call {
    Event,
    Give,
    Take,
}

/// Counts the events of each account, and checks that none arrives before the state of its account.
struct Counts {
    worker: usize,
    counts: HashMap<u64, u64>,
    hook: Hook,
    restarts: u64,
}

impl Counts {
    fn count(&mut self, trade: &Trade) {
        (self.hook)(self.worker, Call::Event, trade.account);
        let count = self.counts.entry(trade.account).or_default();
        assert_eq!(*count, trade.number, "a state began anew: {trade:?}, worker={}", self.worker);
        *count += 1;
    }
}

impl EventHandler<Trade, Exclusive> for Counts {
    fn on_event(&mut self, trade: &mut Trade, _: Sequence, _: bool) {
        self.count(trade);
    }
}

impl HandOver for Counts {
    type State = u64;

    fn give(&mut self, moved: &MovedKeys) -> Vec<(u64, u64)> {
        (self.hook)(self.worker, Call::Give, 0);
        self.counts.extract_if(|&account, _| moved.contains(account)).collect()
    }

    fn take(&mut self, account: u64, count: u64) {
        (self.hook)(self.worker, Call::Take, account);
        let before = self.counts.insert(account, count);
        assert_eq!(before, None, "two states of one account: account={account}");
    }
}

fn nothing() -> Hook {
    Arc::new(|_, _, _| {})
}

fn counts(worker: usize, hook: &Hook) -> Counts {
    Counts { worker, counts: HashMap::new(), hook: Arc::clone(hook), restarts: 0 }
}

fn account(trade: &Trade) -> u64 {
    trade.account
}

/// Publishes trades, and counts the trades of each account.
struct Numbers([u64; KEYS as usize]);

impl Numbers {
    fn new() -> Self {
        Self([0; KEYS as usize])
    }

    fn publish<K: Kind>(&mut self, producer: &mut ProducerOf<Trade, K>, account: u64) {
        let number = self.0[account as usize];
        self.0[account as usize] += 1;
        producer.publish(|trade| *trade = Trade { account, number }).unwrap();
    }

    fn publish_some<K: Kind>(
        &mut self,
        producer: &mut ProducerOf<Trade, K>,
        count: u64,
        mut meanwhile: impl FnMut(),
    ) {
        let mut chance = Lcg(count);
        for _ in 0..count {
            self.publish::<K>(producer, chance.below(KEYS));
            meanwhile();
        }
    }

    /// Checks that each account is with exactly one of `handlers`, and has all its events.
    fn check(&self, handlers: &[Counts]) {
        let states = || handlers.iter().flat_map(|handler| &handler.counts);
        for (account, &published) in (0..).zip(&self.0) {
            let counted: Vec<u64> =
                states().filter(|state| *state.0 == account).map(|state| *state.1).collect();
            let expected = if published == 0 { vec![] } else { vec![published] };
            assert_eq!(counted, expected, "account={account}");
        }
    }
}

fn handlers(report: &mut Report, max: usize) -> Vec<Counts> {
    (0..max).map(|worker| report.take(&format!("work-{worker}")).unwrap()).collect()
}

/// Without the hook, each account that moved to the other worker would begin at 0.
fn a_state_per_key_moves_with_its_key_at_a_resize<K: Kind>() {
    let (mut producer, consumers) = K::ring(8, Trade::default)
        .stage("work")
        .workers(1)
        .up_to(2)
        .by_key(account)
        .write_keyed_handlers(|worker| counts(worker, &nothing()))
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let (group, mut numbers) = (running.workers("work").unwrap(), Numbers::new());
    for size in [2, 1, 2] {
        numbers.publish_some::<K>(&mut producer, 100, || {});
        group.resize(size).unwrap();
    }
    numbers.publish_some::<K>(&mut producer, 100, || {});
    let mut report = running.shutdown().unwrap();
    numbers.check(&handlers(&mut report, 2));
}

fn resize_under_load<K: Kind>(capacity: usize, stage: Stage, events: u64) {
    let (producer, consumers) = K::ring(capacity, Trade::default)
        .stage(stage)
        .workers(2)
        .up_to(4)
        .by_key(account)
        .write_keyed_handlers(|worker| counts(worker, &nothing()))
        .stage("after")
        .read(|_, _, _| {})
        .build()
        .unwrap();
    let mut producer = producer;
    let running = consumers.start().unwrap();
    let (group, mut numbers) = (running.workers("work").unwrap(), Numbers::new());
    let mut chance = Lcg(capacity as u64);
    numbers.publish_some::<K>(&mut producer, events, || {
        if chance.below(20) == 0 {
            group.resize(1 + chance.below(4) as usize).unwrap();
        }
    });
    let mut report = running.shutdown().unwrap();
    numbers.check(&handlers(&mut report, 4));
}

fn miri_a_state_per_key_survives_resizes_under_load<K: Kind>() {
    for capacity in [1, 2, 8, 64] {
        resize_under_load::<K>(capacity, Stage::new("work"), repeats(4_000));
    }
}

fn a_state_per_key_survives_resizes_whatever_the_strategy<K: Kind>() {
    fn with<K: Kind>(strategy: impl WaitStrategy, events: u64) {
        resize_under_load::<K>(8, Stage::new("work").wait(strategy), repeats(events));
    }
    with::<K>(Blocking { yields: 0 }, 3_000);
    with::<K>(BusySpin, 300);
    with::<K>(Sleeping::default(), 1_000);
    with::<K>(Yielding::default(), 2_000);
    with::<K>(Adaptive::default(), 2_000);
}

fn a_state_per_key_survives_resizes_on_one_thread<K: Kind>() {
    resize_under_load::<K>(8, Stage::new("work").on_thread("one"), repeats(3_000));
}

fn a_state_per_key_survives_workers_that_are_stopped_under_load_and_resizes<K: Kind>() {
    for round in 0..repeats(50) {
        let (mut producer, consumers) = K::ring(8, Trade::default)
            .stage("work")
            .workers(2)
            .up_to(5)
            .by_key(account)
            .write_keyed_handlers(|worker| counts(worker, &nothing()))
            .build()
            .unwrap();
        let running = consumers.start().unwrap();
        let (group, mut numbers) = (running.workers("work").unwrap(), Numbers::new());
        let (mut chance, mut leavers) = (Lcg(round), vec![0, 1, 2, 3]);
        numbers.publish_some::<K>(&mut producer, repeats(500), || match chance.below(40) {
            0..4 => group.resize(1 + chance.below(5) as usize).unwrap(),
            4 if !leavers.is_empty() => {
                let leaver = leavers.swap_remove(chance.below(leavers.len() as u64) as usize);
                running.stop_handle(&format!("work-{leaver}")).unwrap().stop();
            }
            _ => {}
        });
        // Some workers may leave while the ring is being drained.
        for leaver in leavers {
            running.stop_handle(&format!("work-{leaver}")).unwrap().stop();
        }
        let mut report = running.shutdown().unwrap();
        numbers.check(&handlers(&mut report, 5));
    }
}

/// A handler whose calls return what `act` decides.
struct Acts<F> {
    counts: Counts,
    act: F,
}

impl<F, R> EventHandler<Trade, Exclusive, R> for Acts<F>
where
    F: FnMut(&mut Counts, &Trade) -> R,
{
    fn on_event(&mut self, trade: &mut Trade, _: Sequence, _: bool) -> R {
        (self.act)(&mut self.counts, trade)
    }

    fn on_restart(&mut self) {
        self.counts.restarts += 1;
    }
}

impl<F> HandOver for Acts<F> {
    type State = u64;

    fn give(&mut self, moved: &MovedKeys) -> Vec<(u64, u64)> {
        self.counts.give(moved)
    }

    fn take(&mut self, account: u64, count: u64) {
        self.counts.take(account, count);
    }
}

/// Runs four workers that do what `act` decides for each event, and returns their report and
/// handlers.
fn run_acts<K: Kind, F, R>(stage: Stage, events: u64, act: F) -> (Report, Vec<Counts>, Numbers)
where
    F: Fn(&mut Counts, &Trade) -> R + Clone + Send + 'static,
    R: IntoAction + 'static,
{
    let (mut producer, consumers) = K::ring(8, Trade::default)
        .stage(stage)
        .workers(4)
        .by_key(account)
        .write_keyed_handlers(|worker| Acts {
            counts: counts(worker, &nothing()),
            act: act.clone(),
        })
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let mut numbers = Numbers::new();
    numbers.publish_some::<K>(&mut producer, events, || {});
    let mut report = running.shutdown().unwrap_or_else(RunError::into_report);
    let names = (0..4).map(|worker| format!("work-{worker}"));
    // Without the handler of a worker that a panic has ended.
    let handlers = names.filter_map(|name| report.take::<Acts<F>>(&name).ok());
    let handlers = handlers.map(|handler| handler.counts).collect();
    (report, handlers, numbers)
}

fn a_state_per_key_survives_workers_that_stop_at_an_event<K: Kind>() {
    let act = |counts: &mut Counts, trade: &Trade| {
        // All but the last stop, at different times.
        if counts.worker > 0 && trade.number == 3 * counts.worker as u64 {
            return Action::Stop;
        }
        counts.count(trade);
        Action::Continue
    };
    let (report, handlers, numbers) = run_acts::<K, _, _>(Stage::new("work"), repeats(2_000), act);
    numbers.check(&handlers);
    let stopped = report.stages().filter(|worker| *worker.outcome() == Outcome::Stopped);
    assert!(handlers.iter().skip(1).any(|handler| handler.counts.is_empty()));
    assert!(stopped.count() > 0);
}

fn a_state_per_key_survives_a_panic_with_a_restart<K: Kind>() {
    quiet_panics();
    let act = |counts: &mut Counts, trade: &Trade| {
        assert!(trade.number % 7 != 3 || counts.restarts % 2 == 1, "{ON_PURPOSE}");
        counts.count(trade);
        counts.restarts = 0;
    };
    let stage = Stage::new("work").on_panic(Retries::with_restart());
    let (_, handlers, numbers) = run_acts::<K, _, _>(stage, repeats(1_000), act);
    numbers.check(&handlers);
}

fn a_worker_that_a_policy_detaches_for_an_error_gives_its_states<K: Kind>() {
    let act = |counts: &mut Counts, trade: &Trade| {
        if counts.worker == 0 && trade.number == 5 {
            return Err("no route");
        }
        counts.count(trade);
        Ok(())
    };
    let stage = Stage::new("work").on_error(Action::Stop);
    let (report, handlers, numbers) = run_acts::<K, _, _>(stage, repeats(1_000).max(300), act);
    numbers.check(&handlers);
    let first = report.stages().find(|worker| worker.name() == "work-0").unwrap();
    assert!(matches!(first.outcome(), Outcome::Detached { .. }), "{first:?}");
    assert!(handlers[0].counts.is_empty());
}

fn a_worker_that_panicked_does_not_give_its_states<K: Kind>() {
    quiet_panics();
    let lost = Arc::new(AtomicU64::new(0));
    let lose = Arc::clone(&lost);
    let act = move |counts: &mut Counts, trade: &Trade| {
        if counts.worker == 0 && trade.number == 5 {
            // The keys of that worker begin anew with their next worker.
            lose.store(counts.counts.values().sum(), Ordering::Relaxed);
            panic!("{ON_PURPOSE}");
        }
        *counts.counts.entry(trade.account).or_default() += 1;
    };
    let stage = Stage::new("work").on_panic(Action::Stop);
    let (report, handlers, numbers) = run_acts::<K, _, _>(stage, repeats(1_000).max(300), act);
    let first = report.stages().find(|worker| worker.name() == "work-0").unwrap();
    assert!(matches!(first.outcome(), Outcome::Detached { .. }), "{first:?}");
    assert_eq!(handlers.len(), 3, "its handler is dropped");
    let lost = lost.load(Ordering::Relaxed);
    let counted: u64 = handlers.iter().flat_map(|handler| handler.counts.values()).sum();
    assert_eq!(counted + lost, numbers.0.iter().sum());
    assert!(lost > 0);
}

/// The worker is idle and asleep, with any strategy, when its keys move to others.
fn an_idle_worker_gives_its_states<K: Kind>() {
    for strategy in [Blocking { yields: 0 }, Blocking::default()] {
        let (mut producer, consumers) = K::ring(8, Trade::default)
            .wait(strategy)
            .stage("work")
            .workers(2)
            .by_key(account)
            .write_keyed_handlers(|worker| counts(worker, &nothing()))
            .build()
            .unwrap();
        let running = consumers.start().unwrap();
        let (group, mut numbers) = (running.workers("work").unwrap(), Numbers::new());
        let monitor = running.monitor();
        for round in 0..repeats(300) {
            group.resize(1 + round as usize % 2).unwrap();
            // For one worker; the other one only has state to give.
            numbers.publish::<K>(&mut producer, round % KEYS);
            wait_until(|| monitor.snapshot().stages[0].lag == 0);
        }
        let mut report = running.shutdown().unwrap();
        numbers.check(&handlers(&mut report, 2));
    }
}

/// Two workers leave at the same time: the last one must keep what the first one gave.
fn the_last_worker_that_leaves_keeps_all_states<K: Kind>() {
    for _ in 0..repeats(100) {
        let (mut producer, consumers) = K::ring(8, Trade::default)
            .stage("work")
            .workers(2)
            .by_key(account)
            .write_keyed_handlers(|worker| counts(worker, &nothing()))
            .build()
            .unwrap();
        let running = consumers.start().unwrap();
        let (mut numbers, monitor) = (Numbers::new(), running.monitor());
        numbers.publish_some::<K>(&mut producer, 100, || {});
        wait_until(|| monitor.snapshot().stages[0].lag == 0);
        for worker in ["work-0", "work-1"] {
            running.stop_handle(worker).unwrap().stop();
        }
        let mut report = running.join().unwrap_or_else(RunError::into_report);
        numbers.check(&handlers(&mut report, 2));
    }
}

/// Gives away the state of every key, whatever it is asked for.
struct GivesAll(Counts);

impl EventHandler<Trade, Exclusive> for GivesAll {
    fn on_event(&mut self, trade: &mut Trade, _: Sequence, _: bool) {
        self.0.count(trade);
    }
}

impl HandOver for GivesAll {
    type State = u64;

    fn give(&mut self, _: &MovedKeys) -> Vec<(u64, u64)> {
        self.0.counts.drain().collect()
    }

    fn take(&mut self, account: u64, count: u64) {
        self.0.take(account, count);
    }
}

fn a_state_that_need_not_move_comes_back<K: Kind>() {
    let (mut producer, consumers) = K::ring(8, Trade::default)
        .stage("work")
        .workers(1)
        .up_to(3)
        .by_key(account)
        .write_keyed_handlers(|worker| GivesAll(counts(worker, &nothing())))
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let (group, mut numbers) = (running.workers("work").unwrap(), Numbers::new());
    let mut sizes = (1..=3).cycle();
    numbers.publish_some::<K>(&mut producer, repeats(2_000), || {
        group.resize(sizes.next().unwrap()).unwrap();
    });
    let mut report = running.shutdown().unwrap();
    let names = (0..3).map(|worker| format!("work-{worker}"));
    let handlers: Vec<_> = names.map(|name| report.take::<GivesAll>(&name).unwrap().0).collect();
    numbers.check(&handlers);
}

/// Runs two workers whose `call` panics at a resize or at a stop, and returns the report.
fn panic_in<K: Kind>(call: Call, act: impl Fn(&Running<'_>)) -> Report {
    quiet_panics();
    let hook: Hook = Arc::new(move |_, now, _| assert!(now != call, "{ON_PURPOSE}"));
    // The count is useless: the lost state is unknown.
    let stage = Stage::new("work").on_panic(Action::Skip);
    let (mut producer, consumers) = K::ring(64, Trade::default)
        .stage(stage)
        .workers(1)
        .up_to(2)
        .by_key(account)
        .write_keyed_handlers(|worker| counts(worker, &hook))
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let (mut numbers, monitor) = (Numbers::new(), running.monitor());
    for account in 0..KEYS {
        numbers.publish::<K>(&mut producer, account);
    }
    wait_until(|| monitor.snapshot().stages[0].lag == 0);
    act(&running);
    while producer.publish(|trade| *trade = Trade { account: 0, number: 1 }).is_ok() {}
    running.join().unwrap_err().into_report()
}

fn assert_panicked(report: &Report) {
    let panicked = |worker: &&Finished| matches!(worker.outcome(), Outcome::Panicked { message, .. } if message == ON_PURPOSE);
    assert_eq!(report.stages().filter(panicked).count(), 1, "{report:?}");
}

fn a_panic_of_give_halts_the_ring<K: Kind>() {
    let resize = |running: &Running<'_>| running.workers("work").unwrap().resize(2).unwrap();
    assert_panicked(&panic_in::<K>(Call::Give, resize));
}

fn a_panic_of_take_halts_the_ring<K: Kind>() {
    let resize = |running: &Running<'_>| running.workers("work").unwrap().resize(2).unwrap();
    assert_panicked(&panic_in::<K>(Call::Take, resize));
}

fn a_panic_of_give_of_a_worker_that_leaves_halts_the_ring<K: Kind>() {
    let stop = |running: &Running<'_>| running.stop_handle("work-0").unwrap().stop();
    assert_panicked(&panic_in::<K>(Call::Give, stop));
}

fn a_halt_while_keys_move_ends_all_workers<K: Kind>() {
    let [is_giving, is_free] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
    let hook: Hook = Arc::new({
        let (is_giving, is_free) = (Arc::clone(&is_giving), Arc::clone(&is_free));
        move |_, call, _| {
            if call == Call::Give {
                is_giving.store(true, Ordering::Release);
                wait_until(|| is_free.load(Ordering::Acquire));
            }
        }
    });
    let (mut producer, consumers) = K::ring(64, Trade::default)
        .stage("work")
        .workers(1)
        .up_to(3)
        .by_key(account)
        .write_keyed_handlers(|worker| counts(worker, &hook))
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let (mut numbers, monitor) = (Numbers::new(), running.monitor());
    numbers.publish::<K>(&mut producer, 0);
    wait_until(|| monitor.snapshot().stages[0].lag == 0);
    running.workers("work").unwrap().resize(3).unwrap();
    numbers.publish::<K>(&mut producer, 0);
    wait_until(|| is_giving.load(Ordering::Acquire));
    running.halt();
    is_free.store(true, Ordering::Release);
    let report = running.join().unwrap_or_else(RunError::into_report);
    assert!(report.stages().all(|worker| *worker.outcome() == Outcome::Halted), "{report:?}");
}

fn a_give_that_would_wait_for_the_ring_gets_an_error<K: Kind>() {
    let (hand_over, producers) = mpsc::channel::<ProducerOf<Trade, K>>();
    let (tell, told) = mpsc::channel();
    let producers = Mutex::new(producers);
    let hook: Hook = Arc::new(move |_, call, _| {
        if call == Call::Give {
            let mut producer = producers.lock().unwrap().recv().unwrap();
            let full = (0..9).find_map(|_| producer.publish(|trade| trade.number = 0).err());
            tell.send((full, producer)).unwrap();
        }
    });
    let (mut producer, consumers) = K::ring(4, Trade::default)
        .stage("work")
        .workers(1)
        .up_to(2)
        .by_key(account)
        .write_keyed_handlers(|worker| Acts {
            counts: counts(worker, &hook),
            act: |_: &mut Counts, _: &Trade| {},
        })
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let monitor = running.monitor();
    producer.publish(|_| {}).unwrap();
    wait_until(|| monitor.snapshot().stages[0].lag == 0);
    running.workers("work").unwrap().resize(2).unwrap();
    producer.publish(|_| {}).unwrap();
    hand_over.send(producer).unwrap();
    let (full, producer) = told.recv().unwrap();
    assert_eq!(full, Some(PublishError::WouldDeadlock));
    drop(producer);
    running.shutdown().unwrap();
}

fn workers_without_keys_never_give_states<K: Kind>() {
    let calls = Arc::new(AtomicU64::new(0));
    let hook: Hook = Arc::new({
        let calls = Arc::clone(&calls);
        move |_, call, _| _ = calls.fetch_add(u64::from(call != Call::Event), Ordering::Relaxed)
    });
    let (mut producer, consumers) = K::ring(8, Trade::default)
        .stage("work")
        .workers(1)
        .up_to(3)
        .write_keyed_handlers(|worker| Acts {
            counts: counts(worker, &hook),
            act: |_: &mut Counts, _: &Trade| {},
        })
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let mut sizes = (1..=3).cycle();
    Numbers::new().publish_some::<K>(&mut producer, 300, || {
        running.workers("work").unwrap().resize(sizes.next().unwrap()).unwrap();
    });
    running.stop_handle("work-0").unwrap().stop();
    running.shutdown().unwrap();
    assert_eq!(calls.load(Ordering::Relaxed), 0);
}
