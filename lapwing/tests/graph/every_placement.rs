//! A ring does the same for every placement, also with one CPU: nothing is lost, the order of each
//! key is kept, and consumers join and leave. Not here: which threads a placement has
//! (`placement`).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread;

use crate::common::{Kind, Lcg, repeats};
use crate::shapes::{ring, threads, threads_of};
use lapwing::consumer::Outcome;
use lapwing::graph::{Placement, StartAt};
use lapwing::{Action, Sequence, Stage};

crate::common::for_both_producers! {
    every_placement_loses_nothing,
    workers_by_key_keep_their_order_on_few_threads_through_resizes,
    consumers_join_and_leave_beside_stages_that_share_a_thread,
}

/// A graph of stages that read, write, share, block and leave, on random threads.
fn every_placement_loses_nothing<K: Kind>() {
    let events = repeats(2_000);
    let mut random = Lcg(7);
    let placements: [fn(usize) -> Placement; 5] = [
        |_| Placement::thread_per_stage(),
        |random| Placement::threads(1 + random % 6),
        |random| Placement::automatic().producers(random % 3),
        |random| Placement::threads(1 + random % 2).group("x", ["enrich", "work", "last"]),
        |_| Placement::thread_per_stage().group("x", ["left", "right"]).group("y", ["work-1"]),
    ];
    for round in 0..repeats(20) as usize {
        let which = round % placements.len();
        let placement = placements[which](random.below(100) as usize);
        let (sums, leaves_at) = (<[AtomicU64; 4]>::default(), random.below(events));
        let add = |to: usize| {
            let sums = &sums;
            move |event: &u64, _: Sequence, _: bool| _ = sums[to].fetch_add(*event, SeqCst)
        };
        // The last placement names "right", which then must not block, and a second worker.
        let names_them = which == placements.len() - 1;
        let right = Stage::new("right");
        let may_block = random.below(2) == 0 && !names_them;
        let right = if may_block { right.may_block() } else { right };
        let workers = 1 + usize::from(names_them) + random.below(3) as usize;
        let leaves = |sequence| if sequence == leaves_at { Action::Stop } else { Action::Continue };
        let ring = K::ring(1 << random.below(8), || 0_u64)
            .placement(placement)
            .stage("enrich")
            .write(|event, _, _| *event += 1)
            .parallel(|parallel| {
                let parallel = parallel.stage("left").read(add(0)).stage(right).read(add(1));
                parallel.stage("leaves").read(|_, sequence, _| leaves(sequence))
            })
            .stage("work")
            .workers(workers)
            .read(|_| add(2));
        let (mut producer, consumers) = ring.stage("last").read(add(3)).build().unwrap();
        let threads = threads_of(&consumers);
        thread::scope(|scope| {
            let running = consumers.start_scoped(scope).unwrap();
            for value in 0..events {
                producer.publish(|event| *event = value).unwrap();
            }
            running.shutdown().unwrap();
        });
        let expected = (1..=events).sum::<u64>();
        for (at, sum) in sums.iter().enumerate() {
            assert_eq!(sum.load(SeqCst), expected, "{at}: {threads}");
        }
    }
}

#[derive(Default)]
struct Keyed {
    key: u64,
    number: u64,
}

fn workers_by_key_keep_their_order_on_few_threads_through_resizes<K: Kind>() {
    let events = repeats(4_000);
    let last: Arc<[AtomicU64; 8]> = Arc::default();
    let (mut producer, consumers) = K::ring(32, Keyed::default)
        .placement(threads(2))
        .stage("work")
        .workers(2)
        .up_to(4)
        .by_key(|event| event.key)
        .read(|_| {
            let last = Arc::clone(&last);
            move |event: &Keyed, _: Sequence, _: bool| {
                let before = last[event.key as usize].swap(event.number + 1, SeqCst);
                assert!(before <= event.number, "the order of a key");
            }
        })
        .stage("after")
        .read(|_, _, _| {})
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let group = running.workers("work").unwrap();
    for number in 0..events {
        producer.publish(|event| (event.key, event.number) = (number % 8, number)).unwrap();
        if number % 50 == 0 {
            group.resize(1 + (number / 50) as usize % 4).unwrap();
        }
    }
    let report = running.shutdown().unwrap();
    let of_workers = report.stages().filter(|stage| stage.name().starts_with("work-"));
    assert_eq!(of_workers.map(|worker| worker.processed()).sum::<u64>(), events);
}

fn consumers_join_and_leave_beside_stages_that_share_a_thread<K: Kind>() {
    let is_done = AtomicBool::new(false);
    let (producer, consumers) = ring::<K>(threads(1), "a b").dynamic_stages(2).build().unwrap();
    let dynamic_stages = consumers.dynamic_stages();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        let is_done = &is_done;
        let mut producer = producer;
        scope.spawn(move || {
            while !is_done.load(SeqCst) {
                producer.publish(|event| *event = 7).unwrap();
            }
        });
        for round in 0..repeats(30) {
            let mut poller =
                dynamic_stages.join(format!("late {round}"), StartAt::Now).unwrap().poller();
            let (mut next, count) = (poller.sequence(), repeats(100));
            let end = next + count;
            while next < end {
                let mut batch = poller.wait().unwrap();
                for (sequence, event) in batch.iter() {
                    assert_eq!((sequence, *event), (next, 7));
                    next += 1;
                }
            }
        }
        is_done.store(true, SeqCst);
        let report = running.join().unwrap();
        assert!(report.stages().all(|stage| *stage.outcome() == Outcome::Drained));
    });
}

/// All threads run on one CPU, including the producer: none waits for a thread that waits for the
/// CPU.
#[cfg(all(target_os = "linux", not(miri)))]
mod one_cpu {
    use std::thread::{self, available_parallelism};

    use super::{Kind, Placement, ring, threads_of};

    crate::common::for_both_producers! {
        everything_moves_on_one_cpu,
    }

    /// Runs `body` on a thread of its own. That thread and all that it starts use one of the
    /// available CPUs.
    fn on_one_cpu<R: Send>(body: impl FnOnce() -> R + Send) -> R {
        use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

        let pinned = || {
            let mine = sched_getaffinity(None).unwrap();
            let first = (0..CpuSet::MAX_CPU).find(|&cpu| mine.is_set(cpu)).unwrap();
            let mut one = CpuSet::new();
            one.set(first);
            sched_setaffinity(None, &one).unwrap();
            body()
        };
        thread::scope(|scope| scope.spawn(pinned).join().unwrap())
    }

    fn everything_moves_on_one_cpu<K: Kind>() {
        on_one_cpu(|| {
            assert_eq!(available_parallelism().unwrap().get(), 1);
            for placement in
                [Placement::automatic(), Placement::threads(2), Placement::thread_per_stage()]
            {
                let is_automatic = format!("{placement:?}").contains("Automatic");
                let ring = ring::<K>(placement, "a b c d");
                let (mut producer, consumers) = ring.build().unwrap();
                if is_automatic {
                    assert_eq!(threads_of(&consumers), "ring-0: a b c d");
                }
                let running = consumers.start().unwrap();
                for _ in 0..400 {
                    producer.publish(|_| {}).unwrap();
                }
                let report = running.shutdown().unwrap();
                assert!(report.stages().all(|stage| stage.processed() == 400));
            }
        });
    }
}
