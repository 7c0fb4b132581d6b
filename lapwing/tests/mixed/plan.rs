//! Everything that is drawn from a seed: the ring, its graph, its threads, and the actions during
//! the run.

use std::ops::Range;
use std::time::Duration;

use lapwing::graph::{Placement, StartAt};
use lapwing::{MAX_FIRST_SEQUENCE, Sequence, Stage};

use crate::common::Lcg;
use crate::strategy::{Strategy, Unseen};

/// A set of stages, one bit each.
pub(crate) type Bits = u64;

/// Everything that a seed determines, which excludes the interleaving of the threads.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) capacity: usize,
    pub(crate) first: Sequence,
    pub(crate) is_multi: bool,
    pub(crate) producers: u64,
    /// Number of events that each producer tries to publish.
    pub(crate) events: u64,
    pub(crate) stages: Vec<StagePlan>,
    /// Whether the graph ends with a stage that clears.
    pub(crate) clears: bool,
    pub(crate) placement: Placement,
    pub(crate) wait: Wait,
    pub(crate) producer_wait: Wait,
    pub(crate) seats: usize,
    /// What producer 0 does before it publishes its event of that number.
    pub(crate) deeds: Vec<(u64, Deed)>,
    pub(crate) is_watched: bool,
    pub(crate) start: Start,
}

/// A stage and the stages that it depends on.
#[derive(Debug)]
pub(crate) struct StagePlan {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) after: Vec<usize>,
    /// The stages that must have finished an event before this one, and those that must not have.
    pub(crate) before: Bits,
    pub(crate) behind: Bits,
    wait: Option<Wait>,
    max_batch: Option<usize>,
    pub(crate) timeout: Option<Duration>,
    is_blocking: bool,
    thread: Option<String>,
    /// Whether it may be stopped, or leave, before the end.
    pub(crate) may_leave: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    ReadBatch,
    Write,
    WriteBatch,
    Poller,
    Workers { size: usize, max: usize, is_by_key: bool, writes: bool },
}

impl Kind {
    pub(crate) fn writes(&self) -> bool {
        matches!(self, Self::Write | Self::WriteBatch | Self::Workers { writes: true, .. })
    }
}

/// A strategy, and whether it announces that it parks.
#[derive(Debug, Clone)]
pub(crate) enum Wait {
    Seen(Strategy),
    Unseen(Strategy),
}

impl Wait {
    fn new(strategy: Strategy, is_seen: bool) -> Self {
        if is_seen { Self::Seen(strategy) } else { Self::Unseen(strategy) }
    }

    fn spins(&self) -> bool {
        matches!(self, Self::Seen(Strategy::BusySpin) | Self::Unseen(Strategy::BusySpin))
    }
}

/// An action during the run.
#[derive(Debug, Clone)]
pub(crate) enum Deed {
    Stop(String),
    Resize(String, usize),
    Guest(GuestPlan),
    StopGuest,
    Shutdown,
    Close,
    Halt,
}

/// A consumer that joins.
#[derive(Debug, Clone)]
pub(crate) struct GuestPlan {
    pub(crate) name: String,
    pub(crate) start: StartAt,
    pub(crate) is_poller: bool,
    /// The number of events after which it leaves; `None` to stay to the end.
    pub(crate) leaves_after: Option<u64>,
    pub(crate) wait: Option<Strategy>,
    pub(crate) max_batch: Option<usize>,
}

/// How the threads are started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    Library,
    /// The threads of the plan, each with `Consumer::run_together`.
    ByHand,
}

/// Draws random values from a seed.
struct Draw(Lcg);

impl Draw {
    fn one_in(&mut self, count: u64) -> bool {
        self.0.below(count) == 0
    }

    fn within(&mut self, range: Range<u64>) -> u64 {
        range.start + self.0.below(range.end - range.start)
    }

    fn maybe<T>(&mut self, count: u64, draw: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.one_in(count).then(|| draw(self))
    }
}

impl Plan {
    pub(crate) fn new(seed: u64) -> Self {
        let draw = &mut Draw(Lcg(seed ^ 0x6d69_7865_6400));
        (0..4).for_each(|_| _ = draw.one_in(2)); // similar seeds give similar first numbers
        let capacity = if draw.one_in(6) { 1024 } else { 1 << draw.within(1..7) };
        let is_multi = draw.one_in(2);
        let producers = if is_multi { draw.within(1..4) } else { 1 };
        let is_seen = !draw.one_in(8);
        let mut stages = draw_graph(draw, is_seen);
        let placement = draw_placement(draw, &mut stages, producers);
        let wait = Wait::new(Strategy::draw_polite(&mut draw.0), is_seen);
        let producer_wait = Wait::new(Strategy::draw(&mut draw.0), is_seen);
        let spins = producer_wait.spins()
            || stages.iter().any(|stage| stage.wait.as_ref().is_some_and(Wait::spins));
        let events = match draw.within(0..10) {
            0 => draw.within(1..5),
            // If a strategy spins under oversubscription, an event takes some time slices.
            _ if spins => draw.within(5..30),
            1..7 => draw.within(20..200),
            _ => draw.within(200..1_000),
        };
        let seats = draw.maybe(2, |draw| draw.within(1..4) as usize).unwrap_or(0);
        let first = match draw.within(0..8) {
            0 => MAX_FIRST_SEQUENCE,
            1 => draw.within(1..5_000),
            _ => 0,
        };
        Self {
            seed,
            capacity,
            first,
            is_multi,
            producers,
            events,
            deeds: draw_deeds(draw, &stages, seats, events),
            stages,
            clears: draw.one_in(4),
            placement,
            wait,
            producer_wait,
            seats,
            is_watched: draw.one_in(3),
            start: if draw.one_in(5) { Start::ByHand } else { Start::Library },
        }
    }

    /// The stages that see every event.
    pub(crate) fn lasting(&self) -> Bits {
        bits(&self.stages, |stage| !stage.may_leave)
    }

    pub(crate) fn writers(&self) -> Bits {
        bits(&self.stages, |stage| stage.kind.writes())
    }

    /// The stages that a guest depends on.
    pub(crate) fn before_guests(&self) -> Bits {
        if self.clears {
            return bits(&self.stages, |_| true);
        }
        let last = self.stages.iter().rposition(|stage| stage.kind.writes());
        last.map_or(0, |last| 1 << last | self.stages[last].before)
    }

    pub(crate) fn is_halted(&self) -> bool {
        let asks = self.deeds.iter().any(|(_, deed)| matches!(deed, Deed::Halt));
        asks && self.start == Start::Library
    }

    /// The random numbers of one thread.
    pub(crate) fn lcg(&self, thread: u64) -> Lcg {
        let mut lcg = Lcg(self.seed.wrapping_add((thread + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        lcg.below(2);
        lcg
    }
}

fn bits(stages: &[StagePlan], is_in: impl Fn(&StagePlan) -> bool) -> Bits {
    let ids = stages.iter().enumerate().filter(|(_, stage)| is_in(stage));
    ids.fold(0, |bits, (id, _)| bits | 1 << id)
}

impl StagePlan {
    /// As the library expects it, except for its dependencies.
    pub(crate) fn stage(&self) -> Stage {
        let mut stage = Stage::new(&*self.name);
        match self.wait.clone() {
            Some(Wait::Seen(strategy)) => stage = stage.wait(strategy),
            Some(Wait::Unseen(strategy)) => stage = stage.wait(Unseen(strategy)),
            None => {}
        }
        if let Some(events) = self.max_batch {
            stage = stage.max_batch(events);
        }
        // Other stages are closures, or have no handler.
        if let (Some(timeout), Kind::Read | Kind::Write) = (self.timeout, &self.kind) {
            stage = stage.timeout(timeout);
        }
        if let Some(thread) = &self.thread {
            stage = stage.on_thread(&**thread);
        }
        if self.is_blocking { stage.blocking() } else { stage }
    }
}

// ---- the graph ----

/// One to six stages: in a row, in parallel, and joins. A stage that writes runs alone.
fn draw_graph(draw: &mut Draw, is_seen: bool) -> Vec<StagePlan> {
    let count = draw.within(1..7) as usize;
    let mut stages: Vec<StagePlan> = Vec::new();
    let mut last: Vec<usize> = Vec::new();
    while stages.len() < count {
        let left = (count - stages.len()) as u64;
        if left == 1 || draw.one_in(2) {
            let kind = draw_kind(draw, true);
            let id = push(draw, &mut stages, kind, last, is_seen);
            last = vec![id];
        } else {
            last = draw_side(draw, &mut stages, last, left, is_seen);
        }
    }
    // At least one stage sees everything; which one is random.
    let faithful = draw.0.below(stages.len() as u64) as usize;
    for (id, stage) in stages.iter_mut().enumerate() {
        let is_group = matches!(stage.kind, Kind::Workers { .. });
        stage.may_leave = id != faithful && !is_group && draw.one_in(4);
    }
    stages
}

/// Parallel stages, with further stages downstream of some of them.
fn draw_side(
    draw: &mut Draw,
    stages: &mut Vec<StagePlan>,
    after: Vec<usize>,
    left: u64,
    is_seen: bool,
) -> Vec<usize> {
    let width = draw.within(2..left.min(4) + 1);
    let first: Vec<usize> = (0..width)
        .map(|_| {
            let kind = draw_kind(draw, false);
            push(draw, stages, kind, after.clone(), is_seen)
        })
        .collect();
    let mut last = first.clone();
    for _ in 0..draw.within(0..left - width + 1) {
        let mut after: Vec<usize> = first.iter().copied().filter(|_| draw.one_in(2)).collect();
        if after.is_empty() {
            after.push(first[0]);
        }
        last.retain(|id| !after.contains(id));
        let kind = draw_kind(draw, false);
        last.push(push(draw, stages, kind, after, is_seen));
    }
    last
}

fn draw_kind(draw: &mut Draw, is_alone: bool) -> Kind {
    match draw.within(0..12) {
        0 | 1 if is_alone => Kind::Write,
        2 if is_alone => Kind::WriteBatch,
        3 | 4 => Kind::ReadBatch,
        5 => Kind::Poller,
        6 | 7 => {
            let max = draw.within(1..4) as usize;
            let size = draw.within(1..max as u64 + 1) as usize;
            let (is_by_key, writes) = (draw.one_in(2), is_alone && draw.one_in(2));
            Kind::Workers { size, max, is_by_key, writes }
        }
        _ => Kind::Read,
    }
}

fn push(
    draw: &mut Draw,
    stages: &mut Vec<StagePlan>,
    kind: Kind,
    after: Vec<usize>,
    is_seen: bool,
) -> usize {
    let id = stages.len();
    let before = after.iter().fold(0, |bits, &id| bits | 1 << id | stages[id].before);
    for (other, stage) in stages.iter_mut().enumerate() {
        stage.behind |= (before >> other & 1) << id;
    }
    stages.push(StagePlan {
        name: format!("s{id}"),
        kind,
        after,
        before,
        behind: 0,
        wait: draw.maybe(2, |draw| Wait::new(Strategy::draw(&mut draw.0), is_seen)),
        max_batch: draw.maybe(3, |draw| draw.within(1..10) as usize),
        timeout: draw.maybe(6, |draw| Duration::from_micros(draw.within(20..500))),
        is_blocking: false,
        thread: None,
        may_leave: false,
    });
    id
}

// ---- which thread runs what ----

fn draw_placement(draw: &mut Draw, stages: &mut [StagePlan], producers: u64) -> Placement {
    let mut placement = match draw.within(0..6) {
        0 | 1 => Placement::thread_per_stage(),
        2 | 3 => Placement::threads(draw.within(1..4) as usize),
        _ => Placement::automatic().producers(producers as usize),
    };
    let mut groups = [Vec::new(), Vec::new()];
    let has_groups = draw.one_in(3);
    for stage in stages.iter_mut().filter(|stage| stage.kind != Kind::Poller) {
        match draw.within(0..8) {
            0 => stage.is_blocking = true,
            1 => stage.thread = Some(format!("t{}", draw.within(0..2))),
            2..6 if has_groups => groups[draw.within(0..2) as usize].push(stage.name.clone()),
            _ => {}
        }
    }
    for (number, names) in groups.into_iter().enumerate().filter(|(_, names)| !names.is_empty()) {
        placement = placement.group(format!("g{number}"), names);
    }
    placement
}

// ---- the actions during the run ----

fn draw_deeds(
    draw: &mut Draw,
    stages: &[StagePlan],
    seats: usize,
    events: u64,
) -> Vec<(u64, Deed)> {
    let mut deeds = Vec::new();
    for stage in stages {
        let is_stopped = stage.may_leave && stage.kind != Kind::Poller;
        if is_stopped {
            deeds.push((draw.within(0..events), Deed::Stop(stage.name.clone())));
        }
        if let Kind::Workers { max, .. } = stage.kind {
            for _ in 0..draw.within(0..5) {
                let size = draw.within(1..max as u64 + 1) as usize;
                deeds.push((draw.within(0..events), Deed::Resize(stage.name.clone(), size)));
            }
            if max > 1 && draw.one_in(3) {
                let worker = format!("{}-{}", stage.name, draw.within(0..max as u64));
                deeds.push((draw.within(0..events), Deed::Stop(worker)));
            }
        }
    }
    if seats > 0 {
        for number in 0..draw.within(1..8) {
            let guest = Deed::Guest(draw_guest(draw, number));
            deeds.push((draw.within(0..events), guest));
            if draw.one_in(3) {
                deeds.push((draw.within(0..events), Deed::StopGuest));
            }
        }
    }
    let end = draw.within(0..events);
    match draw.within(0..12) {
        0..2 => deeds.push((end, Deed::Shutdown)),
        2 => deeds.push((end, Deed::Close)),
        3 => deeds.push((end, Deed::Halt)),
        _ => {}
    }
    deeds.sort_by_key(|(number, _)| *number);
    deeds
}

fn draw_guest(draw: &mut Draw, number: u64) -> GuestPlan {
    GuestPlan {
        name: format!("guest {number}"),
        start: if draw.one_in(2) { StartAt::Now } else { StartAt::Oldest },
        is_poller: draw.one_in(2),
        leaves_after: draw.maybe(2, |draw| draw.within(0..100)),
        wait: draw.maybe(2, |draw| Strategy::draw_polite(&mut draw.0)),
        max_batch: draw.maybe(3, |draw| draw.within(1..10) as usize),
    }
}
