//! Everything that an episode draws from its seed: the ring, its graph, its load, its faults and
//! its end. The interleaving of the threads is not drawn.

mod graph; // the topologies, as lists of stages
mod load; // what producers do

use std::fmt;
use std::time::Duration;

use fastrand::Rng;

pub(super) use self::graph::{Policy, Role, StagePlan, Topology};
pub(super) use self::load::{Call, Pattern, Phase};
use super::event::LANES;
use super::faults::{self, Fault};
use crate::contenders::WaitName;

/// One in so many episodes is large: saturated, with few faults.
const LARGE_IN: u64 = 6;
/// Time of a large episode.
const LARGE_TIME: Duration = Duration::from_millis(1_500);
/// Least and most time of a small one, in microseconds.
const SMALL_US: (f64, f64) = (1_000.0, 500_000.0);
/// Powers of two of the capacity of a small ring, and of a large one.
const SMALL_BITS: std::ops::RangeInclusive<u32> = 0..=16;
const LARGE_BITS: std::ops::RangeInclusive<u32> = 9..=16;

/// How a ring ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The producers are dropped.
    Drop,
    /// The ring is closed while producers publish.
    Close,
    /// A shutdown with short timeouts, repeated until it succeeds, while producers publish.
    Shutdown,
    /// The ring is halted while producers publish.
    Halt,
    /// The producers are dropped by panics while they have claims.
    Die,
}

/// Which consumers share a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sharing {
    /// Each has a thread of its own.
    Own,
    /// As many threads as there are CPUs.
    Automatic,
    /// This many threads.
    Threads(usize),
}

/// What is drawn for one episode.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// The seed of the soak.
    pub(super) seed: u64,
    /// Which episode it is.
    pub(super) episode: u64,
    /// Whether it is there for the number of events.
    pub(super) is_large: bool,
    /// What kind of graph, or channel.
    pub(super) topology: Topology,
    /// Its stages, each behind the stages that it depends on. Empty for a channel.
    pub(super) stages: Vec<StagePlan>,
    /// Slots.
    pub(super) capacity: usize,
    /// Whether the ring is for several producers.
    pub(super) is_multi: bool,
    /// Number of producers at a time.
    pub(super) producers: usize,
    /// How consumers wait that have no strategy of their own.
    pub(super) wait: WaitName,
    /// How producers wait.
    pub(super) producer_wait: WaitName,
    /// Which consumers share a thread.
    pub(super) sharing: Sharing,
    /// Seats for consumers that join.
    pub(super) seats: usize,
    /// What producers do, one phase after the other.
    pub(super) phases: Vec<Phase>,
    /// The time of each ring.
    pub(super) time: Duration,
    /// How often the ring is built.
    pub(super) lives: u32,
    /// How each ring ends.
    pub(super) ending: Ending,
    /// Faults in each ring.
    faults: usize,
}

impl Plan {
    /// Draws an episode.
    pub(super) fn draw(seed: u64, episode: u64) -> Self {
        let draw = &mut Rng::with_seed(seed ^ episode.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let is_large = episode.is_multiple_of(LARGE_IN);
        let topology = Topology::draw(draw, is_large);
        let stages = topology.stages(draw, is_large);
        let is_multi = topology.is_multi(draw, is_large);
        let producers = if is_multi { draw.usize(1..=if is_large { 2 } else { LANES }) } else { 1 };
        let bits = if is_large { LARGE_BITS } else { SMALL_BITS };
        let time =
            if is_large { LARGE_TIME } else { faults::log_uniform(draw, SMALL_US.0, SMALL_US.1) };
        Self {
            seed,
            episode,
            is_large,
            seats: topology.seats(draw),
            topology,
            stages,
            capacity: 1 << draw.u32(bits),
            is_multi,
            producers,
            wait: draw_wait(draw, is_large),
            producer_wait: draw_wait(draw, is_large),
            sharing: draw_sharing(draw),
            phases: load::draw(draw, is_large),
            time,
            lives: if is_large { 1 } else { draw.u32(1..=3) },
            ending: draw_ending(draw),
            faults: if is_large { draw.usize(0..=6) } else { draw.usize(0..=12) },
        }
    }

    /// Returns the faults of the ring that is built for the `life`-th time.
    pub(super) fn faults(&self, life: u32) -> Vec<Fault> {
        faults::schedule(&mut self.rng(life, 0), self.time, self.faults)
    }

    /// Returns the random numbers of a thread.
    pub(super) fn rng(&self, life: u32, thread: u64) -> Rng {
        let whence = self.seed ^ self.episode << 20 ^ u64::from(life) << 10 ^ thread;
        Rng::with_seed(whence.wrapping_mul(0xd134_2543_de82_ef95))
    }

    /// Returns the seed of the payloads, another one in each ring.
    pub(super) fn payload_seed(&self, life: u32) -> u64 {
        self.rng(life, u64::MAX).u64(..)
    }
}

/// A wait strategy. Large episodes are there for events, so most of them have the default.
fn draw_wait(draw: &mut Rng, is_large: bool) -> WaitName {
    if is_large && draw.u32(0..4) > 0 {
        return WaitName::Adaptive;
    }
    WaitName::ALL[draw.usize(..WaitName::ALL.len())]
}

fn draw_sharing(draw: &mut Rng) -> Sharing {
    match draw.u32(0..6) {
        0 => Sharing::Automatic,
        1 => Sharing::Threads(draw.usize(1..=2)),
        _ => Sharing::Own,
    }
}

fn draw_ending(draw: &mut Rng) -> Ending {
    match draw.u32(0..10) {
        0..4 => Ending::Drop,
        4 | 5 => Ending::Close,
        6 | 7 => Ending::Shutdown,
        8 => Ending::Halt,
        _ => Ending::Die,
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, episode, topology, capacity, producers, time, ending, .. } = self;
        let kind = if self.is_multi { "multi" } else { "single" };
        let (wait, producer_wait) = (self.wait.name(), self.producer_wait.name());
        let stages = self.stages.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        write!(
            f,
            "--seed {seed} --episode {episode}: {}, {capacity} slots, {producers} producers \
             ({kind}), consumers wait {wait}, producers {producer_wait}, {:?}, {} faults in \
             {time:?}, end by {ending:?}; stages: {stages}",
            topology.name(),
            self.sharing,
            self.faults,
        )
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_seed_gives_the_same_episodes_each_time() {
        for episode in 0..50 {
            let [one, other] = [3, 3].map(|seed| Plan::draw(seed, episode));
            assert_eq!(format!("{one:?}"), format!("{other:?}"));
            assert_eq!(one.faults(1), other.faults(1));
        }
        assert_ne!(Plan::draw(3, 1).to_string(), Plan::draw(4, 1).to_string());
    }

    #[test]
    fn every_topology_and_every_end_is_drawn() {
        let plans: Vec<_> = (0..1_000).map(|episode| Plan::draw(1, episode)).collect();
        let topologies: HashSet<_> = plans.iter().map(|plan| plan.topology.name()).collect();
        assert_eq!(topologies.len(), Topology::ALL.len());
        let endings: HashSet<_> = plans.iter().map(|plan| format!("{:?}", plan.ending)).collect();
        assert_eq!(endings.len(), 5);
        let capacities: HashSet<_> = plans.iter().map(|plan| plan.capacity).collect();
        assert_eq!(capacities.len(), 17, "1 to 65536");
    }

    #[test]
    fn a_stage_depends_on_earlier_stages_and_writers_are_alone() {
        for plan in (0..2_000).map(|episode| Plan::draw(5, episode)) {
            for (id, stage) in plan.stages.iter().enumerate() {
                assert!(stage.after.iter().all(|&after| after < id), "{plan}");
                let is_last = stage.role.writes() && stage.may_leave;
                assert!(!is_last, "a writer that leaves changes what readers see: {plan}");
            }
        }
    }
}
