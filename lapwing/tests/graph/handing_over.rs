//! Tests that the state of a key is with its worker when an event of that key arrives, however the
//! group changes. A test is a [`Desk`]: a group whose handlers count the events of each account, and
//! check that none of them arrives before the count. A hook says what else they do in their calls.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use crate::common::{Kind, Lcg, ON_PURPOSE, ProducerOf, quiet_panics, repeats, wait_until};
use lapwing::consumer::{Exclusive, HandOver, MovedKeys, Outcome, Retries, StageReport};
use lapwing::error::PublishError;
use lapwing::lifecycle::RunError;
use lapwing::wait::{Adaptive, Blocking, BusySpin, Sleeping, WaitStrategy, Yielding};
use lapwing::{Action, EventHandler, Report, Running, Sequence, Stage};

crate::common::for_both_producers! {
    a_state_per_key_moves_with_its_key_at_a_resize,
    miri_a_state_per_key_survives_resizes_under_load,
    a_state_per_key_survives_resizes_whatever_the_strategy,
    a_state_per_key_survives_workers_that_are_stopped_under_load_and_resizes,
    a_state_per_key_survives_workers_that_stop_at_an_event,
    a_state_per_key_survives_a_panic_with_a_restart,
    a_worker_that_a_policy_detaches_for_an_error_gives_its_states,
    a_worker_that_panicked_does_not_give_its_states,
    an_idle_worker_gives_its_states,
    the_last_worker_that_leaves_keeps_all_states,
    a_state_that_need_not_move_comes_back,
    a_panic_of_give_or_take_halts_the_ring,
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

/// A call of a handler.
enum Call<'a> {
    Start,
    Event(&'a Trade),
    Give,
    Take,
}

type Said = Result<Action, &'static str>;

const GO_ON: Said = Ok(Action::Continue);

/// What a handler does in its calls. An event counts unless this returns something other than
/// [`GO_ON`].
type Hook = Arc<dyn Fn(&mut Counts, &Call<'_>) -> Said + Send + Sync>;

fn hook(act: impl Fn(&mut Counts, &Call<'_>) -> Said + Send + Sync + 'static) -> Hook {
    Arc::new(act)
}

fn nothing() -> Hook {
    hook(|_, _| GO_ON)
}

/// Counts the events of each account, and checks that none arrives before the state of its account.
struct Counts {
    worker: usize,
    counts: HashMap<u64, u64>,
    hook: Hook,
    restarts: u64,
    /// Whether it gives the state of every key, whatever it is asked for.
    gives_all: bool,
    /// Whether the states of a worker may be lost.
    may_begin_anew: bool,
}

impl Counts {
    fn new(worker: usize, hook: &Hook) -> Self {
        let (counts, hook) = (HashMap::new(), Arc::clone(hook));
        Self { worker, counts, hook, restarts: 0, gives_all: false, may_begin_anew: false }
    }

    fn call(&mut self, call: &Call<'_>) -> Said {
        Arc::clone(&self.hook)(self, call)
    }
}

impl EventHandler<Trade, Exclusive, Said> for Counts {
    fn on_start(&mut self) {
        _ = self.call(&Call::Start);
    }

    fn on_event(&mut self, trade: &mut Trade, _: Sequence, _: bool) -> Said {
        let said = self.call(&Call::Event(trade));
        if said == GO_ON {
            let count = self.counts.entry(trade.account).or_default();
            let is_next = *count == trade.number || self.may_begin_anew;
            assert!(is_next, "a state began anew: {trade:?}, worker={}", self.worker);
            *count += 1;
        }
        said
    }

    fn on_restart(&mut self) {
        self.restarts += 1;
    }
}

impl HandOver for Counts {
    type State = u64;

    fn give(&mut self, moved: &MovedKeys) -> Vec<(u64, u64)> {
        _ = self.call(&Call::Give);
        let gives_all = self.gives_all;
        self.counts.extract_if(|&account, _| gives_all || moved.contains(account)).collect()
    }

    fn take(&mut self, account: u64, count: u64) {
        _ = self.call(&Call::Take);
        let before = self.counts.insert(account, count);
        assert_eq!(before, None, "two states of one account: account={account}");
    }
}

fn account(trade: &Trade) -> u64 {
    trade.account
}

/// A running group "work", and a producer that counts the trades of each account.
struct Desk<K: Kind> {
    producer: ProducerOf<Trade, K>,
    running: Running<'static>,
    numbers: [u64; KEYS as usize],
    max: usize,
}

impl<K: Kind> Desk<K> {
    /// A group of `workers` that may grow to `max`, before another stage.
    fn new(capacity: usize, stage: Stage, (workers, max): (usize, usize), hook: &Hook) -> Self {
        let (producer, consumers) = K::ring(capacity, Trade::default)
            .stage(stage)
            .workers(workers)
            .up_to(max)
            .by_key(account)
            .write_keyed_handlers(|worker| Counts::new(worker, hook))
            .stage("after")
            .read(|_, _, _| {})
            .build()
            .unwrap();
        Self { producer, running: consumers.start().unwrap(), numbers: [0; KEYS as usize], max }
    }

    fn publish(&mut self, account: u64) {
        let number = self.numbers[account as usize];
        self.numbers[account as usize] += 1;
        self.producer.publish(|trade| *trade = Trade { account, number }).unwrap();
    }

    /// Publishes trades of any account, and does `meanwhile` after each of them.
    fn publish_some(&mut self, count: u64, mut meanwhile: impl FnMut(&Self)) {
        let mut chance = Lcg(count);
        for _ in 0..count {
            self.publish(chance.below(KEYS));
            meanwhile(self);
        }
    }

    fn resize(&self, size: usize) {
        self.running.workers("work").unwrap().resize(size).unwrap();
    }

    fn stop(&self, worker: usize) {
        self.running.stop_handle(&format!("work-{worker}")).unwrap().stop();
    }

    fn wait_until_idle(&self) {
        let monitor = self.running.monitor();
        wait_until(|| monitor.snapshot().stages[0].lag == 0);
    }

    /// Drains the ring. Returns the report, and the handlers but those that a panic has ended.
    fn shut_down(self) -> (Report, Vec<Counts>) {
        let mut report = self.running.shutdown().unwrap_or_else(RunError::into_report);
        let names = (0..self.max).map(|worker| format!("work-{worker}"));
        let handlers = names.filter_map(|name| report.take(&name).ok()).collect();
        (report, handlers)
    }

    /// Drains the ring, and checks that each account is with exactly one handler, and has all its
    /// events.
    fn check(self) -> (Report, Vec<Counts>) {
        let numbers = self.numbers;
        let (report, handlers) = self.shut_down();
        for (account, published) in (0..).zip(numbers) {
            let counted = handlers.iter().filter_map(|handler| handler.counts.get(&account));
            let expected = (published > 0).then_some(published);
            assert!(counted.copied().eq(expected), "account={account}");
        }
        (report, handlers)
    }
}

/// Without the hand-over, each account that moved to the other worker would begin at 0.
fn a_state_per_key_moves_with_its_key_at_a_resize<K: Kind>() {
    let mut desk = Desk::<K>::new(8, Stage::new("work"), (1, 2), &nothing());
    for size in [2, 1, 2] {
        desk.publish_some(100, |_| {});
        desk.resize(size);
    }
    desk.publish_some(100, |_| {});
    assert_eq!(desk.check().1.len(), 2);
}

fn resize_under_load<K: Kind>(capacity: usize, stage: Stage, events: u64) {
    let mut desk = Desk::<K>::new(capacity, stage, (2, 4), &nothing());
    let mut chance = Lcg(capacity as u64);
    desk.publish_some(repeats(events), |desk| {
        if chance.below(20) == 0 {
            desk.resize(1 + chance.below(4) as usize);
        }
    });
    assert_eq!(desk.check().1.len(), 4);
}

fn miri_a_state_per_key_survives_resizes_under_load<K: Kind>() {
    for capacity in [1, 2, 8, 64] {
        resize_under_load::<K>(capacity, Stage::new("work"), 4_000);
    }
}

/// Also on one thread.
fn a_state_per_key_survives_resizes_whatever_the_strategy<K: Kind>() {
    fn with<K: Kind>(strategy: impl WaitStrategy, events: u64) {
        resize_under_load::<K>(8, Stage::new("work").wait_strategy(strategy), events);
    }
    with::<K>(Blocking { yields: 0 }, 3_000);
    with::<K>(BusySpin, 300);
    with::<K>(Sleeping::default(), 1_000);
    with::<K>(Yielding::default(), 2_000);
    with::<K>(Adaptive::default(), 2_000);
    resize_under_load::<K>(8, Stage::new("work").on_thread("one"), 3_000);
}

fn a_state_per_key_survives_workers_that_are_stopped_under_load_and_resizes<K: Kind>() {
    for round in 0..repeats(50) {
        let mut desk = Desk::<K>::new(8, Stage::new("work"), (2, 5), &nothing());
        let (mut chance, mut leavers) = (Lcg(round), vec![0, 1, 2, 3]);
        desk.publish_some(repeats(500), |desk| match chance.below(40) {
            0..4 => desk.resize(1 + chance.below(5) as usize),
            4 if !leavers.is_empty() => {
                desk.stop(leavers.swap_remove(chance.below(leavers.len() as u64) as usize));
            }
            _ => {}
        });
        // Some workers may leave while the ring is being drained.
        leavers.into_iter().for_each(|leaver| desk.stop(leaver));
        assert_eq!(desk.check().1.len(), 5);
    }
}

/// Publishes `events` events to four workers that do what `hook` decides.
fn run_four<K: Kind>(stage: Stage, events: u64, hook: &Hook) -> Desk<K> {
    let mut desk = Desk::new(8, stage, (4, 4), hook);
    desk.publish_some(events, |_| {});
    desk
}

fn a_state_per_key_survives_workers_that_stop_at_an_event<K: Kind>() {
    let stops = hook(|counts, call| match call {
        // All but the last stop, at different times.
        Call::Event(trade) if counts.worker > 0 && trade.number == 3 * counts.worker as u64 => {
            Ok(Action::Stop)
        }
        _ => GO_ON,
    });
    let desk = run_four::<K>(Stage::new("work"), repeats(2_000), &stops);
    let (report, handlers) = desk.check();
    assert!(handlers.iter().skip(1).any(|handler| handler.counts.is_empty()));
    assert!(report.stages().any(|worker| *worker.outcome() == Outcome::Stopped));
}

fn a_state_per_key_survives_a_panic_with_a_restart<K: Kind>() {
    quiet_panics();
    let panics = hook(|counts, call| {
        if let Call::Event(trade) = call {
            assert!(trade.number % 7 != 3 || counts.restarts % 2 == 1, "{ON_PURPOSE}");
            counts.restarts = 0;
        }
        GO_ON
    });
    let stage = Stage::new("work").on_panic(Retries::with_restart());
    assert_eq!(run_four::<K>(stage, repeats(1_000), &panics).check().1.len(), 4);
}

fn assert_first_is_detached(report: &Report) {
    let first = report.stages().find(|worker| worker.name() == "work-0").unwrap();
    assert!(matches!(first.outcome(), Outcome::Detached { .. }), "{first:?}");
}

fn a_worker_that_a_policy_detaches_for_an_error_gives_its_states<K: Kind>() {
    let fails = hook(|counts, call| match call {
        Call::Event(trade) if counts.worker == 0 && trade.number == 5 => Err("no route"),
        _ => GO_ON,
    });
    let stage = Stage::new("work").on_error(Action::Stop);
    let (report, handlers) = run_four::<K>(stage, repeats(1_000).max(300), &fails).check();
    assert_first_is_detached(&report);
    assert!(handlers[0].counts.is_empty());
}

fn a_worker_that_panicked_does_not_give_its_states<K: Kind>() {
    quiet_panics();
    let lost = Arc::new(AtomicU64::new(0));
    let lose = Arc::clone(&lost);
    let panics = hook(move |counts, call| {
        // The keys of the first worker begin anew with their next worker.
        counts.may_begin_anew = true;
        if let Call::Event(Trade { number: 5, .. }) = call
            && counts.worker == 0
        {
            lose.store(counts.counts.values().sum(), Ordering::Relaxed);
            panic!("{ON_PURPOSE}");
        }
        GO_ON
    });
    let stage = Stage::new("work").on_panic(Action::Stop);
    let desk = run_four::<K>(stage, repeats(1_000).max(300), &panics);
    let published: u64 = desk.numbers.iter().sum();
    let (report, handlers) = desk.shut_down();
    assert_first_is_detached(&report);
    assert_eq!(handlers.len(), 3, "its handler is dropped");
    let lost = lost.load(Ordering::Relaxed);
    let counted: u64 = handlers.iter().flat_map(|handler| handler.counts.values()).sum();
    assert_eq!(counted + lost, published);
    assert!(lost > 0);
}

/// The worker is idle and asleep, with any strategy, when its keys move to others.
fn an_idle_worker_gives_its_states<K: Kind>() {
    for strategy in [Blocking { yields: 0 }, Blocking::default()] {
        let stage = Stage::new("work").wait_strategy(strategy);
        let mut desk = Desk::<K>::new(8, stage, (2, 2), &nothing());
        for round in 0..repeats(300) {
            desk.resize(1 + round as usize % 2);
            // For one worker; the other one only has state to give.
            desk.publish(round % KEYS);
            desk.wait_until_idle();
        }
        assert_eq!(desk.check().1.len(), 2);
    }
}

/// Two workers leave at the same time: the last one must keep what the first one gave.
fn the_last_worker_that_leaves_keeps_all_states<K: Kind>() {
    for _ in 0..repeats(100) {
        let mut desk = Desk::<K>::new(8, Stage::new("work"), (2, 2), &nothing());
        desk.publish_some(100, |_| {});
        desk.wait_until_idle();
        desk.stop(0);
        desk.stop(1);
        assert_eq!(desk.check().1.len(), 2);
    }
}

fn a_state_that_need_not_move_comes_back<K: Kind>() {
    let gives_all = hook(|counts, _| {
        counts.gives_all = true;
        GO_ON
    });
    let mut desk = Desk::<K>::new(8, Stage::new("work"), (1, 3), &gives_all);
    let mut sizes = (1..=3).cycle();
    desk.publish_some(repeats(2_000), |desk| desk.resize(sizes.next().unwrap()));
    assert_eq!(desk.check().1.len(), 3);
}

/// At a resize, and at the stop of a worker.
fn a_panic_of_give_or_take_halts_the_ring<K: Kind>() {
    quiet_panics();
    let panics_giving = || {
        hook(|_, call| {
            assert!(!matches!(call, Call::Give), "{ON_PURPOSE}");
            GO_ON
        })
    };
    let panics_taking = hook(|_, call| {
        assert!(!matches!(call, Call::Take), "{ON_PURPOSE}");
        GO_ON
    });
    let [grow, stop]: [fn(&Desk<K>); 2] = [|desk| desk.resize(2), |desk| desk.stop(0)];
    for (hook, act) in [(panics_giving(), grow), (panics_taking, grow), (panics_giving(), stop)] {
        let stage = Stage::new("work").on_panic(Action::Skip);
        let mut desk = Desk::<K>::new(64, stage, (1, 2), &hook);
        for account in 0..KEYS {
            desk.publish(account);
        }
        desk.wait_until_idle();
        act(&desk);
        while desk.producer.publish(|trade| *trade = Trade { account: 0, number: 1 }).is_ok() {}
        let report = desk.running.join().unwrap_err().into_report();
        let is_panic = |worker: &&StageReport| match worker.outcome() {
            Outcome::Panicked { message, .. } => message == ON_PURPOSE,
            _ => false,
        };
        assert_eq!(report.stages().filter(is_panic).count(), 1, "{report:?}");
    }
}

fn a_halt_while_keys_move_ends_all_workers<K: Kind>() {
    let [is_giving, is_free] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
    let (gives, free) = (Arc::clone(&is_giving), Arc::clone(&is_free));
    let waits = hook(move |_, call| {
        if matches!(call, Call::Give) {
            gives.store(true, Ordering::Release);
            wait_until(|| free.load(Ordering::Acquire));
        }
        GO_ON
    });
    let mut desk = Desk::<K>::new(64, Stage::new("work"), (1, 3), &waits);
    desk.publish(0);
    desk.wait_until_idle();
    desk.resize(3);
    desk.publish(0);
    wait_until(|| is_giving.load(Ordering::Acquire));
    desk.running.halt();
    is_free.store(true, Ordering::Release);
    let report = desk.running.join().unwrap_or_else(RunError::into_report);
    assert!(report.stages().all(|stage| *stage.outcome() == Outcome::Halted), "{report:?}");
}

fn a_give_that_would_wait_for_the_ring_gets_an_error<K: Kind>() {
    let (hand_over, producers) = mpsc::channel::<ProducerOf<Trade, K>>();
    let (tell, told) = mpsc::channel();
    let producers = Mutex::new(producers);
    let publishes = hook(move |counts, call| {
        counts.may_begin_anew = true;
        if matches!(call, Call::Give) {
            let mut producer = producers.lock().unwrap().recv().unwrap();
            let full = (0..9).find_map(|_| producer.publish(|trade| trade.number = 0).err());
            tell.send((full, producer)).unwrap();
        }
        GO_ON
    });
    let mut desk = Desk::<K>::new(4, Stage::new("work"), (1, 2), &publishes);
    desk.publish(0);
    desk.wait_until_idle();
    desk.resize(2);
    desk.publish(0);
    hand_over.send(desk.producer).unwrap();
    let (full, producer) = told.recv().unwrap();
    assert_eq!(full, Some(PublishError::WouldDeadlock));
    drop(producer);
    desk.running.shutdown().unwrap();
}

fn workers_without_keys_never_give_states<K: Kind>() {
    let calls = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&calls);
    let counts = hook(move |counts, call| {
        counts.may_begin_anew = true;
        count.fetch_add(u64::from(matches!(call, Call::Give | Call::Take)), Ordering::Relaxed);
        GO_ON
    });
    let (mut producer, consumers) = K::ring(8, Trade::default)
        .stage("work")
        .workers(1)
        .up_to(3)
        .write_keyed_handlers(|worker| Counts::new(worker, &counts))
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    for (size, account) in (1..=3).cycle().zip(0..300) {
        producer.publish(|trade| trade.account = account % KEYS).unwrap();
        running.workers("work").unwrap().resize(size).unwrap();
    }
    running.stop_handle("work-0").unwrap().stop();
    running.shutdown().unwrap();
    assert_eq!(calls.load(Ordering::Relaxed), 0);
}
