//! The five topologies over one ring: a handler per consumer, in the order of the graph. The work
//! is that of `topologies`, called on the event in its slot.

use disruptor::{Producer, build_multi_producer, build_single_producer};

use super::cpus::Cpus;
use super::drive;
use super::finish_line::{FinishLine, Seen};
use super::wait::Wait;
use crate::load::event::{Event, SharedEvent};
use crate::load::fold::Fold;
use crate::load::topologies::diamond::{self, FizzBuzz};
use crate::load::topologies::multicast::CONSUMERS;
use crate::load::topologies::sequencer::{self, FoldPerProducer};
use crate::load::topologies::{Topology, pipeline};
use crate::load::workload::Workload;
use crate::measure::crew::{Answers, Finish, RunError};
use crate::measure::run::Pass;

/// The parameters of a wiring.
#[derive(Clone, Copy)]
pub(super) struct Wiring<'a> {
    /// The wait of all ends of the ring.
    pub(super) wait: Wait,
    /// The work to run.
    pub(super) topology: Topology,
    /// The amount of data.
    pub(super) workload: &'a Workload,
}

impl Wiring<'_> {
    /// Runs the topology once, with events of one size.
    ///
    /// # Errors
    ///
    /// [`RunError`] if a worker could not start or did not complete.
    pub(super) fn run<const PAD: usize>(self) -> Result<Pass, RunError> {
        match self.topology {
            Topology::Unicast => self.unicast::<PAD>(),
            Topology::Pipeline => self.pipeline::<PAD>(),
            Topology::Sequencer => self.sequencer::<PAD>(),
            Topology::Multicast => self.multicast::<PAD>(),
            Topology::Diamond => self.diamond::<PAD>(),
        }
    }

    /// Runs one handler that folds.
    fn unicast<const PAD: usize>(self) -> Result<Pass, RunError> {
        let mut line = self.line();
        let (sum, seen) = line.handler_state(Fold::new());
        let mut cpus = self.cpus(1);
        let builder = build_single_producer(self.workload.ring, Event::<PAD>::default, self.wait);
        let producer = cpus
            .next(builder, "consumer")
            .handle_events_with(sum.handler(|fold, event: &Event<PAD>| fold.add(event.digest())))
            .build();

        let finish = self.drive_one(producer, &cpus, line, Event::<PAD>::write)?;
        let Seen { state, batches } = seen.take()?;
        Ok(self.pass(finish, vec![state.answer()], &[batches]))
    }

    /// Runs two steps that change the event in its slot, and a third that folds.
    fn pipeline<const PAD: usize>(self) -> Result<Pass, RunError> {
        let mut line = self.line();
        let (first, first_seen) = line.handler_state(());
        let (second, second_seen) = line.handler_state(());
        let (third, third_seen) = line.handler_state(Fold::new());

        let mut cpus = self.cpus(1);
        let slots = self.workload.ring;
        let builder = build_single_producer(slots, SharedEvent::<PAD>::default, self.wait);
        let builder = cpus.next(builder, "step-1").handle_events_with(first.handler(
            |(), event: &SharedEvent<PAD>| {
                event.change(pipeline::step_one(event.value(), event.digest()));
            },
        ));
        let builder = cpus.next(builder.and_then(), "step-2").handle_events_with(second.handler(
            |(), event: &SharedEvent<PAD>| {
                event.change(pipeline::step_two(event.value(), event.digest()));
            },
        ));
        let producer = cpus
            .next(builder.and_then(), "step-3")
            .handle_events_with(
                third.handler(|fold, event: &SharedEvent<PAD>| fold.add(event.digest())),
            )
            .build();

        let finish = self.drive_one(producer, &cpus, line, SharedEvent::<PAD>::write)?;
        let Seen { state, batches } = third_seen.take()?;
        let batches = [first_seen.take()?.batches, second_seen.take()?.batches, batches];
        Ok(self.pass(finish, vec![state.answer()], &batches))
    }

    /// Runs three producers that share the ring, and a handler that folds the events of each.
    fn sequencer<const PAD: usize>(self) -> Result<Pass, RunError> {
        let mut line = self.line();
        let (sum, seen) = line.handler_state(FoldPerProducer::default());
        let mut cpus = self.cpus(sequencer::PRODUCERS.len());
        let builder = build_multi_producer(self.workload.ring, Event::<PAD>::default, self.wait);
        let producer = cpus
            .next(builder, "consumer")
            .handle_events_with(sum.handler(|folds, event: &Event<PAD>| {
                folds.add(event.left(), event.digest());
            }))
            .build();

        let feeds = sequencer::producers().map(|(origin, name)| {
            let share = sequencer::share(self.workload.events, origin);
            let write = move |event: &mut Event<PAD>, value| *event = Event::new(value, origin);
            (name, producer.clone(), share, write)
        });
        let feeds = feeds.collect();
        drop(producer); // only the feeds keep the ring open
        let finish = self.drive(feeds, &cpus, line)?;
        let Seen { state, batches } = seen.take()?;
        Ok(self.pass(finish, state.answers(), &[batches]))
    }

    /// Runs three parallel handlers that fold.
    fn multicast<const PAD: usize>(self) -> Result<Pass, RunError> {
        let mut line = self.line();
        let (sums, seen): (Vec<_>, Vec<_>) =
            CONSUMERS.iter().map(|_| line.handler_state(Fold::new())).unzip();
        let mut cpus = self.cpus(1);
        let slots = self.workload.ring;
        let mut builder =
            build_single_producer(slots, Event::<PAD>::default, self.wait).with_multi_consumer();
        for (name, sum) in CONSUMERS.into_iter().zip(sums) {
            builder = cpus.next(builder, name).handle_events_with(
                sum.handler(|fold, event: &Event<PAD>| fold.add(event.digest())),
            );
        }

        let finish = self.drive_one(builder.build(), &cpus, line, Event::<PAD>::write)?;
        let seen = seen.iter().map(|seen| seen.take()).collect::<Result<Vec<_>, _>>()?;
        let answers = seen.iter().map(|seen| seen.state.answer()).collect();
        let batches = seen.iter().map(|seen| seen.batches).collect::<Vec<_>>();
        Ok(self.pass(finish, answers, &batches))
    }

    /// Runs two parallel handlers that each write a property of the event, and a third that joins.
    fn diamond<const PAD: usize>(self) -> Result<Pass, RunError> {
        let mut line = self.line();
        let (left, left_seen) = line.handler_state(());
        let (right, right_seen) = line.handler_state(());
        let (joined, joined_seen) = line.handler_state(FizzBuzz::default());

        let mut cpus = self.cpus(1);
        let builder =
            build_single_producer(self.workload.ring, SharedEvent::<PAD>::default, self.wait);
        let builder = cpus.next(builder, "fizz").handle_events_with(left.handler(
            |(), event: &SharedEvent<PAD>| event.leave_left(diamond::fizz(event.digest())),
        ));
        let builder = cpus.next(builder, "buzz").handle_events_with(right.handler(
            |(), event: &SharedEvent<PAD>| event.leave_right(diamond::buzz(event.digest())),
        ));
        let producer = cpus
            .next(builder.and_then(), "fizz-buzz")
            .handle_events_with(joined.handler(|joined, event: &SharedEvent<PAD>| {
                joined.add(event.digest(), event.left(), event.right());
            }))
            .build();

        let finish = self.drive_one(producer, &cpus, line, SharedEvent::<PAD>::write)?;
        let Seen { state, batches } = joined_seen.take()?;
        let batches = [left_seen.take()?.batches, right_seen.take()?.batches, batches];
        Ok(self.pass(finish, state.answers(), &batches))
    }

    /// Returns the finish line of the handlers.
    fn line(self) -> FinishLine {
        FinishLine::after(self.workload.events)
    }

    /// Returns the placement of the threads.
    fn cpus(self, producers: usize) -> Cpus {
        Cpus::of(self.workload.placement, producers, self.topology.threads())
    }

    /// Makes the only producer publish every event.
    fn drive_one<E, P: Producer<E> + Send>(
        self,
        producer: P,
        cpus: &Cpus,
        line: FinishLine,
        write: impl Fn(&mut E, u32) + Send,
    ) -> Result<Finish, RunError> {
        self.drive(vec![("producer", producer, self.workload.events, write)], cpus, line)
    }

    /// Makes every producer publish its share.
    fn drive<E, P: Producer<E> + Send>(
        self,
        feeds: Vec<(&'static str, P, u32, impl Fn(&mut E, u32) + Send)>,
        cpus: &Cpus,
        line: FinishLine,
    ) -> Result<Finish, RunError> {
        drive::all(feeds, cpus, line, self.wait, self.workload.publish)
    }

    /// Returns the pass of a run with this `finish`, whose handlers received `batches` each.
    fn pass(self, finish: Finish, answers: Answers, batches: &[u64]) -> Pass {
        let handed_over = f64::from(self.workload.events) * batches.len() as f64;
        let all_batches = batches.iter().sum::<u64>();
        let events_per_batch = handed_over / all_batches.max(1) as f64;
        Pass { answers, events_per_batch, ..Pass::one_by_one(finish) }
    }
}
