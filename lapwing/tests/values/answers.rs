//! Tests what each call of a sender and of a receiver answers in each state of a channel, and which
//! values it gives back. The calls are those of `ends`; a state is a line of `STATES`. Each is tried
//! with one receiver, and with two that each get all values.

use std::ops::Range;
use std::thread;
use std::time::Instant;

use crate::common::{MOMENT, repeats};
use crate::ends::{Any, Call, Channels, ReceiveCall, SendCall, SenderOf, receives, sends};

crate::common::for_both_producers! {
    each_call_of_a_sender_answers_by_the_state_of_the_channel,
    each_call_of_a_receiver_answers_by_the_state_of_the_channel,
    a_blocked_sender_is_woken_when_the_slowest_receiver_goes,
    a_blocked_receiver_is_woken_by_a_value_and_when_the_sender_goes,
}

pub(crate) const CAPACITY: u64 = 4;

/// How many values were sent, how many of them the slowest receiver has received, and whether the
/// other end has gone. A second receiver has received all.
#[derive(Debug, Clone, Copy)]
pub(crate) struct State {
    pub(crate) sent: u64,
    pub(crate) received: u64,
    is_alone: bool,
}

const fn state(sent: u64, received: u64, is_alone: bool) -> State {
    State { sent, received, is_alone }
}

const STATES: [State; 12] = [
    state(0, 0, false),
    state(1, 0, false),
    state(3, 0, false),
    state(4, 0, false),
    state(6, 3, false),
    state(7, 3, false),
    state(6, 6, false),
    state(0, 0, true),
    state(3, 1, true),
    state(4, 0, true),
    state(7, 3, true),
    state(6, 6, true),
];

/// Returns each state of a channel with one receiver, and with two.
pub(crate) fn states() -> impl Iterator<Item = (State, bool)> {
    let states = STATES.into_iter().step_by(if cfg!(miri) { 3 } else { 1 });
    states.flat_map(|state| [(state, false), (state, true)])
}

impl State {
    /// Opens a channel in this state, with both ends. Its values are the numbers from 0 on.
    pub(crate) fn open<K: Channels>(self, is_shared: bool) -> (SenderOf<u64, K>, Vec<Any>) {
        let (mut sender, mut receivers) = K::open_any(CAPACITY as usize, is_shared);
        for value in 0..self.sent {
            assert_eq!(sender.try_send(value), Ok(()));
            for (number, receiver) in receivers.iter_mut().enumerate() {
                if number > 0 || value < self.received {
                    assert_eq!(receive(receiver), Ok(vec![value]));
                }
            }
        }
        (sender, receivers)
    }

    fn free(self) -> u64 {
        CAPACITY - (self.sent - self.received)
    }
}

/// Waits for one value.
pub(crate) fn receive(receiver: &mut Any) -> Result<Vec<u64>, String> {
    (receives()[0].make)(receiver)
}

/// Expects that `receiver` gets exactly `values`, and that then no sender is left.
fn assert_left(mut receiver: Any, values: Range<u64>, case: &str) {
    for value in values {
        assert_eq!(receive(&mut receiver), Ok(vec![value]), "{case}");
    }
    for call in receives() {
        let error = Err(call.when_alone.to_owned());
        assert_eq!((call.make)(&mut receiver), error, "{case}: {}", call.name);
    }
}

/// Makes the call in that state. Checks its error, the values that it gives back, and those that
/// the receivers then get.
fn check_send<K: Channels>(call: &Call<SendCall<K::Sequencer>>, state: State, is_shared: bool) {
    let case = format!("{} {} {state:?} is_shared={is_shared}", call.name, call.count);
    let (mut sender, mut receivers) = state.open::<K>(is_shared);
    assert!(!sender.is_disconnected());
    if state.is_alone {
        receivers.clear();
        assert!(sender.is_disconnected());
    }
    let end = state.sent + call.count;
    let mut values: Vec<u64> = (state.sent..end).collect();
    let is_blocked = call.count > state.free();
    let (error, sent) = match call.when_blocked {
        _ if call.count == 0 => (None, 0),
        _ if state.is_alone => (Some(call.when_alone), 0),
        Some(error) if is_blocked => (Some(error), state.free()),
        _ => (None, call.count),
    };
    let waits = is_blocked && sent == call.count;
    let left = state.sent + sent..end;
    let begin = Instant::now();
    thread::scope(|scope| {
        let sending = scope.spawn(move || ((call.make)(&mut sender, &mut values), values));
        let (refused, values) = if waits {
            for (receiver, received) in receivers.into_iter().zip([state.received, state.sent]) {
                scope.spawn(move || assert_left(receiver, received..end, "while it waits"));
            }
            sending.join().unwrap()
        } else {
            let answer = sending.join().unwrap();
            for (receiver, received) in receivers.into_iter().zip([state.received, state.sent]) {
                assert_left(receiver, received..left.start, &case);
            }
            answer
        };
        assert_eq!((refused.as_deref(), values), (error, left.collect()), "{case}");
    });
    let is_timed = error == Some("the channel stayed full until the timeout")
        && call.name.ends_with("a moment");
    assert!(!is_timed || begin.elapsed() >= MOMENT, "{case}");
}

fn each_call_of_a_sender_answers_by_the_state_of_the_channel<K: Channels>() {
    for (state, is_shared) in states() {
        sends().iter().for_each(|call| check_send::<K>(call, state, is_shared));
    }
}

/// Makes the call of the slowest receiver, unless it waits. Checks what it returns, and that what
/// was received has freed its slots, and nothing else has.
fn check_receive<K: Channels>(call: &Call<ReceiveCall>, state: State, is_shared: bool) {
    let case = format!("{} {state:?} is_shared={is_shared}", call.name);
    let to_wrap = CAPACITY - state.received % CAPACITY;
    let len = (state.sent - state.received).min(to_wrap).min(call.count);
    let error = if state.is_alone { Some(call.when_alone) } else { call.when_blocked };
    let received = state.received + len;
    let expected = match error {
        _ if len > 0 => Ok((state.received..received).collect()),
        Some(error) => Err(error.to_owned()),
        None => return,
    };
    let (sender, mut receivers) = state.open::<K>(is_shared);
    let mut sender = Some(sender).filter(|_| !state.is_alone);
    let begin = Instant::now();
    assert_eq!((call.make)(&mut receivers[0]), expected, "{case}");
    let is_timed = error == Some("the channel stayed empty until the timeout")
        && len == 0
        && call.name.ends_with("a moment");
    assert!(!is_timed || begin.elapsed() >= MOMENT, "{case}");
    let mut end = state.sent;
    if let Some(sender) = &mut sender {
        while sender.try_send(end).is_ok() {
            end += 1;
        }
        assert_eq!(end, received + CAPACITY, "{case}");
    }
    drop(sender);
    for (receiver, received) in receivers.into_iter().zip([received, state.sent]) {
        assert_left(receiver, received..end, &case);
    }
}

fn each_call_of_a_receiver_answers_by_the_state_of_the_channel<K: Channels>() {
    for (state, is_shared) in states() {
        receives().iter().for_each(|call| check_receive::<K>(call, state, is_shared));
    }
}

/// If another receiver stays, the call goes on.
fn a_blocked_sender_is_woken_when_the_slowest_receiver_goes<K: Channels>() {
    for (is_shared, is_last) in [(false, true), (true, true), (true, false)] {
        let calls = sends().into_iter().filter(|c| c.count == 1 && c.when_blocked.is_none());
        let calls: Vec<_> = calls.collect();
        for call in calls.iter().cycle().take(repeats(500) as usize) {
            let (mut sender, mut receivers) = K::open_any(1, is_shared);
            sender.send(1).unwrap();
            let slow = receivers.remove(0);
            let mut stays = receivers.pop();
            let fast = stays.as_mut().map(receive);
            assert!(fast.is_none_or(|received| received == Ok(vec![1])));
            let stays = stays.filter(|_| !is_last);
            thread::scope(|scope| {
                let mut values = vec![2];
                let blocked = scope.spawn(move || ((call.make)(&mut sender, &mut values), values));
                drop(slow);
                let gone = (Some(call.when_alone.to_owned()), vec![2]);
                let expected = if is_last { gone } else { (None, vec![]) };
                assert_eq!(blocked.join().unwrap(), expected, "{}", call.name);
            });
            if let Some(receiver) = stays {
                assert_left(receiver, 2..3, "the one that stays");
            }
        }
    }
}

fn a_blocked_receiver_is_woken_by_a_value_and_when_the_sender_goes<K: Channels>() {
    for (is_shared, has_value) in [(false, true), (true, true), (false, false), (true, false)] {
        let calls: Vec<_> =
            receives().into_iter().filter(|call| call.when_blocked.is_none()).collect();
        for call in calls.iter().cycle().take(repeats(500) as usize) {
            let (mut sender, receivers) = K::open_any(1, is_shared);
            thread::scope(|scope| {
                let block = |mut receiver| scope.spawn(move || (call.make)(&mut receiver));
                let blocked: Vec<_> = receivers.into_iter().map(block).collect();
                if has_value {
                    sender.send(7).unwrap();
                }
                drop(sender);
                let alone = Err(call.when_alone.to_owned());
                let expected = if has_value { Ok(vec![7]) } else { alone };
                for thread in blocked {
                    assert_eq!(thread.join().unwrap(), expected, "{}", call.name);
                }
            });
        }
    }
}
