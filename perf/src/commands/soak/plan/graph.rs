//! The topologies, as lists of stages.
//!
//! A stage that writes is alone: it is upstream or downstream of each other stage. A stage that
//! may leave never writes, so the others know which stores they must find.

use std::fmt;

use fastrand::Rng;

use crate::contenders::WaitName;

/// A topology of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topology {
    /// One stage.
    Unicast,
    /// One stage behind several producers.
    Sequencer,
    /// Stages in a row.
    Pipeline,
    /// Two stages side by side between others.
    Diamond,
    /// Stages side by side.
    SideBySide,
    /// Workers that share the events.
    Workers,
    /// Workers by key.
    Keyed,
    /// Consumers that join and leave.
    Seats,
    /// Readers that may miss events.
    Tap,
    /// `channel::spsc`.
    Spsc,
    /// `channel::mpsc`.
    Mpsc,
    /// `channel::broadcast`.
    Broadcast,
    /// `channel::multi_broadcast`.
    MultiBroadcast,
}

/// What a stage does, and by which verb it is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// `read_batch`.
    Read,
    /// `read`: one event at a time.
    ReadEach,
    /// `write_batch`.
    Write,
    /// `write`.
    WriteEach,
    /// `poller`, polled by a thread of the soak.
    Poller,
    /// `workers`, each event to one of them.
    Workers {
        /// How many at first.
        size: usize,
        /// At most.
        max: usize,
        /// Whether a key has one worker.
        is_by_key: bool,
    },
    /// `read`, with a copy for the readers of a tap.
    Tap,
}

/// What a stage does about an error or a panic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    /// Handles the event, or the batch of a stage that gets batches, again.
    Retry,
    /// Handles the whole batch again.
    Rewind,
    /// Handles it again after `on_restart`.
    Restart,
    /// Marks it as failed.
    Skip,
    /// Counts it as done.
    Continue,
    /// Leaves the graph.
    Stop,
    /// Halts the ring.
    Halt,
}

impl Policy {
    /// Whether the event of the failure counts as handled.
    pub(crate) const fn counts(self) -> bool {
        matches!(self, Self::Skip | Self::Continue)
    }
}

/// A stage.
#[derive(Clone, Debug)]
pub(crate) struct StagePlan {
    /// Its name.
    pub(crate) name: String,
    /// What it does.
    pub(crate) role: Role,
    /// The stages that it depends on.
    pub(crate) after: Vec<usize>,
    /// How many writing stages are upstream of it.
    pub(crate) written: u32,
    /// Its own strategy.
    pub(crate) wait: Option<WaitName>,
    /// What it does about failures.
    pub(crate) policy: Policy,
    /// Its longest batch.
    pub(crate) max_batch: Option<usize>,
    /// Whether it may be stopped before the end.
    pub(crate) may_leave: bool,
}

impl Role {
    /// Whether it writes to events.
    pub(crate) const fn writes(self) -> bool {
        matches!(self, Self::Write | Self::WriteEach)
    }
}

impl Topology {
    /// All of them.
    pub(crate) const ALL: [Self; 13] = [
        Self::Unicast,
        Self::Sequencer,
        Self::Pipeline,
        Self::Diamond,
        Self::SideBySide,
        Self::Workers,
        Self::Keyed,
        Self::Seats,
        Self::Tap,
        Self::Spsc,
        Self::Mpsc,
        Self::Broadcast,
        Self::MultiBroadcast,
    ];

    /// Those with more to go wrong. A small episode has one of them as often as one of all.
    const INTRICATE: [Self; 4] = [Self::Workers, Self::Keyed, Self::Seats, Self::Diamond];

    /// Those that move most events per second.
    const FAST: [Self; 5] =
        [Self::Unicast, Self::Unicast, Self::Pipeline, Self::Diamond, Self::SideBySide];

    /// Returns its name in a report.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Unicast => "unicast",
            Self::Sequencer => "sequencer",
            Self::Pipeline => "pipeline",
            Self::Diamond => "diamond",
            Self::SideBySide => "side-by-side",
            Self::Workers => "workers",
            Self::Keyed => "workers-by-key",
            Self::Seats => "seats",
            Self::Tap => "tap",
            Self::Spsc => "spsc",
            Self::Mpsc => "mpsc",
            Self::Broadcast => "broadcast",
            Self::MultiBroadcast => "multi-broadcast",
        }
    }

    /// Draws one.
    pub(super) fn draw(draw: &mut Rng, is_large: bool) -> Self {
        if is_large && draw.u32(0..4) > 0 {
            return Self::FAST[draw.usize(0..Self::FAST.len())];
        }
        let choice: &[Self] = if draw.bool() { &Self::INTRICATE } else { &Self::ALL };
        choice[draw.usize(0..choice.len())]
    }

    /// Returns whether it is a channel, which has no stages.
    pub(crate) const fn is_channel(self) -> bool {
        matches!(self, Self::Spsc | Self::Mpsc | Self::Broadcast | Self::MultiBroadcast)
    }

    /// Draws whether several producers publish.
    pub(super) fn is_multi(self, draw: &mut Rng, is_large: bool) -> bool {
        match self {
            Self::Sequencer | Self::Mpsc | Self::MultiBroadcast => true,
            Self::Spsc | Self::Broadcast => false,
            _ => draw.u32(0..if is_large { 12 } else { 2 }) == 0,
        }
    }

    /// Draws the number of seats.
    pub(super) fn seats(self, draw: &mut Rng) -> usize {
        match self {
            Self::Seats => draw.usize(1..=4),
            _ if self.is_channel() => 0,
            _ => {
                if draw.u32(0..4) == 0 {
                    2
                } else {
                    0
                }
            }
        }
    }

    /// Draws the stages. Of a large episode, they take events by the batch.
    pub(super) fn stages(self, draw: &mut Rng, is_large: bool) -> Vec<StagePlan> {
        let mut graph = Stages { draw, stages: Vec::new(), is_large };
        match self {
            Self::Unicast | Self::Sequencer | Self::Seats => {
                graph.alone(vec![]);
            }
            Self::Pipeline => {
                let count = if is_large { 2 } else { graph.draw.usize(2..=4) };
                (0..count).fold(vec![], |after, _| vec![graph.alone(after)]);
            }
            Self::Diamond => {
                let first = if is_large { vec![] } else { vec![graph.alone(vec![])] };
                let middle = vec![graph.beside(first.clone()), graph.beside(first)];
                graph.alone(middle);
            }
            Self::SideBySide => {
                let count = if is_large { 2 } else { graph.draw.usize(2..=4) };
                (0..count).for_each(|_| _ = graph.beside(vec![]));
            }
            Self::Workers | Self::Keyed => graph.workers(self == Self::Keyed),
            Self::Tap => _ = graph.push(Role::Tap, vec![]),
            Self::Spsc | Self::Mpsc | Self::Broadcast | Self::MultiBroadcast => {}
        }
        let mut stages = graph.stages;
        keep_one(draw, &mut stages);
        stages
    }
}

/// Lets stages leave, but one of them stays. A stage that writes and a group stay too.
fn keep_one(draw: &mut Rng, stages: &mut [StagePlan]) {
    if stages.is_empty() {
        return;
    }
    let faithful = draw.usize(0..stages.len());
    for (id, stage) in stages.iter_mut().enumerate() {
        let stays = stage.role.writes() || matches!(stage.role, Role::Workers { .. } | Role::Tap);
        stage.may_leave = !stays && id != faithful && draw.u32(0..3) == 0;
        let is_group = matches!(stage.role, Role::Workers { .. });
        if stage.policy == Policy::Stop && !stage.may_leave && !is_group {
            stage.policy = Policy::Retry;
        }
    }
}

/// Stages under way.
struct Stages<'a> {
    draw: &'a mut Rng,
    stages: Vec<StagePlan>,
    is_large: bool,
}

impl Stages<'_> {
    /// Adds a stage that runs alone, and may write.
    fn alone(&mut self, after: Vec<usize>) -> usize {
        let role = match self.draw.u32(0..if self.is_large { 4 } else { 8 }) {
            0..3 => Role::Read,
            3 => Role::Write,
            4 => Role::WriteEach,
            5 | 6 => Role::ReadEach,
            _ => Role::Poller,
        };
        self.push(role, after)
    }

    /// Adds a stage beside others.
    fn beside(&mut self, after: Vec<usize>) -> usize {
        let role = match self.draw.u32(0..if self.is_large { 1 } else { 4 }) {
            0 | 1 => Role::Read,
            2 => Role::ReadEach,
            _ => Role::Poller,
        };
        self.push(role, after)
    }

    /// Adds workers, and sometimes a stage upstream or downstream of them.
    fn workers(&mut self, is_by_key: bool) {
        let first = if self.draw.bool() { vec![self.alone(vec![])] } else { vec![] };
        let max = self.draw.usize(1..=4);
        let size = self.draw.usize(1..=max);
        let workers = self.push(Role::Workers { size, max, is_by_key }, first);
        if self.draw.bool() {
            self.alone(vec![workers]);
        }
    }

    fn push(&mut self, role: Role, after: Vec<usize>) -> usize {
        let id = self.stages.len();
        let upstream = after.first().map_or(0, |&first| {
            self.stages[first].written + u32::from(self.stages[first].role.writes())
        });
        let draw = &mut *self.draw;
        let is_large = self.is_large;
        self.stages.push(StagePlan {
            name: format!("s{id}"),
            role,
            after,
            written: upstream,
            wait: (!is_large && draw.u32(0..3) == 0)
                .then(|| WaitName::ALL[draw.usize(0..WaitName::ALL.len())]),
            policy: draw_policy(draw, role),
            max_batch: (!is_large && draw.u32(0..4) == 0).then(|| draw.usize(1..100)),
            may_leave: false,
        });
        id
    }
}

fn draw_policy(draw: &mut Rng, role: Role) -> Policy {
    match draw.u32(0..16) {
        0..4 => Policy::Retry,
        // A worker has no batch of its own, and a writer would write twice.
        4..7 if role == Role::ReadEach => Policy::Rewind,
        4..7 => Policy::Retry,
        7 | 8 => Policy::Restart,
        9 | 10 => Policy::Skip,
        11 | 12 => Policy::Continue,
        13 | 14 => Policy::Stop,
        _ => Policy::Halt,
    }
}

impl fmt::Display for StagePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, role, after, policy, .. } = self;
        write!(f, "{name} {role:?} after {after:?}")?;
        if let Some(wait) = self.wait {
            write!(f, " waits {}", wait.name())?;
        }
        if let Some(batch) = self.max_batch {
            write!(f, " max_batch {batch}")?;
        }
        let leaves = if self.may_leave { " may leave" } else { "" };
        write!(f, " on failure {policy:?}{leaves}")
    }
}
