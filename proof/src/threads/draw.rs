//! How `proptest` draws programs. The first choice of each kind is the simplest: a failure shrinks
//! towards it.

use std::time::Duration;

use lapwing::producer::WhenFull;
use lapwing::{Action, MAX_FIRST_SEQUENCE};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::producers::TIMEOUT;
use super::program::{
    Act, Call, Deed, End, Form, Guest, How, Pace, Patience, Pause, Place, Policy, Program, Repeat,
    Stage, Start, Threads, Verdict,
};
use super::waits::Strategy as Wait;

/// The pause of an action that has one.
const PAUSE: Duration = Duration::from_micros(20);
/// Number of calls of a producer in a ring where a thread spins: an event may take some time
/// slices.
const CALLS_BESIDE_SPINNING: usize = 6;

/// Programs. A tuple shrinks from left to right, and not again: what depends on the number of
/// events comes before the events.
pub fn programs() -> impl Strategy<Value = Program> {
    let during = (vec((0..60_usize, deed()), 0..10), end(), 0..3_usize, rarely(4));
    let graph = (vec(stage(), 1..=5), rarely(4));
    let all = [Threads::PerStage, Threads::Count(1), Threads::Count(2), Threads::Automatic];
    let how = (select(all.to_vec()), rarely(5), any::<bool>(), wait(), wait());
    let producers = vec(prop_oneof![9 => vec(call(), 0..60), 1 => vec(call(), 60..300)], 1..=4);
    let capacity = prop_oneof![6 => 0..5_u32, 2 => 5..9_u32, 1 => 9..=12_u32];
    let capacity = capacity.prop_map(|power| 1_usize << power);
    let first = prop_oneof![6 => Just(0), 1 => 1..5_000_u64, 1 => Just(MAX_FIRST_SEQUENCE)];
    let ring = (any::<bool>(), producers, capacity, first);
    (during, graph, how, ring).prop_map(|(during, (stages, clears), how, ring)| {
        let (deeds, end, seats, is_monitored) = during;
        let (threads, by_hand, is_silent, wait, producer_wait) = how;
        let (is_multi, producers, capacity, first) = ring;
        let announces = !is_silent;
        tamed(Program {
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
            seats,
            is_monitored,
            deeds,
            end,
        })
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

fn call() -> impl Strategy<Value = Call> {
    let count = prop_oneof![8 => 1..5_usize, 2 => 5..64_usize, 1 => 64..=4096_usize];
    let before =
        prop_oneof![16 => Just(Pause::None), 2 => Just(Pause::Yield), 1 => Just(Pause::Sleep)];
    (how(), count, rarely(6), before).prop_map(|(how, count, gives_up, before)| Call {
        how,
        count,
        gives_up,
        before,
    })
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

fn stage() -> impl Strategy<Value = Stage> {
    let max_batch = prop_oneof![2 => Just(None), 1 => (1..9_usize).prop_map(Some)];
    let wait = prop_oneof![2 => Just(None), 1 => wait().prop_map(Some)];
    let place = prop_oneof![
        6 => Just(Place::Free),
        1 => Just(Place::Blocking),
        2 => (0..2_u8).prop_map(Place::OnThread),
        3 => (0..2_u8).prop_map(Place::Group),
    ];
    let acts = prop_oneof![1 => vec(act(), 0..1), 2 => vec(act(), 0..4)];
    let graph = (any::<u8>(), any::<bool>(), any::<bool>());
    let settings = (pace(), max_batch, wait, rarely(5), place);
    (acts, policy(), policy(), form(), settings, graph).prop_map(
        |(acts, on_error, on_panic, form, settings, graph)| {
            let (pace, max_batch, wait, has_timeout, place) = settings;
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
            }
        },
    )
}

fn pace() -> impl Strategy<Value = Pace> {
    let pause =
        prop_oneof![2 => Just(Pause::None), 2 => Just(Pause::Yield), 1 => Just(Pause::Sleep)];
    (pause, select(vec![2, 5, 8, 16])).prop_map(|(pause, every)| Pace { pause, every })
}

fn form() -> impl Strategy<Value = Form> {
    let leaves_after = prop_oneof![3 => Just(None), 1 => (0..80_u64).prop_map(Some)];
    let workers = (1..=3_usize, 1..=3_usize, any::<bool>(), any::<bool>());
    prop_oneof![
        5 => any::<[bool; 2]>()
            .prop_map(|[writes, is_local]| Form::Handler { writes, is_local }),
        3 => any::<bool>().prop_map(|writes| Form::Closure { writes }),
        2 => any::<bool>().prop_map(|writes| Form::BatchClosure { writes }),
        3 => any::<bool>().prop_map(|writes| Form::BatchHandler { writes }),
        1 => leaves_after.prop_map(|leaves_after| Form::Poller { leaves_after }),
        4 => workers.prop_map(|(size, max, by_key, writes)| {
            Form::Workers { size: size.min(max), max, by_key, writes }
        }),
    ]
}

fn policy() -> impl Strategy<Value = Policy> {
    let retries =
        (select(vec![Repeat::Event, Repeat::Batch, Repeat::WithRestart]), 1..4_u32, action());
    prop_oneof![
        1 => Just(Policy::None),
        3 => action().prop_map(Policy::Always),
        3 => retries.prop_map(|(repeat, attempts, or)| Policy::Retries { repeat, attempts, or }),
    ]
}

fn action() -> impl Strategy<Value = Action> {
    let pause = || select(vec![Duration::ZERO, PAUSE]);
    prop_oneof![
        2 => Just(Action::Continue),
        4 => Just(Action::ReleaseNow),
        5 => Just(Action::Skip),
        3 => pause().prop_map(Action::Retry),
        3 => pause().prop_map(Action::Rewind),
        3 => pause().prop_map(Action::Restart),
        1 => Just(Action::Stop),
        1 => Just(Action::SkipAndStop),
        1 => Just(Action::Halt),
    ]
}

fn act() -> impl Strategy<Value = Act> {
    let at = prop_oneof![4 => 0..20_u64, 2 => 0..150_u64];
    let verdict = prop_oneof![
        4 => action().prop_map(Verdict::Says),
        3 => Just(Verdict::Sleeps),
        2 => Just(Verdict::Fails),
        1 => Just(Verdict::Panics),
    ];
    (at, 1..4_u32, verdict).prop_map(|(at, times, verdict)| Act { at, times, verdict })
}

// ---- what happens during the run ----

fn deed() -> impl Strategy<Value = Deed> {
    let stop = (0..5_usize, 0..3_usize);
    let resize = (0..5_usize, 0..3_usize);
    prop_oneof![
        3 => guest().prop_map(Deed::Join),
        4 => resize.prop_map(|(stage, size)| Deed::Resize { stage, size }),
        1 => stop.prop_map(|(stage, worker)| Deed::Stop { stage, worker }),
        1 => Just(Deed::StopGuest),
    ]
}

fn guest() -> impl Strategy<Value = Guest> {
    let start =
        prop_oneof![Just(Start::Now), Just(Start::Oldest), (0..20_u64).prop_map(Start::Back)];
    let leaves_after = prop_oneof![1 => Just(None), 1 => (0..40_u64).prop_map(Some)];
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
    ]
}
