//! Episodes: programs with any number of events, each for a time. Everything that is drawn for an
//! episode comes from one seed and its number; the interleaving of the threads does not.

use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use lapwing::Sequence;
use lapwing::consumer::Outcome;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::board::{Board, locked};
use super::channels::{self, Channel};
use super::checker::{Checked, Numbers};
use super::consumers::Ended;
use super::draw::{self, Length};
use super::event::LANES;
use super::facts::Facts;
use super::faults::Fault;
use super::in_line::InLine;
use super::past::{Ending, Past};
use super::program::{Program, consumer_name};
use super::rules::must;
use super::run::{self, Observed};
use super::world::{Account, World};

/// One in so many episodes is long.
const LONG_IN: u64 = 6;
/// The time of a long one, and the least and the most of another one.
const LONG_TIME: Duration = Duration::from_millis(1_500);
const LEAST_TIME: Duration = Duration::from_millis(1);
const MOST_TIME: Duration = Duration::from_millis(500);
/// The board watches for hangs.
const PATIENCE: Duration = Duration::MAX;

/// A ring or a channel, and how long it runs.
#[derive(Debug, Clone)]
pub struct Episode {
    seed: u64,
    number: u64,
    what: What,
    time: Duration,
    /// How often it is built.
    lives: u32,
}

/// What runs.
#[derive(Debug, Clone)]
enum What {
    Ring(Arc<Program>),
    Channel(Arc<Channel>),
}

impl Episode {
    /// Draws the episode with this number.
    ///
    /// # Panics
    ///
    /// Never: a drawn program is not refused.
    #[must_use]
    pub fn draw(seed: u64, number: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        bytes[8..16].copy_from_slice(&number.to_le_bytes());
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        let mut runner = TestRunner::new_with_rng(Config::default(), rng);
        let ring = || draw::programs_of(Length::Long).prop_map(|it| What::Ring(Arc::new(it)));
        let what = prop_oneof![3 => ring(), 1 => draw::channels().prop_map(|it| What::Channel(Arc::new(it)))];
        let drawn =
            (what, draw::log_uniform(LEAST_TIME, MOST_TIME), 1..=3_u32, 0..4).new_tree(&mut runner);
        let (what, time, lives, choice) = drawn.expect("no program is refused").current();
        if !number.is_multiple_of(LONG_IN) {
            return Self { seed, number, what, time, lives };
        }
        let what = match what {
            What::Ring(program) if choice > 0 => {
                What::Ring(Arc::new(draw::saturated((*program).clone())))
            }
            other => other,
        };
        Self { seed, number, what, time: LONG_TIME, lives: 1 }
    }

    /// Whether it is a long one.
    #[must_use]
    pub const fn is_long(&self) -> bool {
        self.number.is_multiple_of(LONG_IN)
    }

    /// Runs it, and tells `board` what happens and what is wrong.
    pub fn run(&self, board: &Arc<Board>) {
        for life in 0..self.lives {
            if board.violation().is_some() {
                return;
            }
            if life > 0 {
                board.injected(Fault::Restart);
            }
            if let Err(wrong) = self.live(life, board) {
                board.refuse(&wrong, &self.description(life));
            }
        }
    }

    fn description(&self, life: u32) -> String {
        let Self { seed, number, what, time, .. } = self;
        let head = format!("--seed {seed} --episode {number}, life {life}, for {time:?}");
        match what {
            What::Ring(program) => format!("{head}: {program:#?}"),
            What::Channel(channel) => format!("{head}: {channel:#?}"),
        }
    }

    fn live(&self, life: u32, board: &Arc<Board>) -> Checked {
        let topology = match &self.what {
            What::Ring(program) => program.topology(),
            What::Channel(channel) => channel.kind.name(),
        };
        let entry = board.enter(topology, self.description(life));
        // Another one in each ring, so that an event of an earlier ring is not whole.
        let seed = self.seed ^ self.number << 20 ^ u64::from(life);
        let seed = seed.wrapping_mul(0xd134_2543_de82_ef95);
        match &self.what {
            What::Channel(channel) => channels::run(channel, board, entry, seed, self.time),
            What::Ring(program) => {
                let in_line = InLine::new(program, board, entry, seed);
                let observed = self.run_ring(program, &in_line)?;
                judge(program, &observed, &in_line.0)
            }
        }
    }

    /// Runs a ring, and tells it when its time is over.
    fn run_ring(&self, program: &Arc<Program>, in_line: &InLine) -> Result<Observed, String> {
        let (ended, is_ended) = mpsc::channel::<()>();
        thread::scope(|scope| {
            scope.spawn(move || {
                // An error: the ring has ended, or its time is over.
                _ = is_ended.recv_timeout(self.time);
                in_line.0.end();
            });
            let _ended = ended; // dropped when the ring has ended
            run::run(program, in_line, PATIENCE, |monitor| in_line.0.entry.set_monitor(monitor))
        })
    }
}

/// What became of the sequences, as far as counts say it.
struct Totals {
    end: Sequence,
    events: u64,
}

impl Account for Totals {
    fn end(&self) -> Sequence {
        self.end
    }

    /// The checks in line show that no event is among them.
    fn after_given_up(&self, _: Sequence) -> Sequence {
        self.end
    }

    fn events(&self) -> u64 {
        self.events
    }
}

/// Judges how a ring has ended, after each event was judged in line.
fn judge(program: &Program, observed: &Observed, seen: &Facts) -> Checked {
    let accepted = *locked(&seen.accepted);
    let account = Totals { end: observed.snapshot.published, events: accepted.iter().sum() };
    let mut pasts: Vec<Vec<Past>> = Vec::new();
    for (stage, plan) in program.stages.iter().enumerate() {
        let kept = locked(&seen.stages[stage].pasts);
        must(kept.len() == plan.consumers(), || {
            format!("a handler of stage {stage} was not dropped")
        })?;
        pasts.push(kept.values().map(|(past, _)| past.clone()).collect());
    }
    let mut guests = Vec::new();
    for visit in observed.visits.iter().filter(|visit| visit.start.is_ok()) {
        let kept = locked(&seen.guests).get(&visit.number).cloned();
        let (past, numbers) = kept.ok_or("a handler of a guest was not dropped")?;
        judge_numbers(&past, visit.ended.as_ref(), &numbers, &accepted)?;
        guests.push((visit, past));
    }
    let world = World::new(program, observed, &account, pasts, guests);
    world.judge()?;
    for (stage, plan) in program.stages.iter().enumerate() {
        let of_stage = &seen.stages[stage];
        let kept = locked(&of_stage.pasts);
        for (&worker, (past, numbers)) in kept.iter().filter(|_| !plan.is_group()) {
            let name = consumer_name(program, stage, worker);
            let ended = if plan.is_poller() { None } else { Some(world.ended(&name)?) };
            let judged = judge_numbers(past, ended, numbers, &accepted);
            judged.map_err(|wrong| format!("{name}: {wrong}"))?;
        }
        let is_drained = |worker| {
            let ended = world.ended(&consumer_name(program, stage, worker));
            ended.is_ok_and(|ended| ended.outcome == Outcome::Drained)
        };
        if plan.is_group() && (0..plan.consumers()).any(is_drained) {
            let tally = locked(&of_stage.tally);
            for (lane, (sums, &accepted)) in tally.iter().zip(&accepted).enumerate() {
                sums.check(lane, accepted)?;
            }
        }
    }
    Ok(())
}

/// A consumer has seen no event that was not accepted, and all of them if it has drained the ring.
fn judge_numbers(
    past: &Past,
    ended: Option<&Ended>,
    numbers: &Numbers,
    accepted: &[u64; LANES],
) -> Checked {
    let is_drained =
        past.end == Ending::Closed || ended.is_some_and(|ended| ended.outcome == Outcome::Drained);
    for (lane, (numbers, &accepted)) in numbers.iter().zip(accepted).enumerate() {
        let Some(seen) = *numbers else { continue };
        must(seen == accepted || seen < accepted && !is_drained, || {
            format!("accepted {accepted} events of producer {lane}, but seen {seen}")
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_seed_gives_the_same_episodes_each_time() {
        for number in 0..50 {
            let [one, other] = [3, 3].map(|seed| Episode::draw(seed, number));
            assert_eq!(format!("{one:?}"), format!("{other:?}"));
        }
        let [one, other] = [3, 4].map(|seed| Episode::draw(seed, 1).description(0));
        assert_ne!(one, other);
    }

    #[test]
    fn every_topology_and_every_end_is_drawn() {
        let episodes: Vec<_> = (0..1_000).map(|number| Episode::draw(1, number)).collect();
        let (mut topologies, mut ends, mut capacities) =
            <(HashSet<_>, HashSet<_>, HashSet<_>)>::default();
        for episode in &episodes {
            match &episode.what {
                What::Channel(channel) => _ = topologies.insert(channel.kind.name()),
                What::Ring(program) => {
                    topologies.insert(program.topology());
                    ends.insert(std::mem::discriminant(&program.end));
                    capacities.insert(program.capacity);
                }
            }
        }
        assert_eq!(topologies.len(), 13, "{topologies:?}");
        assert_eq!(ends.len(), 5);
        assert_eq!(capacities.len(), 17, "1 to 65536");
    }

    #[test]
    fn episodes_are_right() {
        let board = Arc::new(Board::default());
        for number in 1..12 {
            let episode = Episode::draw(1, number);
            let time = episode.time.min(Duration::from_millis(20));
            Episode { time, ..episode }.run(&board);
        }
        assert_eq!(board.violation(), None);
        assert!(board.totals().handled > 0);
    }
}
