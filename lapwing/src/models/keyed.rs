//! Models of workers by key: they route events, handle them, leave them to each other, and change
//! their number.

use lapwing_core::memory::Reserved;
use loom::cell::UnsafeCell;
use loom::thread;

use super::workers::{read, ring_with, work, workers};
use super::{PARK, SLEEP, check, check_less, check_up_to, check_without_fences};
use crate::consumer::{Exclusive, SharedKeys, Source, StageReader, Worker};
use crate::error::PollError;
use crate::group::{Group, KeyTransfer, MovedKeys, Router};
use crate::sync::Arc;
use crate::wait::WaitStrategy;
use crate::{Sequence, SingleProducer};

/// A key of the first of two workers. If there is only one worker, it has every key.
const FIRST: u64 = 0;
/// A key of the second of two workers.
const SECOND: u64 = 1;

/// A ring with two workers by key, of which `size` are active, and a stage downstream of them. A
/// worker routes one event at a time.
fn by_key(size: usize) -> (SingleProducer<u64>, Worker<u64>, Worker<u64>, StageReader<u64>) {
    by_key_waiting(size, PARK)
}

/// The same with workers that wait as told.
fn by_key_waiting<W: WaitStrategy>(
    size: usize,
    wait: W,
) -> (SingleProducer<u64>, Worker<u64>, Worker<u64>, StageReader<u64>) {
    let (producer, [first, second], after) = several_by_key(size, wait);
    (producer, first, second, after)
}

/// The same with `COUNT` workers.
fn several_by_key<W: WaitStrategy, const COUNT: usize>(
    size: usize,
    wait: W,
) -> (SingleProducer<u64>, [Worker<u64>; COUNT], StageReader<u64>) {
    let owners = Reserved::reserve(4).unwrap();
    let (producer, ring, group, after) = ring_with(4, COUNT, W::PARKS, |control, words| {
        Group::new(control, words, size, Some(owners))
    });
    let keys: SharedKeys<u64> = std::sync::Arc::new(|event: &u64| *event);
    let workers = workers(&ring, &group, Some(keys), wait).try_into().ok().unwrap();
    (producer, workers, after)
}

fn publish(producer: &mut SingleProducer<u64>, keys: &[u64]) {
    for &key in keys {
        producer.publish(|event| *event = key).unwrap();
    }
}

/// O28, I12: an owner accesses its event only after the worker that read the event's key has
/// finished that.
#[test]
fn loom_a_key_is_read_before_its_event_is_handled() {
    check_without_fences(|| {
        let (mut producer, mut first, mut second, after) = by_key(2);
        publish(&mut producer, &[SECOND]);
        let owner = thread::spawn(move || {
            let seen = work(&mut second);
            (seen, second)
        });
        assert_eq!(work(&mut first), []);
        let (seen, second) = owner.join().unwrap();
        assert!(seen.iter().all(|&sequence| sequence == 0));
        drop((producer, first, second, after));
    });
}

/// O28: two workers route at once, and each event is routed once.
#[test]
fn loom_two_route_one_after_another() {
    check_without_fences(|| {
        let (mut producer, mut first, mut second, after) = by_key(2);
        publish(&mut producer, &[FIRST, FIRST]);
        let other = thread::spawn(move || {
            assert_eq!(work(&mut second), []);
            second
        });
        let mut seen = work(&mut first);
        seen.extend(work(&mut first));
        let second = other.join().unwrap();
        seen.extend(work(&mut first));
        seen.extend(work(&mut first));
        assert_eq!(seen, [0, 1]);
        drop((producer, first, second, after));
    });
}

/// O25: events that are routed to an idle worker hold back the stage downstream of the group.
#[test]
fn loom_a_worker_that_joins_by_key_holds_its_events() {
    check_without_fences(|| {
        let (mut producer, mut first, mut second, mut after) = by_key(1);
        publish(&mut producer, &[SECOND]);
        first.group().resize(2);
        let reader = thread::spawn(move || (read(&mut after), after));
        let events = second.poll().unwrap();
        assert_eq!(work(&mut first), []); // skips it
        second.release(events.end);
        let (mut seen, mut after) = reader.join().unwrap();
        seen.extend(read(&mut after));
        assert_eq!(seen, [0]);
        drop((producer, first, second));
    });
}

/// O25: a worker that is no longer in the team holds nothing back, even if it polls while the team
/// changes.
#[test]
fn loom_a_worker_out_of_the_team_holds_nothing_back() {
    check_without_fences(|| {
        let (mut producer, mut first, mut second, mut after) = by_key(2);
        publish(&mut producer, &[FIRST]);
        assert_eq!(work(&mut first), [0]);
        assert_eq!(work(&mut second), []); // skips it
        first.group().resize(1);
        publish(&mut producer, &[FIRST]);
        let poller = thread::spawn(move || {
            assert_eq!(work(&mut second), []);
            second
        });
        let mut seen = work(&mut first);
        let second = poller.join().unwrap();
        publish(&mut producer, &[FIRST]);
        while seen.len() < 2 {
            seen.extend(work(&mut first));
        }
        assert_eq!(seen, [1, 2]);
        assert_eq!(read(&mut after), [0, 1, 2]);
        drop((producer, first, second));
    });
}

/// O28: the work of a key's next owner happens after all work of the previous one.
#[test]
fn loom_resize_by_key_keeps_the_order() {
    check_without_fences(|| {
        let (mut producer, mut first, mut second, after) = by_key(1);
        publish(&mut producer, &[SECOND, SECOND]);
        assert_eq!(first.poll().unwrap(), 0..1);
        first.group().resize(2);
        // The state that a handler keeps for its key, wherever that is.
        let state = Arc::new(UnsafeCell::new(0));
        let of_second = Arc::clone(&state);
        let joiner = thread::spawn(move || {
            if let Ok(events) = second.poll() {
                assert_eq!(events, 1..2);
                of_second.with(|_| ());
            }
            second
        });
        state.with_mut(|_| ());
        first.release(1);
        let second = joiner.join().unwrap();
        drop((producer, first, second, after));
    });
}

/// O6: a worker parks until its event is published and routed, by itself or by the other worker,
/// which does nothing afterwards.
#[test]
fn loom_park_until_a_key_is_routed() {
    check_less(|| {
        let (mut producer, mut first, mut second, after) = by_key(2);
        publish(&mut producer, &[FIRST]);
        let owner = thread::spawn(move || {
            assert_eq!(second.wait(None).unwrap(), 1..2);
            second
        });
        publish(&mut producer, &[SECOND]);
        assert_eq!(first.wait(None).unwrap(), 0..1);
        let second = owner.join().unwrap();
        drop((producer, first, second, after));
    });
}

/// O7: a worker by key that is parked learns that the ring is closed.
#[test]
fn loom_close_against_a_parked_worker_by_key() {
    check(|| {
        let (producer, first, mut second, after) = by_key(2);
        let closer = thread::spawn(move || drop(producer));
        assert!(second.wait(None).is_err());
        closer.join().unwrap();
        drop((first, second, after));
    });
}

/// O26 and O7: a worker routes an event to another one without having seen that the other is no
/// longer active. The other must not stay parked, since no other worker may take its event.
#[test]
fn loom_a_worker_that_goes_to_sleep_is_routed_to() {
    check_less(|| {
        let (mut producer, mut first, mut second, after) = by_key(2);
        publish(&mut producer, &[SECOND]);
        let group = Arc::clone(first.group());
        let sleeper = thread::spawn(move || {
            group.resize(1);
            (second.wait(None).ok(), second)
        });
        let of_first = work(&mut first);
        if !of_first.is_empty() {
            // There is no event for the other worker.
            producer.close();
        }
        let (of_second, second) = sleeper.join().unwrap();
        assert_eq!(of_first.is_empty(), of_second == Some(0..1));
        drop((producer, first, second, after));
    });
}

/// O26 and O7: the same where no thread checks for parked ones. An inactive worker parks there as
/// well.
#[test]
fn loom_a_worker_that_goes_to_sleep_unseen_is_routed_to() {
    // A resize wakes all threads, which takes many steps.
    check_up_to(1, || {
        let (mut producer, mut first, second, after) = by_key_waiting(2, SLEEP);
        publish(&mut producer, &[SECOND]);
        let group = Arc::clone(first.group());
        let sleeper = thread::spawn(move || {
            group.resize(1);
            group.sleep_until_wanted(1);
        });
        if !work(&mut first).is_empty() {
            // There is no event for the other worker.
            first.group().resize(2);
        }
        sleeper.join().unwrap();
        drop((producer, first, second, after));
    });
}

/// O26 and O27: a worker took over an idle word and is no longer active. A router that has not seen
/// that the former owner left may still route events to this word.
#[test]
fn loom_a_worker_is_routed_to_by_a_word_that_it_took_over() {
    // A resize and a leave wake all threads, which takes many steps.
    check_up_to(1, || {
        let (producer, [mut leaver, mut router, mut heir], after) = several_by_key(2, PARK);
        let mut producer = Some(producer);
        publish(producer.as_mut().unwrap(), &[FIRST]);
        let other = thread::spawn(move || {
            leaver.leave();
            let mut seen = work(&mut heir);
            if heir.group().claimed() == 0 {
                heir.group().resize(1);
                seen.extend(heir.wait(None).into_iter().flatten());
            }
            (seen, leaver, heir)
        });
        let mut seen = work(&mut router);
        if !seen.is_empty() {
            // There is no event for the other worker.
            drop(producer.take());
        }
        let (of_heir, leaver, heir) = other.join().unwrap();
        seen.extend(of_heir);
        if seen.is_empty() {
            // The heir has routed the event.
            seen.extend(work(&mut router));
        }
        assert_eq!(seen, [0]);
        drop((producer, leaver, router, heir, after));
    });
}

/// O26 and O27: events that are routed to a worker that leaves are handled by one that is parked.
#[test]
fn loom_a_worker_takes_over_what_was_routed_to_another() {
    check_less(|| {
        let (mut producer, mut first, mut second, after) = by_key(2);
        publish(&mut producer, &[FIRST]);
        let events = first.poll().unwrap();
        let leaver = thread::spawn(move || {
            let _ = Source::events::<Exclusive>(&mut first, events);
            first.leave();
            first
        });
        let events = second.wait(None).unwrap();
        assert_eq!(events, 0..1);
        second.release(events.end);
        let first = leaver.join().unwrap();
        drop((producer, first, second, after));
    });
}

/// O6: in a closed ring, a worker waits for the event of the other one. It may have to route that
/// event, and the other one leaves it behind.
#[test]
fn loom_workers_by_key_drain_a_closed_ring() {
    check_less(|| {
        let (mut producer, mut first, mut second, after) = by_key(2);
        publish(&mut producer, &[FIRST]);
        drop(producer);
        let drain = |worker: &mut Worker<u64>| {
            let mut seen = Vec::new();
            while let Ok(events) = worker.wait(None) {
                worker.release(events.end);
                seen.extend(events);
            }
            seen
        };
        let owner = thread::spawn(move || {
            // It leaves with its first event unfinished.
            let has_left = first.wait(None).is_ok() && !first.leave();
            (has_left, first)
        });
        let seen = drain(&mut second);
        let (has_left, first) = owner.join().unwrap();
        assert!(has_left);
        assert_eq!(seen, [0]);
        drop((first, second, after));
    });
}

/// Workers by key that hand over their state of keys. One of them is active, and has handled an
/// event with a key of the second of two workers.
fn handing_over<const COUNT: usize>()
-> (SingleProducer<u64>, [Worker<u64>; COUNT], StageReader<u64>) {
    handing_over_waiting(PARK)
}

/// The same with workers that wait as told.
fn handing_over_waiting<W: WaitStrategy, const COUNT: usize>(
    wait: W,
) -> (SingleProducer<u64>, [Worker<u64>; COUNT], StageReader<u64>) {
    let owners = Reserved::reserve(4).unwrap();
    let (mut producer, ring, group, after) = ring_with(4, COUNT, W::PARKS, |control, words| {
        Group::new(control, words, 1, Some(owners)).handing_over()
    });
    let keys: SharedKeys<u64> = std::sync::Arc::new(|event: &u64| *event);
    let mut workers: [_; COUNT] = workers(&ring, &group, Some(keys), wait).try_into().ok().unwrap();
    publish(&mut producer, &[SECOND]);
    assert_eq!(work(&mut workers[0]), [0]);
    (producer, workers, after)
}

/// The state of the second key in a handler, as it is handed from one worker to another.
struct Known {
    state: Arc<UnsafeCell<u64>>,
    has_it: bool,
}

impl KeyTransfer for Known {
    fn give(&mut self, moved: &MovedKeys) -> u64 {
        assert!(moved.contains(SECOND));
        if !std::mem::take(&mut self.has_it) {
            return 0;
        }
        self.state.with_mut(|_| ());
        1 << moved.destination(SECOND)
    }

    fn take(&mut self, _: usize) {
        self.state.with(|_| ());
        self.has_it = true;
    }
}

/// Returns the transfers of the first worker, which has the state, and of the second, which does
/// not.
fn known() -> (Known, Known) {
    let state = Arc::new(UnsafeCell::new(0));
    let known = |has_it| Known { state: Arc::clone(&state), has_it };
    (known(true), known(false))
}

/// Hands over state if there is any to hand over, then handles what one poll finds.
fn step(worker: &mut Worker<u64>, known: &mut Known) -> Vec<Sequence> {
    if worker.has_transfer() {
        worker.hand_over(known, false);
    }
    let seen = work(worker);
    assert!(seen.is_empty() || known.has_it, "an event came before the state of its key");
    seen
}

/// Two workers of which the first has begun to move keys to the second. An event of the second is
/// published, and not routed until the first has given the state of its keys.
fn moving() -> (SingleProducer<u64>, [Worker<u64>; 2], StageReader<u64>) {
    let (mut producer, [mut first, second], after) = handing_over();
    first.group().resize(2);
    publish(&mut producer, &[SECOND]);
    assert_eq!(work(&mut first), [], "the keys begin to move");
    (producer, [first, second], after)
}

/// O36: the state of a key reaches its next owner before the first event of that key does.
#[test]
fn loom_what_is_known_of_a_key_comes_before_its_event() {
    check_without_fences(|| {
        let (producer, [mut first, mut second], after) = moving();
        let (mut of_first, mut of_second) = known();
        let taker = thread::spawn(move || {
            let mut seen = step(&mut second, &mut of_second);
            seen.extend(step(&mut second, &mut of_second));
            (seen, second)
        });
        assert_eq!(step(&mut first, &mut of_first), []);
        let (seen, second) = taker.join().unwrap();
        assert!(seen.iter().all(|&sequence| sequence == 1));
        drop((producer, first, second, after));
    });
}

/// O36: keys that have moved to another worker move again.
#[test]
fn loom_keys_move_back() {
    check_without_fences(|| {
        let (mut producer, [mut first, mut second], after) = moving();
        let (mut of_first, mut of_second) = known();
        let giver = thread::spawn(move || {
            first.hand_over(&mut of_first, false);
            first
        });
        let mut seen = step(&mut second, &mut of_second);
        let mut first = giver.join().unwrap();
        (0..2).for_each(|_| seen.extend(step(&mut second, &mut of_second)));
        assert_eq!((seen, work(&mut first)), (vec![1], vec![]));
        first.group().resize(1);
        publish(&mut producer, &[SECOND]);
        assert_eq!(work(&mut first), []);
        assert!(second.has_transfer(), "the keys begin to move back");
        drop((producer, first, second, after));
    });
}

/// Whether a worker has the state of the second key, which it gives whenever the key is another's.
struct Has(bool);

impl KeyTransfer for Has {
    fn give(&mut self, moved: &MovedKeys) -> u64 {
        let gives = moved.contains(SECOND) && std::mem::take(&mut self.0);
        if gives { 1 << moved.destination(SECOND) } else { 0 }
    }

    fn take(&mut self, _: usize) {
        self.0 = true;
    }
}

/// O36: a key moves on before its new owner has taken the state. The owner takes it, then gives it.
#[test]
fn loom_a_worker_gives_what_it_has_not_taken_yet() {
    check_without_fences(|| {
        let (producer, [mut first, mut second], after) = moving();
        let (mut of_first, mut of_second) = (Has(true), Has(false));
        first.hand_over(&mut of_first, false);
        let group = Arc::clone(first.group());
        let routes = group.routes.as_ref().unwrap();
        let router = Router::new(&group, routes, 0);
        assert!(router.is_some(), "the team changes, and no event is routed to it");
        drop(router);
        group.resize(1);
        assert!(Router::new(&group, routes, 0).is_none(), "the keys begin to move back");
        second.hand_over(&mut of_second, false);
        first.hand_over(&mut of_first, false);
        assert!(of_first.0 && !of_second.0);
        drop((producer, first, second, after));
    });
}

/// O36: a worker polls while another one begins to move keys. It gives their state to their next
/// owners.
#[test]
fn loom_a_worker_polls_as_keys_begin_to_move() {
    check_without_fences(|| {
        let (mut producer, [mut first, mut second], after) = handing_over();
        first.group().resize(2);
        publish(&mut producer, &[SECOND]);
        let (mut of_first, _) = known();
        let giver = thread::spawn(move || {
            if first.has_transfer() {
                first.hand_over(&mut of_first, false);
                assert!(!of_first.has_it);
            }
            first
        });
        assert_eq!(work(&mut second), [], "the keys begin to move");
        drop((producer, giver.join().unwrap(), second, after));
    });
}

/// O36 and O7: a worker that sleeps without a mark is woken to give its state. No event would wake
/// it, and none is routed until it has given.
#[test]
fn loom_a_worker_that_sleeps_gives_its_state() {
    check_less(|| {
        let (mut producer, [mut first, mut second], after) = handing_over_waiting(SLEEP);
        first.group().resize(2);
        let (mut of_first, _) = known();
        let giver = thread::spawn(move || {
            assert_eq!(first.wait(None), Err(PollError::Empty));
            first.hand_over(&mut of_first, false);
            assert!(!of_first.has_it);
            first
        });
        publish(&mut producer, &[SECOND]);
        work(&mut second);
        drop((producer, giver.join().unwrap(), second, after));
    });
}

/// O36: the state that a worker gets is not lost if the ring is drained just then.
#[test]
fn loom_keys_move_as_the_ring_is_drained() {
    check_without_fences(|| {
        let (mut producer, [mut first, mut second], after) = handing_over();
        first.group().resize(2);
        publish(&mut producer, &[FIRST]);
        producer.close();
        assert_eq!(work(&mut first), [], "the keys begin to move");
        let (mut of_first, mut of_second) = known();
        let taker = thread::spawn(move || {
            loop {
                match second.poll() {
                    Err(PollError::Closed) => return (of_second.has_it, second),
                    _ if second.has_transfer() => second.hand_over(&mut of_second, false),
                    _ => thread::yield_now(),
                }
            }
        });
        first.hand_over(&mut of_first, false);
        while work(&mut first).is_empty() {
            thread::yield_now(); // the other one is routing
        }
        let (has_second, second) = taker.join().unwrap();
        assert!(has_second);
        drop((producer, first, second, after));
    });
}

/// O36 and O27: the state of a worker that leaves reaches the worker that takes its events over.
#[test]
fn loom_what_a_worker_knew_is_taken_over_before_its_events() {
    check_without_fences(|| {
        let (mut producer, [mut first, mut second], after) = handing_over();
        publish(&mut producer, &[SECOND]);
        assert_eq!(first.poll().unwrap(), 1..2);
        let (mut of_first, mut of_second) = known();
        let leaver = thread::spawn(move || {
            first.hand_over(&mut of_first, true);
            first.leave();
            first
        });
        let mut seen = step(&mut second, &mut of_second);
        seen.extend(step(&mut second, &mut of_second));
        let first = leaver.join().unwrap();
        assert!(seen.iter().all(|&sequence| sequence == 1));
        drop((producer, first, second, after));
    });
}

/// O36: a worker that leaves while keys move gives the state of those that are for others. They get
/// it before any worker takes over what it left.
#[test]
fn loom_a_worker_that_leaves_does_not_delay_a_move() {
    check_without_fences(|| {
        let (producer, [mut first, mut second], after) = moving();
        let (mut of_first, mut of_second) = known();
        let leaver = thread::spawn(move || {
            first.hand_over(&mut of_first, true);
            first
        });
        let mut seen = step(&mut second, &mut of_second);
        let first = leaver.join().unwrap();
        (0..2).for_each(|_| seen.extend(step(&mut second, &mut of_second)));
        assert_eq!(seen, [1]);
        drop((producer, first, second, after));
    });
}

/// O36: a worker that leaves just after the team has changed gives its state by the new team.
#[test]
fn loom_a_worker_that_leaves_gives_by_the_team_that_it_is_in() {
    check_without_fences(|| {
        let (mut producer, [mut first, mut second, mut third], after) = handing_over();
        let group = Arc::clone(first.group());
        group.resize(3);
        publish(&mut producer, &[FIRST]);
        assert_eq!(work(&mut first), [], "the keys begin to move");
        second.leave();
        let words = [group.word_of(0), group.word_of(1)];
        assert_eq!(group.take_over().unwrap().word, words[1]);
        let router = thread::spawn(move || {
            assert_eq!(work(&mut third), []);
            third
        });
        let (mut of_first, _) = known();
        of_first.has_it = false;
        group.hand_over(&words[..1], &mut of_first);
        group.hand_all_over(&words, &mut Destination);
        let third = router.join().unwrap();
        drop((producer, first, second, third, after));
    });
}

/// Expects that the state of the second key goes to the second worker.
struct Destination;

impl KeyTransfer for Destination {
    fn give(&mut self, moved: &MovedKeys) -> u64 {
        assert_eq!(moved.destination(SECOND), 1);
        0
    }

    fn take(&mut self, _: usize) {}
}

/// O6: a worker parks until another one, which does nothing afterwards, has given its state.
#[test]
fn loom_park_until_keys_are_given() {
    check_less(|| {
        let (producer, [mut first, mut second], after) = moving();
        let (mut of_first, mut of_second) = known();
        let taker = thread::spawn(move || {
            while let Err(error) = second.wait(None) {
                assert_eq!(error, PollError::Empty);
                second.hand_over(&mut of_second, false);
            }
            assert!(of_second.has_it);
            second
        });
        first.hand_over(&mut of_first, false);
        let second = taker.join().unwrap();
        drop((producer, first, second, after));
    });
}

/// Lets the first worker leave with all its state, while the second one, which first calls
/// `before`, waits for the end of the ring. One of them must have the state.
fn leave_beside_the_last(workers: [Worker<u64>; 2], before: impl FnOnce() + Send + 'static) {
    let [mut first, mut second] = workers;
    let (mut of_first, mut of_second) = known();
    let last = thread::spawn(move || {
        before();
        while let Err(PollError::Empty) = second.wait(None) {
            second.hand_over(&mut of_second, false);
        }
        (of_second.has_it, second)
    });
    first.hand_over(&mut of_first, true);
    assert!(!first.leave());
    first.take_back(&mut of_first);
    let (has_second, second) = last.join().unwrap();
    assert!(of_first.has_it != has_second, "one of them has it");
    drop((first, second));
}

/// O37: the state of a worker that leaves at the end of the ring stays with it or reaches the last
/// worker.
#[test]
fn loom_what_a_worker_knew_is_not_lost_at_the_end() {
    // A close and a leave wake all threads, which takes many steps.
    check_up_to(1, || {
        let (producer, workers, after) = handing_over();
        workers[0].group().resize(2);
        leave_beside_the_last(workers, move || drop(producer));
        drop(after);
    });
}

/// O37: the last worker to end sees the state that another one left and that no event needed.
#[test]
fn loom_what_a_worker_knew_is_with_the_last_one() {
    check_up_to(1, || {
        let (producer, [mut first, mut second], after) = handing_over();
        first.group().resize(2);
        let (mut of_first, mut of_second) = known();
        let last = thread::spawn(move || {
            while let Err(PollError::Empty) = second.wait(None) {
                second.hand_over(&mut of_second, false);
            }
            (of_second.has_it, second)
        });
        first.hand_over(&mut of_first, true);
        assert!(!first.leave());
        first.take_back(&mut of_first);
        assert!(!of_first.has_it, "the ring is open");
        drop(producer);
        let (has_second, second) = last.join().unwrap();
        assert!(has_second);
        drop((first, second, after));
    });
}

/// O37: of two workers that leave at the same time, one has the state of the other.
#[test]
fn loom_what_a_worker_knew_is_with_the_last_that_leaves() {
    check_up_to(1, || {
        let (producer, [mut first, mut second], after) = handing_over();
        first.group().resize(2);
        let (mut of_first, mut of_second) = known();
        let other = thread::spawn(move || {
            second.hand_over(&mut of_second, true);
            second.leave();
            second.take_back(&mut of_second);
            (of_second.has_it, second)
        });
        first.hand_over(&mut of_first, true);
        first.leave();
        first.take_back(&mut of_first);
        let (has_second, second) = other.join().unwrap();
        assert!(of_first.has_it != has_second, "one of them has it");
        drop((producer, first, second, after));
    });
}

/// O37: in a drained ring, a worker that has left and one that ends compete for the state that the
/// first one left with its own word. The one that takes the word over gets the state.
#[test]
fn loom_what_a_worker_knew_is_with_one_of_two_at_the_end() {
    check_up_to(1, || {
        let (producer, workers, after) = handing_over();
        drop(producer);
        leave_beside_the_last(workers, || {});
        drop(after);
    });
}
