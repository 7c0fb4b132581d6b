//! How `proptest` draws programs. The first choice of each kind is the simplest: a failure shrinks
//! towards it.

use std::time::Duration;

use lapwing::producer::WhenFull;
use lapwing::{Action, MAX_FIRST_SEQUENCE};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::channels::{Channel, Kind, Receiving};
use super::event::LANES;
use super::producers::TIMEOUT;
use super::program::{
    Act, Call, Deed, End, Fate, Form, Guest, How, Pace, Patience, Pause, Place, Policy, Program,
    Repeat, Stage, Start, Threads, Verdict,
};
use super::waits::Strategy as Wait;

/// A pause of a thread, long enough that other threads park.
const SILENCE: Duration = Duration::from_micros(150);
/// Longest stall of a handler, pause between calls and silence between bursts in a long program.
const LONGEST_STALL: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_SILENCE: Duration = Duration::from_millis(50);
/// The pause of an action that has one.
const PAUSE: Duration = Duration::from_micros(20);
/// Number of calls of a producer in a ring where a thread spins: an event may take some time
/// slices.
const CALLS_BESIDE_SPINNING: usize = 6;

/// How many events a program has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Length {
    /// So few that each can be noted.
    Short,
    /// Any number: producers repeat their calls until a time is over.
    Long,
}

impl Length {
    /// `short`, or a number of any size up to two to the power of `power`.
    fn number(self, short: impl Strategy<Value = u64> + 'static, power: u32) -> BoxedStrategy<u64> {
        match self {
            Self::Short => short.boxed(),
            Self::Long => up_to(power).boxed(),
        }
    }

    /// How much more often than in a short program nothing special happens.
    fn calm(self) -> u32 {
        if self == Self::Short { 1 } else { 4 }
    }

    /// A pause in which other threads park; in a long program, of any length up to `most`.
    fn pause(self, most: Duration) -> BoxedStrategy<Duration> {
        match self {
            Self::Short => Just(SILENCE).boxed(),
            Self::Long => up_to_time(most).boxed(),
        }
    }
}

/// Numbers below two to the power of `power`. Those of each length in bits are as frequent.
fn up_to(power: u32) -> impl Strategy<Value = u64> {
    (0..power, any::<u64>()).prop_map(|(power, rest)| (1 << power) + rest % (1 << power) - 1)
}

/// Durations from 1 µs to `most`.
fn up_to_time(most: Duration) -> impl Strategy<Value = Duration> {
    log_uniform(Duration::from_micros(1), most)
}

/// Durations from `least` to `most`. Those of each power of ten are as frequent.
pub(super) fn log_uniform(least: Duration, most: Duration) -> impl Strategy<Value = Duration> {
    let [least_us, most_us] = [least, most].map(|time| time.as_micros() as f64);
    let exponent = least_us.ln()..most_us.ln();
    exponent.prop_map(|exponent| Duration::from_nanos((exponent.exp() * 1e3) as u64))
}

/// Programs with few events.
pub fn programs() -> impl Strategy<Value = Program> {
    programs_of(Length::Short)
}

/// Programs. A tuple shrinks from left to right, and not again: what depends on the number of
/// events comes before the events.
pub(super) fn programs_of(length: Length) -> impl Strategy<Value = Program> {
    let deed = (length.number(0..60_u64, 16).prop_map(|at| at as usize), deed(length));
    let during = (vec(deed, 0..10), end(), 0..3_usize, rarely(4));
    let graph = (vec(stage(length), 1..=5), rarely(4));
    let all = [Threads::PerStage, Threads::Count(1), Threads::Count(2), Threads::Automatic];
    let how = (select(all.to_vec()), rarely(5), any::<bool>(), wait(), wait());
    let producers = vec(calls(length), 1..=LANES);
    let capacity = capacity(length);
    let first = prop_oneof![6 => Just(0), 1 => 1..5_000_u64, 1 => Just(MAX_FIRST_SEQUENCE)];
    let ring = (any::<bool>(), producers, capacity, first);
    (during, graph, how, ring).prop_map(move |(during, (stages, clears), how, ring)| {
        let (deeds, end, dynamic_stages, is_monitored) = during;
        let (threads, by_hand, is_silent, wait, producer_wait) = how;
        let (is_multi, producers, capacity, first) = ring;
        let announces = !is_silent;
        let program = Program {
            capacity,
            first,
            is_multi,
            producers,
            stages,
            clears,
            threads,
            by_hand,
            announces,
            wait,
            producer_wait,
            dynamic_stages,
            is_monitored,
            deeds,
            end,
        };
        if length == Length::Short { tamed(program) } else { program }
    })
}

/// The program with more events per second: few stages that get batches, in rings that are not
/// small, and producers that publish batches without a pause.
pub(super) fn saturated(mut program: Program) -> Program {
    program.capacity = program.capacity.max(1 << 9);
    program.stages.truncate(2);
    for stage in &mut program.stages {
        stage.form = match stage.form {
            Form::Poller { .. } | Form::Workers { .. } => stage.form,
            _ => Form::BatchClosure { writes: stage.writes() },
        };
        (stage.max_batch, stage.pace.pause) = (None, Pause::None);
    }
    program.producers.truncate(2);
    for call in program.producers.iter_mut().flatten() {
        let Call { how, fate, .. } = *call;
        let how = match how {
            How::ClaimBatch(_) | How::ClaimUpTo(_) | How::PublishBatchOr(_) => how,
            _ => How::PublishBatch(Patience::Waits),
        };
        *call = Call { how, fate, count: 1 << 8, before: Pause::None };
    }
    program
}

fn capacity(length: Length) -> BoxedStrategy<usize> {
    let power = match length {
        Length::Short => prop_oneof![6 => 0..5_u32, 2 => 5..9_u32, 1 => 9..=12_u32].boxed(),
        Length::Long => (0..=16_u32).boxed(),
    };
    power.prop_map(|power| 1_usize << power).boxed()
}

/// The calls of a producer. Those of a long program are repeated: without a pause, in bursts, or
/// each after a pause.
fn calls(length: Length) -> BoxedStrategy<Vec<Call>> {
    let call = || call(length);
    if length == Length::Short {
        return prop_oneof![9 => vec(call(), 0..60), 1 => vec(call(), 60..300)].boxed();
    }
    let paused = |calls: Vec<Call>, time| {
        let before = Pause::Sleep(time);
        calls.into_iter().map(|call| Call { before, ..call }).collect::<Vec<_>>()
    };
    let burst = (vec(call(), 1..40), up_to_time(LONGEST_SILENCE)).prop_map(|(mut calls, time)| {
        calls[0].before = Pause::Sleep(time);
        calls
    });
    let trickle = (vec(call(), 1..4), up_to_time(LONGEST_PAUSE));
    let trickle = trickle.prop_map(move |(calls, time)| paused(calls, time));
    prop_oneof![6 => vec(call(), 1..12), 2 => burst, 1 => trickle].boxed()
}

/// Channels, with any number of values.
pub(super) fn channels() -> impl Strategy<Value = Channel> {
    let waits = (wait(), wait());
    let ends = (vec(calls(Length::Long), 1..=LANES), [receiving(), receiving()], any::<bool>());
    (select(Kind::ALL.to_vec()), capacity(Length::Long), waits, ends).prop_map(
        |(
            kind,
            capacity,
            (receiver_wait, sender_wait),
            (senders, receivers, ends_with_receivers),
        )| Channel {
            kind,
            capacity,
            receiver_wait,
            sender_wait,
            senders,
            receivers,
            ends_with_receivers,
        },
    )
}

fn receiving() -> impl Strategy<Value = Receiving> {
    let stalls = vec((up_to(16), up_to_time(LONGEST_STALL)), 0..4);
    let leaves_after = prop_oneof![2 => Just(None), 1 => up_to(12).prop_map(Some)];
    let last_stall = up_to_time(LONGEST_STALL);
    (stalls, leaves_after, last_stall).prop_map(|(mut stalls, leaves_after, last_stall)| {
        // Senders wait for it until it leaves.
        stalls.extend(leaves_after.map(|at| (at, last_stall)));
        Receiving { stalls, leaves_after }
    })
}

/// True in one of `of` cases.
fn rarely(of: u32) -> impl Strategy<Value = bool> {
    prop_oneof![of - 1 => Just(false), 1 => Just(true)]
}

/// The program with fewer calls if a thread spins.
fn tamed(mut program: Program) -> Program {
    let spins = |wait: &Wait| matches!(wait, Wait::BusySpin(_));
    let stages = program.stages.iter().filter_map(|stage| stage.wait.as_ref());
    if stages.chain([&program.wait, &program.producer_wait]).any(spins) {
        program.producers.iter_mut().for_each(|calls| calls.truncate(CALLS_BESIDE_SPINNING));
    }
    program
}

fn wait() -> impl Strategy<Value = Wait> {
    let mut all = Wait::all();
    let spins = all.pop().expect("there are several");
    prop_oneof![20 => select(all), 1 => Just(spins)]
}

// ---- producers ----

fn call(length: Length) -> impl Strategy<Value = Call> {
    let count = prop_oneof![8 => 1..5_usize, 2 => 5..64_usize, 1 => 64..=4096_usize];
    let before = prop_oneof![
        16 * length.calm() => Just(Pause::None),
        2 => Just(Pause::Yield),
        1 => Just(Pause::Sleep(SILENCE)),
    ];
    (how(), count, fate(length), before).prop_map(|(how, count, fate, before)| Call {
        how,
        count,
        fate,
        before,
    })
}

fn fate(length: Length) -> impl Strategy<Value = Fate> {
    prop_oneof![
        20 * length.calm() => Just(Fate::Publishes),
        2 => Just(Fate::GivesUp),
        1 => Just(Fate::Panics),
        1 => Just(Fate::Dies),
    ]
}

fn how() -> impl Strategy<Value = How> {
    let impatient = || select(vec![Patience::Tries, Patience::TimesOut]);
    let patience = || prop_oneof![4 => Just(Patience::Waits), 2 => impatient()];
    let when_full = || {
        select(vec![
            WhenFull::Wait,
            WhenFull::Refuse,
            WhenFull::DropNew,
            WhenFull::Timeout(TIMEOUT),
        ])
    };
    prop_oneof![
        8 => patience().prop_map(How::Publish),
        4 => patience().prop_map(How::PublishBatch),
        2 => patience().prop_map(How::Claim),
        2 => patience().prop_map(How::ClaimBatch),
        1 => patience().prop_map(How::ClaimUpTo),
        1 => when_full().prop_map(How::PublishOr),
        1 => when_full().prop_map(How::PublishBatchOr),
    ]
}

// ---- stages ----

fn stage(length: Length) -> impl Strategy<Value = Stage> {
    let max_batch = prop_oneof![2 => Just(None), 1 => (1..9_usize).prop_map(Some)];
    let wait = prop_oneof![2 => Just(None), 1 => wait().prop_map(Some)];
    let place = prop_oneof![
        6 => Just(Place::Free),
        1 => Just(Place::Blocking),
        2 => (0..2_u8).prop_map(Place::OnThread),
        3 => (0..2_u8).prop_map(Place::Group),
    ];
    let acts = prop_oneof![1 => vec(act(length), 0..1), 2 => vec(act(length), 0..4)];
    let graph = (any::<u8>(), any::<bool>(), any::<bool>());
    let without = if length == Length::Short { 9 } else { 3 };
    let tap = prop_oneof![without => Just(None), 1 => (0..=8_u32).prop_map(Some)];
    let settings = (pace(length), max_batch, wait, rarely(5), place, tap);
    (acts, policy(length), policy(length), form(length), settings, graph).prop_map(
        |(acts, on_error, on_panic, form, settings, graph)| {
            let (pace, max_batch, wait, has_timeout, place, tap) = settings;
            let (after, is_alone, takes_failed) = (u64::from(graph.0), graph.1, graph.2);
            Stage {
                after,
                is_alone,
                form,
                max_batch,
                wait,
                has_timeout,
                takes_failed,
                place,
                pace,
                on_error,
                on_panic,
                acts,
                tap,
            }
        },
    )
}

fn pace(length: Length) -> impl Strategy<Value = Pace> {
    let pause = prop_oneof![
        2 * length.calm().div_ceil(2) => Just(Pause::None),
        2 => Just(Pause::Yield),
        1 => Just(Pause::Sleep(SILENCE)),
    ];
    let every = if length == Length::Short { vec![2, 5, 8, 16] } else { vec![16, 64, 256, 4096] };
    (pause, select(every)).prop_map(|(pause, every)| Pace { pause, every })
}

fn form(length: Length) -> impl Strategy<Value = Form> {
    let leaves_after = length.number(0..80_u64, 20).prop_map(Some);
    let leaves_after = prop_oneof![3 => Just(None), 1 => leaves_after];
    let workers = (1..=4_usize, 1..=4_usize, any::<bool>(), any::<bool>());
    // Most of what can go wrong needs many events of a group.
    let often = if length == Length::Short { 4 } else { 8 };
    prop_oneof![
        5 => any::<[bool; 2]>()
            .prop_map(|[writes, is_local]| Form::Handler { writes, is_local }),
        3 => any::<bool>().prop_map(|writes| Form::Closure { writes }),
        2 => any::<bool>().prop_map(|writes| Form::BatchClosure { writes }),
        3 => any::<bool>().prop_map(|writes| Form::BatchHandler { writes }),
        1 => leaves_after.prop_map(|leaves_after| Form::Poller { leaves_after }),
        often => workers.prop_map(|(size, max, by_key, writes)| {
            Form::Workers { size: size.min(max), max, by_key, writes }
        }),
    ]
}

fn policy(length: Length) -> impl Strategy<Value = Policy> {
    let retries =
        (select(vec![Repeat::Event, Repeat::Batch, Repeat::WithRestart]), 1..4_u32, action(length));
    prop_oneof![
        1 => Just(Policy::None),
        3 * length.calm() => action(length).prop_map(Policy::Always),
        3 * length.calm() => retries.prop_map(|(repeat, attempts, or)| Policy::Retries { repeat, attempts, or }),
    ]
}

fn action(length: Length) -> impl Strategy<Value = Action> {
    let pause = || select(vec![Duration::ZERO, PAUSE]);
    let calm = length.calm().div_ceil(2);
    prop_oneof![
        2 * calm => Just(Action::Continue),
        4 * calm => Just(Action::ReleaseNow),
        5 * calm => Just(Action::Skip),
        3 * calm => pause().prop_map(Action::Retry),
        3 * calm => pause().prop_map(Action::Rewind),
        3 * calm => pause().prop_map(Action::Restart),
        1 => Just(Action::Stop),
        1 => Just(Action::SkipAndStop),
        1 => Just(Action::Halt),
    ]
}

fn act(length: Length) -> impl Strategy<Value = Act> {
    let at = length.number(prop_oneof![4 => 0..20_u64, 2 => 0..150_u64], 22);
    let verdict = prop_oneof![
        4 => action(length).prop_map(Verdict::Says),
        3 => length.pause(LONGEST_STALL).prop_map(Verdict::Sleeps),
        2 => Just(Verdict::Fails),
        1 => Just(Verdict::Panics),
    ];
    (at, 1..4_u32, verdict).prop_map(|(at, times, verdict)| Act { at, times, verdict })
}

// ---- what happens during the run ----

fn deed(length: Length) -> impl Strategy<Value = Deed> {
    let stop = (0..5_usize, 0..4_usize);
    let resize = (0..5_usize, 0..4_usize);
    prop_oneof![
        3 => guest(length).prop_map(Deed::Join),
        4 => resize.prop_map(|(stage, size)| Deed::Resize { stage, size }),
        1 => stop.prop_map(|(stage, worker)| Deed::Stop { stage, worker }),
        1 => Just(Deed::StopGuest),
    ]
}

fn guest(length: Length) -> impl Strategy<Value = Guest> {
    let start =
        prop_oneof![Just(Start::Now), Just(Start::Oldest), (0..20_u64).prop_map(Start::Back)];
    let leaves_after = length.number(0..40_u64, 16).prop_map(Some);
    let leaves_after = prop_oneof![1 => Just(None), 1 => leaves_after];
    let max_batch = prop_oneof![2 => Just(None), 1 => (1..9_usize).prop_map(Some)];
    let wait = prop_oneof![3 => Just(None), 1 => wait().prop_map(Some)];
    (start, any::<bool>(), leaves_after, max_batch, wait, any::<bool>()).prop_map(
        |(start, polls, leaves_after, max_batch, wait, is_beside)| Guest {
            start,
            polls,
            leaves_after,
            max_batch,
            wait,
            is_beside,
        },
    )
}

fn end() -> impl Strategy<Value = End> {
    prop_oneof![
        3 => Just(End::DropProducers),
        2 => (0..60_usize).prop_map(End::Shutdown),
        2 => (0..60_usize).prop_map(End::Close),
        1 => (0..60_usize).prop_map(End::Halt),
        1 => Just(End::Die),
    ]
}
