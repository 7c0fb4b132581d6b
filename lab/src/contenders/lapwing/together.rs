//! Lapwing with one ring per producer, and one thread that runs a stage of each ring in turn. There
//! is no order between producers. The thread waits and paces like any thread that stages share.
//! Topologies without a reader of several rings run over rings with pollers.

use lapwing::Disruptor;

use super::one_ring::feed::feed;
use super::one_ring::wiring::refused;
use crate::contenders::contender::Contender;
use crate::load::event::{Event, PAD_8, PAD_32, PAD_64, PAD_256};
use crate::load::exchange::Exchange;
use crate::load::fold::Fold;
use crate::load::paced::{Pace, Paced};
use crate::load::topologies::Topology;
use crate::load::topologies::sequencer::{self, PRODUCERS};
use crate::load::workload::{EventBytes, Workload};
use crate::measure::crew::{Crew, RunError};
use crate::measure::run::Pass;
use crate::rings::crew;
use crate::rings::tally::Tally;

/// Three rings whose stages share a thread, and the contender for topologies without a reader of
/// several rings.
pub(super) struct Together(pub(super) Box<dyn Contender>);

impl Contender for Together {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn wait(&self) -> &'static str {
        self.0.wait()
    }

    fn fewest_slots(&self, topology: Topology) -> usize {
        self.0.fewest_slots(topology)
    }

    fn run(&self, topology: Topology, workload: &Workload) -> Result<Pass, RunError> {
        if topology != Topology::Sequencer {
            return self.0.run(topology, workload);
        }
        match workload.event_bytes {
            EventBytes::B8 => three_rings::<PAD_8>(workload),
            EventBytes::B32 => three_rings::<PAD_32>(workload),
            EventBytes::B64 => three_rings::<PAD_64>(workload),
            EventBytes::B256 => three_rings::<PAD_256>(workload),
        }
    }

    fn ping_pong(&self, slots: usize, exchange: Exchange) -> Result<Pass, RunError> {
        self.0.ping_pong(slots, exchange)
    }

    fn paced(&self, pace: &Pace) -> Result<Paced, RunError> {
        self.0.paced(pace)
    }
}

/// Creates a ring per producer, with a stage that folds its events.
fn three_rings<const PAD: usize>(workload: &Workload) -> Result<Pass, RunError> {
    let mut sums = PRODUCERS.map(|_| Tally::<Fold>::new());
    let mut threads = Crew::new(workload.placement);
    let mut stages = Vec::new();
    for ((origin, name), sum) in sequencer::producers().zip(&mut sums) {
        let (producer, consumers) =
            Disruptor::single_producer(workload.ring, Event::<PAD>::default)
                .stage(name)
                .read(|event, _, end_of_batch| {
                    sum.answer.add(event.digest());
                    sum.count(end_of_batch);
                })
                .build()
                .map_err(refused)?;
        let events = sequencer::share(workload.events, origin);
        let feed = feed(name, producer, events, workload.publish, move |event, value| {
            *event = Event::new(value, origin);
        });
        crew::enlist(&mut threads, vec![feed]);
        stages.extend(consumers);
    }
    crew::enlist_consumers(&mut threads, "consumer", stages);
    let finish = threads.run()?;
    let answers = sums.iter().map(|sum| sum.answer.answer()).collect();
    let batches = sums.iter().map(|sum| sum.batches).sum();
    Ok(Pass::in_batches(finish, answers, workload.events, &[batches]))
}
