//! Programs: a ring, its graph, its threads, and what each of them does. Not here: how they are
//! drawn (`draw`), and what must happen (`model`, `judge`).

use std::time::Duration;

use lapwing::producer::WhenFull;
use lapwing::{Action, Sequence};

use super::waits::Strategy;

/// A set of stages, one bit each.
pub(super) type Stages = u64;

/// A ring, its graph, its threads, and what they do.
#[derive(Clone)]
pub struct Program {
    /// Number of slots.
    pub(super) capacity: usize,
    /// Sequence of the first event.
    pub(super) first: Sequence,
    /// Whether the ring is for several producers.
    pub(super) is_multi: bool,
    /// The calls of each producer. In a ring for one producer, only the first has calls.
    pub(super) producers: Vec<Vec<Call>>,
    pub(super) stages: Vec<Stage>,
    /// Whether the graph ends with a stage that clears events.
    pub(super) clears: bool,
    pub(super) threads: Threads,
    /// Whether the program runs the stages on threads of its own.
    pub(super) by_hand: bool,
    /// Whether strategies announce that they park.
    pub(super) announces: bool,
    pub(super) wait: Strategy,
    pub(super) producer_wait: Strategy,
    pub(super) dynamic_stages: usize,
    pub(super) is_monitored: bool,
    /// What the first producer does before the call with this index.
    pub(super) deeds: Vec<(usize, Deed)>,
    pub(super) end: End,
}

/// A call of a producer.
#[derive(Clone, Copy)]
pub(super) struct Call {
    pub(super) how: How,
    /// Number of events, at most the capacity.
    pub(super) count: usize,
    pub(super) fate: Fate,
    pub(super) before: Pause,
}

/// What becomes of the claim of a call. A call without a claim of its own publishes; if it fills a
/// batch in a closure, the closure may panic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Publishes,
    /// It is dropped.
    GivesUp,
    /// It is dropped by a panic.
    Panics,
    /// It is dropped by a panic, with the producer, if there can be another one.
    Dies,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum How {
    /// Fills the event in a closure: `publish` and its kin.
    Publish(Patience),
    PublishBatch(Patience),
    /// Claims, fills and publishes: `claim` and its kin.
    Claim(Patience),
    ClaimBatch(Patience),
    ClaimUpTo(Patience),
    PublishOr(WhenFull),
    PublishBatchOr(WhenFull),
}

/// What a call does on a full ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Patience {
    Waits,
    Tries,
    TimesOut,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Pause {
    None,
    Yield,
    Sleep(Duration),
}

/// A stage and what its handler does.
#[derive(Clone)]
pub(super) struct Stage {
    /// The stages that it directly depends on. Bits of later stages mean nothing.
    pub(super) after: Stages,
    /// Whether it runs after all earlier stages and before all later ones. Only then may it write.
    pub(super) is_alone: bool,
    pub(super) form: Form,
    pub(super) max_batch: Option<usize>,
    pub(super) wait: Option<Strategy>,
    pub(super) has_timeout: bool,
    /// Whether a handler gets failed events like any other. A closure always does.
    pub(super) takes_failed: bool,
    pub(super) place: Place,
    pub(super) pace: Pace,
    pub(super) on_error: Policy,
    pub(super) on_panic: Policy,
    pub(super) acts: Vec<Act>,
    /// The slots of the tap to which it copies events, as a power of two.
    pub(super) tap: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A handler, which may be made on the thread of its stage.
    Handler {
        writes: bool,
        is_local: bool,
    },
    Closure {
        writes: bool,
    },
    BatchClosure {
        writes: bool,
    },
    /// A handler of batches. It says that the events before its act are done.
    BatchHandler {
        writes: bool,
    },
    /// Leaves after this number of events, if there is one.
    Poller {
        leaves_after: Option<u64>,
    },
    Workers {
        size: usize,
        max: usize,
        by_key: bool,
        writes: bool,
    },
}

/// The pause of a handler at every call with an index that `every` divides.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    pub(super) pause: Pause,
    pub(super) every: u64,
}

/// The thread of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Free,
    Blocking,
    OnThread(u8),
    Group(u8),
}

/// How threads are chosen.
#[derive(Debug, Clone, Copy)]
pub(super) enum Threads {
    PerStage,
    Count(usize),
    Automatic,
}

/// What a handler does at the event with this index, so many times. Otherwise it continues.
#[derive(Clone, Copy)]
pub(super) struct Act {
    pub(super) at: u64,
    pub(super) times: u32,
    pub(super) verdict: Verdict,
}

/// What a call of a handler does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Says(Action),
    /// Continues after a pause.
    Sleeps(Duration),
    Fails,
    Panics,
}

impl Verdict {
    /// Whether the event is done and the next one follows.
    pub(super) fn continues(self) -> bool {
        matches!(self, Self::Says(Action::Continue) | Self::Sleeps(_))
    }
}

/// What a stage does after a failure.
#[derive(Debug, Clone, Copy)]
pub(super) enum Policy {
    None,
    Always(Action),
    Retries { repeat: Repeat, attempts: u32, or: Action },
}

/// What a policy repeats.
#[derive(Debug, Clone, Copy)]
pub(super) enum Repeat {
    Event,
    Batch,
    WithRestart,
}

/// What happens while the ring runs.
#[derive(Debug, Clone)]
pub(super) enum Deed {
    /// Stops a stage, or a worker of a group, from outside.
    Stop {
        stage: usize,
        worker: usize,
    },
    /// Sets the size of the group, if the stage is one.
    Resize {
        stage: usize,
        size: usize,
    },
    Join(Guest),
    /// Stops the guest that joined last.
    StopGuest,
}

/// A consumer that joins.
#[derive(Debug, Clone)]
pub(super) struct Guest {
    pub(super) start: Start,
    pub(super) polls: bool,
    pub(super) leaves_after: Option<u64>,
    pub(super) max_batch: Option<usize>,
    pub(super) wait: Option<Strategy>,
    /// Whether it takes its dynamic stage on a thread of its own, beside the producers.
    pub(super) is_beside: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    Now,
    Oldest,
    /// So many events before the next one of the first producer.
    Back(u64),
}

/// How the run ends: before the call with this index, or once all producers are dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    DropProducers,
    Close(usize),
    Shutdown(usize),
    Halt(usize),
    /// Each producer is dropped by a panic while it has a claim.
    Die,
}

impl Program {
    /// The stages that `stage` directly depends on.
    pub(super) fn after(&self, stage: usize) -> Stages {
        let earlier = (1 << stage) - 1;
        if self.stages[stage].is_alone {
            return earlier;
        }
        let alone = (0..stage).filter(|&other| self.stages[other].is_alone);
        alone.fold(self.stages[stage].after & earlier, |after, other| after | 1 << other)
    }

    /// All stages upstream of `stage`.
    pub(super) fn upstream(&self, stage: usize) -> Stages {
        members(self.after(stage)).fold(0, |all, other| all | 1 << other | self.upstream(other))
    }

    /// All stages downstream of `stage`.
    pub(super) fn downstream(&self, stage: usize) -> Stages {
        let is_downstream = |other: &usize| self.upstream(*other) >> stage & 1 == 1;
        (0..self.stages.len()).filter(is_downstream).fold(0, |all, other| all | 1 << other)
    }

    /// The stages upstream of a guest.
    pub(super) fn upstream_of_guests(&self) -> Stages {
        if self.clears {
            return (1 << self.stages.len()) - 1;
        }
        let last = self.stages.iter().rposition(Stage::writes);
        last.map_or(0, |last| 1 << last | self.upstream(last))
    }

    /// Whether a stage writes, one bit each.
    pub(super) fn writers(&self) -> Stages {
        let writers = (0..self.stages.len()).filter(|&stage| self.stages[stage].writes());
        writers.fold(0, |all, stage| all | 1 << stage)
    }
}

/// The members of a set of stages.
pub(super) fn members(stages: Stages) -> impl Iterator<Item = usize> {
    (0..u64::BITS as usize).filter(move |stage| stages >> stage & 1 == 1)
}

impl Stage {
    pub(super) fn writes(&self) -> bool {
        let writes = match self.form {
            Form::Handler { writes, .. }
            | Form::Closure { writes }
            | Form::BatchClosure { writes }
            | Form::BatchHandler { writes }
            | Form::Workers { writes, .. } => writes,
            Form::Poller { .. } => false,
        };
        writes && self.is_alone
    }

    /// Number of consumers that share its events.
    pub(super) fn consumers(&self) -> usize {
        if let Form::Workers { max, .. } = self.form { max } else { 1 }
    }

    /// Whether it is a handler, or several of them.
    pub(super) fn is_handler(&self) -> bool {
        use Form::{BatchHandler, Handler, Workers};
        matches!(self.form, Handler { .. } | BatchHandler { .. } | Workers { .. })
    }

    pub(super) fn is_group(&self) -> bool {
        matches!(self.form, Form::Workers { .. })
    }

    pub(super) fn is_poller(&self) -> bool {
        matches!(self.form, Form::Poller { .. })
    }
}

impl Policy {
    /// What it decides about the attempt with this number, from 1 on.
    pub(super) fn action(self, attempt: u32) -> Action {
        match self {
            Self::None => Action::Halt,
            Self::Always(action) => action,
            Self::Retries { attempts, or, .. } if attempt >= attempts => or,
            Self::Retries { repeat: Repeat::Event, .. } => Action::Retry(Duration::ZERO),
            Self::Retries { repeat: Repeat::Batch, .. } => Action::Rewind(Duration::ZERO),
            Self::Retries { repeat: Repeat::WithRestart, .. } => Action::Restart(Duration::ZERO),
        }
    }
}

/// The name of a stage.
pub(super) fn stage_name(stage: usize) -> String {
    format!("s{stage}")
}

/// The name of a consumer of a stage, as the library reports it.
pub(super) fn consumer_name(program: &Program, stage: usize, worker: usize) -> String {
    match program.stages[stage].form {
        Form::Workers { .. } => format!("s{stage}-{worker}"),
        _ => stage_name(stage),
    }
}

/// The text of an intended failure of a handler.
pub(super) fn message(sequence: Sequence) -> String {
    format!("{ON_PURPOSE} at {sequence}")
}

/// How the text of an intended failure begins.
pub(super) const ON_PURPOSE: &str = "on purpose";
