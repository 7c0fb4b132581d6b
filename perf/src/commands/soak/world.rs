//! What the threads of one ring share, and the check at its end: what producers were told is
//! accepted equals what each stage has seen.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::board::{Board, Entry, locked};
use super::checker::Place;
use super::event::{LANES, Laps};
use super::faults::{Failing, Kind};
use super::orders::Orders;
use super::plan::{Plan, Policy, Role};
use super::tally::{KeyOrder, Tally};
use super::violation::{Checked, Violation};

/// What one ring shares.
pub(super) struct World {
    pub(super) plan: Arc<Plan>,
    pub(super) board: Arc<Board>,
    /// The ring on the board.
    pub(super) entry: Entry,
    /// How often the ring was built before.
    pub(super) life: u32,
    /// The seed of its payloads.
    pub(super) seed: u64,
    /// Whether producers have to end.
    is_over: AtomicBool,
    /// Whether the soak may have closed the ring.
    may_be_closed: AtomicBool,
    /// Whether a fault may have halted the ring.
    may_be_halted: AtomicBool,
    /// Events that producers were told are accepted, by producer.
    accepted: [AtomicU64; LANES],
    stages: Vec<Seen>,
}

/// What a stage has seen.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Of a stage that sees everything: events by producer.
    all: Mutex<Option<[u64; LANES]>>,
    /// Of a group: the sums of its workers.
    shares: Mutex<Option<Tally>>,
    /// The order of keys, for a group by key.
    pub(super) keys: Arc<KeyOrder>,
    /// Events that were skipped as failed.
    skipped: AtomicU64,
    /// Whether it was stopped, or has left.
    has_left: AtomicBool,
}

impl World {
    /// The world of the ring that `plan` describes, built for the `life`-th time.
    pub(super) fn new(plan: &Arc<Plan>, life: u32, board: &Arc<Board>) -> Self {
        Self {
            entry: board.enter(plan.topology.name(), plan.to_string()),
            board: Arc::clone(board),
            life,
            seed: plan.payload_seed(life),
            is_over: AtomicBool::new(false),
            may_be_closed: AtomicBool::new(false),
            may_be_halted: AtomicBool::new(false),
            accepted: Default::default(),
            stages: plan.stages.iter().map(|_| Seen::default()).collect(),
            plan: Arc::clone(plan),
        }
    }

    /// Returns what the stage `id` has seen.
    pub(super) fn stage(&self, id: usize) -> &Seen {
        &self.stages[id]
    }

    /// Returns the place of the stage `id` in the graph. Stages that may leave leave no marks.
    pub(super) fn place(&self, id: usize) -> Place {
        let stages = &self.plan.stages;
        let upstream = stages[id].after.iter().copied().filter(|&it| !stages[it].may_leave);
        Place {
            own: Some(id),
            upstream: upstream.collect(),
            written: stages[id].written,
            laps: Laps::of(self.plan.capacity),
        }
    }

    /// Returns the place of a guest: behind the last stage that writes.
    pub(super) fn place_of_guest(&self) -> Place {
        let stages = &self.plan.stages;
        let last = stages.iter().rposition(|stage| stage.role.writes());
        Place {
            own: None,
            upstream: last.into_iter().collect(),
            written: last.map_or(0, |last| stages[last].written + 1),
            laps: Laps::of(self.plan.capacity),
        }
    }

    /// Returns the stages that must have finished a slot before a producer gets it again.
    pub(super) fn finals(&self) -> Vec<usize> {
        let stages = &self.plan.stages;
        let is_final = |id: &usize| {
            let is_followed = stages.iter().any(|it| !it.may_leave && it.after.contains(id));
            !stages[*id].may_leave && !is_followed
        };
        (0..stages.len()).filter(is_final).collect()
    }

    /// Whether producers have to end.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Tells producers to end.
    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Notes that the ring may be closed.
    pub(super) fn expect_close(&self) {
        self.may_be_closed.store(true, Ordering::Relaxed);
    }

    /// Returns whether a producer may learn that the ring has ended.
    pub(super) fn is_end_expected(&self) -> bool {
        self.may_be_closed.load(Ordering::Relaxed) || self.is_halt_expected()
    }

    /// Notes that the ring may be halted.
    pub(super) fn expect_halt(&self) {
        self.may_be_halted.store(true, Ordering::Relaxed);
    }

    /// Returns whether the ring may be halted.
    pub(super) fn is_halt_expected(&self) -> bool {
        self.may_be_halted.load(Ordering::Relaxed)
    }

    /// Keeps a violation, with the ring and the thread that found it, and lets producers end.
    pub(super) fn refuse(&self, violation: Violation, thread: &str) {
        self.board.refuse(violation, &format!("{thread}, life {}; {}", self.life, self.plan));
        self.end();
    }

    /// Keeps the violation of a failed check.
    pub(super) fn note(&self, checked: Checked, thread: &str) {
        if let Err(violation) = checked {
            self.refuse(violation, thread);
        }
    }

    /// Adds what a producer was told is accepted.
    pub(super) fn accept(&self, lane: usize, events: u64) {
        self.accepted[lane].fetch_add(events, Ordering::Relaxed);
    }

    /// Returns the number of accepted events by producer.
    pub(super) fn accepted(&self) -> [u64; LANES] {
        self.accepted.each_ref().map(|events| events.load(Ordering::Relaxed))
    }

    /// Checks what each stage has seen, after all threads have ended.
    pub(super) fn check(&self) {
        for (id, stage) in self.plan.stages.iter().enumerate() {
            self.note(self.check_stage(id), &stage.name);
        }
    }

    fn check_stage(&self, id: usize) -> Checked {
        let seen = &self.stages[id];
        if self.is_halt_expected() || seen.has_left() {
            return Ok(());
        }
        for (lane, accepted) in self.accepted().into_iter().enumerate() {
            if let Some(tally) = locked(&seen.shares).as_ref() {
                tally[lane].check(lane, accepted)?;
            } else {
                let seen = locked(&seen.all).map_or(0, |all| all[lane]);
                if seen != accepted {
                    return Err(Violation::Unequal { lane, accepted, seen });
                }
            }
        }
        Ok(())
    }
}

impl Seen {
    /// Keeps what a stage that sees everything has seen.
    pub(super) fn keep(&self, numbers: [u64; LANES]) {
        *locked(&self.all) = Some(numbers);
    }

    /// Adds what a worker has seen.
    pub(super) fn add(&self, tally: &Tally) {
        let mut shares = locked(&self.shares);
        let sums = shares.get_or_insert_default();
        sums.iter_mut().zip(tally).for_each(|(sums, seen)| sums.merge(seen));
    }

    /// Counts events that were skipped.
    pub(super) fn skip(&self, events: u64) {
        self.skipped.fetch_add(events, Ordering::Relaxed);
    }

    /// Returns how many events were skipped.
    pub(super) fn skipped(&self) -> u64 {
        self.skipped.load(Ordering::Relaxed)
    }

    /// Notes that the stage leaves.
    pub(super) fn leave(&self) {
        self.has_left.store(true, Ordering::Relaxed);
    }

    /// Returns whether the stage was told to leave.
    pub(super) fn has_left(&self) -> bool {
        self.has_left.load(Ordering::Relaxed)
    }
}

/// What a handler does about an order to fail.
pub(super) struct Failures {
    /// The stage.
    id: usize,
    policy: Policy,
    is_group: bool,
    /// What reaches it.
    pub(super) orders: Arc<Orders>,
}

impl Failures {
    /// Those of the stage `id`.
    pub(super) fn new(plan: &Plan, id: usize, orders: Arc<Orders>) -> Self {
        let stage = &plan.stages[id];
        let is_group = matches!(stage.role, Role::Workers { .. });
        Self { id, policy: stage.policy, is_group, orders }
    }

    /// Returns the policy of the stage.
    pub(super) const fn policy(&self) -> Policy {
        self.policy
    }

    /// Counts a failure of `events` events, and notes what the policy will do about it.
    pub(super) fn announce(&self, world: &World, failing: Failing, events: u64) {
        world.board.injected(match failing {
            Failing::Error => Kind::Error,
            Failing::Panic => Kind::Panic,
        });
        let seen = world.stage(self.id);
        match self.policy {
            Policy::Skip => seen.skip(events),
            // The other workers handle its events. The last one halts the ring.
            Policy::Stop if self.is_group => world.expect_halt(),
            Policy::Stop => seen.leave(),
            Policy::Halt => {
                world.board.injected(Kind::Halt);
                world.expect_halt();
            }
            Policy::Retry | Policy::Rewind | Policy::Restart | Policy::Continue => {}
        }
    }
}
