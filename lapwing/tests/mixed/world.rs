//! What the threads of a run leave, and the check that it equals what was accepted.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use lapwing::Poller;
use lapwing::consumer::{Finished, Outcome};

use crate::event::{Event, KEYS, Logs, Recorder, Seen};
use crate::guests::{Guests, Visit, read_some};
use crate::plan::{Deed, Kind, Plan};

/// How a consumer of the graph ended.
struct End {
    name: String,
    outcome: Outcome,
    processed: u64,
}

/// What the threads of a run leave.
pub(crate) struct World<'a> {
    pub(crate) plan: &'a Plan,
    /// By stage, one for each of its consumers.
    logs: Vec<Logs>,
    keys: Vec<[AtomicU64; KEYS]>,
    pub(crate) guests: Guests,
    accepted: Mutex<Vec<Seen>>,
    /// Claims of several producers that were given up.
    given_up: AtomicU64,
    ends: Mutex<Vec<End>>,
}

impl<'a> World<'a> {
    pub(crate) fn new(plan: &'a Plan) -> Self {
        Self {
            plan,
            logs: plan.stages.iter().map(|_| Logs::default()).collect(),
            keys: plan.stages.iter().map(|_| Default::default()).collect(),
            guests: Guests::default(),
            accepted: Mutex::default(),
            given_up: AtomicU64::new(0),
            ends: Mutex::default(),
        }
    }

    pub(crate) fn recorder(&self, id: usize, worker: usize) -> Recorder<'_> {
        let mut recorder = Recorder::of_stage(self.plan, id, worker, &self.logs[id]);
        if let Kind::Workers { is_by_key: true, .. } = self.plan.stages[id].kind {
            recorder.keys = Some(&self.keys[id]);
        }
        recorder
    }

    /// Polls for the stage `id` until the ring has ended, or the poller leaves.
    pub(crate) fn poll(&self, id: usize, mut poller: Poller<Event>) {
        let mut recorder = self.recorder(id, 0);
        let enough = recorder.draw(self.plan.events);
        let may_leave = self.plan.stages[id].may_leave;
        while !(may_leave && recorder.count() > enough) {
            if read_some(&mut poller, &mut recorder) != Some(true) {
                return;
            }
        }
    }

    pub(crate) fn keep_accepted(&self, (accepted, given_up): (Vec<Seen>, u64)) {
        self.given_up.fetch_add(given_up, Ordering::Relaxed);
        self.accepted.lock().unwrap().extend(accepted);
    }

    pub(crate) fn keep<'b>(&self, finished: impl IntoIterator<Item = &'b Finished>) {
        let ends = finished.into_iter().map(|finished| End {
            name: finished.name().to_owned(),
            outcome: finished.outcome().clone(),
            processed: finished.processed(),
        });
        self.ends.lock().unwrap().extend(ends);
    }

    /// Compares what each consumer saw with the results of the producers' calls.
    pub(crate) fn check(self) {
        let mut accepted = self.accepted.into_inner().unwrap();
        accepted.sort_unstable();
        let is_once = accepted.windows(2).all(|pair| pair[0].sequence < pair[1].sequence);
        assert!(is_once, "two producers got the same sequence");
        let claimed = accepted.len() as u64 + self.given_up.into_inner();
        check_ends(self.plan, &self.ends.into_inner().unwrap(), claimed);
        for (stage, logs) in self.plan.stages.iter().zip(self.logs) {
            let mut log = logs.into_inner().unwrap().concat();
            log.sort_unstable();
            check_log(self.plan, &accepted, &log, !stage.may_leave, &stage.name);
        }
        for Visit { start, log, stayed } in self.guests.visits.into_inner().unwrap() {
            let first = accepted.partition_point(|seen| seen.sequence < start);
            check_log(self.plan, &accepted[first..], &log, stayed, "a guest");
        }
    }
}

/// Whether `log` equals `accepted` from its beginning, without a gap, and to the end if it `lasts`.
fn check_log(plan: &Plan, accepted: &[Seen], log: &[Seen], lasts: bool, name: &str) {
    if plan.is_halted() {
        return check_halted(plan, accepted, log, name);
    }
    for (place, seen) in log.iter().enumerate() {
        assert_eq!(Some(seen), accepted.get(place), "{name} saw another event at place {place}");
    }
    assert!(!lasts || log.len() == accepted.len(), "{name} lost {:?}", accepted[log.len()]);
}

/// After a halt, consumers may have seen events whose producer got an error.
fn check_halted(plan: &Plan, accepted: &[Seen], log: &[Seen], name: &str) {
    let mut stages = plan.stages.iter();
    let is_group =
        stages.any(|stage| stage.name == name && matches!(stage.kind, Kind::Workers { .. }));
    let seen: BTreeMap<u64, u64> = log.iter().map(|seen| (seen.sequence, seen.stamp)).collect();
    assert_eq!(seen.len(), log.len(), "{name} saw an event twice");
    let Some(last) = log.last() else { return };
    for event in accepted.iter().take_while(|event| event.sequence <= last.sequence) {
        let stamp = seen.get(&event.sequence);
        // Another worker of the group may have taken it and stopped before it.
        assert!(stamp.is_some() || is_group, "{name} missed {event:?}");
        assert!(stamp.is_none_or(|stamp| *stamp == event.stamp), "{name} saw another {event:?}");
    }
}

/// Each consumer ended as requested, and those that saw everything have finished `claimed`
/// sequences.
fn check_ends(plan: &Plan, ends: &[End], claimed: u64) {
    let asked = |name: &str| {
        plan.deeds.iter().any(|(_, deed)| matches!(deed, Deed::Stop(stopped) if stopped == name))
    };
    let mut processed = vec![0; plan.stages.len()];
    for End { name, outcome, processed: events } in ends {
        let is_well = match outcome {
            Outcome::Drained => true,
            Outcome::Stopped => asked(name),
            Outcome::Halted => plan.is_halted(),
            _ => false,
        };
        assert!(is_well, "{name} ended as {outcome:?}");
        let stage = name.split('-').next();
        if let Some(id) = plan.stages.iter().position(|plan| Some(&*plan.name) == stage) {
            processed[id] += events;
        }
    }
    for (stage, processed) in plan.stages.iter().zip(processed) {
        let is_poller = stage.kind == Kind::Poller;
        let is_exact = !is_poller && !stage.may_leave && !plan.is_halted();
        let name = &stage.name;
        assert!(!is_exact || processed == claimed, "{name} finished {processed} of {claimed}");
    }
}
