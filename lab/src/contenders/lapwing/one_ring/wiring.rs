//! The five topologies over one ring: a stage per consumer, in the order of the graph. The work is
//! that of `topologies`, called on the event in its slot.

use super::crew::{self, Feed};
use super::feed::feed;
use super::library::consumer::{Access, Shared};
use super::library::error::BuildError;
use super::library::producer::Single;
use super::library::{Builder, Disruptor, SingleProducer};
use super::setting;
use crate::contenders::Setting;
use crate::load::event::{Event, SharedEvent};
use crate::load::fold::Fold;
use crate::load::topologies::diamond::{self, FizzBuzz};
use crate::load::topologies::multicast::CONSUMERS;
use crate::load::topologies::sequencer::{self, FoldPerProducer};
use crate::load::topologies::{Topology, pipeline};
use crate::load::workload::{Publish, Workload};
use crate::measure::crew::{Answers, Finish, RunError};
use crate::measure::run::Pass;
use crate::rings::tally::Tally;

/// The parameters of a wiring besides its topology.
#[derive(Clone, Copy)]
pub(super) struct Wiring<'a> {
    /// The wait of all ends of the ring, and the consumers that share a thread.
    pub(super) setting: Setting,
    /// The amount of data.
    pub(super) workload: &'a Workload,
}

/// Returns the error of a ring that could not be built.
pub(in crate::contenders) fn refused(error: BuildError) -> RunError {
    RunError::Build(error.to_string())
}

impl Wiring<'_> {
    /// Runs `topology` once, with events of one size.
    ///
    /// # Errors
    ///
    /// [`RunError`] if the ring could not be built or a worker did not complete.
    pub(super) fn run<const PAD: usize>(self, topology: Topology) -> Result<Pass, RunError> {
        match topology {
            Topology::Unicast => self.unicast::<PAD>(),
            Topology::Pipeline => self.pipeline::<PAD>(),
            Topology::Sequencer => self.sequencer::<PAD>(),
            Topology::Multicast => self.multicast::<PAD>(),
            Topology::Diamond => self.diamond::<PAD>(),
        }
    }

    /// Returns the builder of a ring for one producer, without stages.
    fn ring<'env, E: Default + Send + 'static>(self) -> Builder<'env, E, Single> {
        let builder = Disruptor::single_producer(self.workload.ring, E::default);
        setting::applied(self.setting, builder, 1)
    }

    /// Runs a consumer that folds per event, or per batch if events are published in batches.
    fn unicast<const PAD: usize>(self) -> Result<Pass, RunError> {
        let mut sum = Tally::<Fold>::new();
        let ring = self.ring::<Event<PAD>>();
        let ring = match self.workload.publish {
            Publish::One => ring.stage("consumer").read(|event, _, end_of_batch| {
                sum.answer.add(event.digest());
                sum.count(end_of_batch);
            }),
            Publish::Batch(_) => ring.stage("consumer").read_batch(|events, _| {
                Shared::events(events).for_each(|event| sum.answer.add(event.digest()));
                sum.count(true);
            }),
        };
        let (producer, consumers) = ring.build().map_err(refused)?;

        let feeds = self.one_feed(producer, Event::write);
        let finish = crew::run(feeds, consumers, self.workload.placement)?;
        Ok(self.pass(finish, vec![sum.answer.answer()], &[sum.batches]))
    }

    /// Runs two steps that change the event in its slot, and a third that folds.
    fn pipeline<const PAD: usize>(self) -> Result<Pass, RunError> {
        let mut first = Tally::<()>::new();
        let mut second = Tally::<()>::new();
        let mut third = Tally::<Fold>::new();
        let (producer, consumers) = self
            .ring::<Event<PAD>>()
            .stage("step-1")
            .write(|event, _, end_of_batch| {
                event.change(pipeline::step_one(event.value(), event.digest()));
                first.count(end_of_batch);
            })
            .stage("step-2")
            .write(|event, _, end_of_batch| {
                event.change(pipeline::step_two(event.value(), event.digest()));
                second.count(end_of_batch);
            })
            .stage("step-3")
            .read(|event, _, end_of_batch| {
                third.answer.add(event.digest());
                third.count(end_of_batch);
            })
            .build()
            .map_err(refused)?;

        let feeds = self.one_feed(producer, Event::write);
        let finish = crew::run(feeds, consumers, self.workload.placement)?;
        let batches = [first.batches, second.batches, third.batches];
        Ok(self.pass(finish, vec![third.answer.answer()], &batches))
    }

    /// Runs three producers that share the ring, and a consumer that folds the events of each.
    fn sequencer<const PAD: usize>(self) -> Result<Pass, RunError> {
        let workload = self.workload;
        let mut sum = Tally::<FoldPerProducer>::new();
        let builder = Disruptor::multi_producer(workload.ring, Event::<PAD>::default);
        let producers = Topology::Sequencer.producers();
        let (producer, consumers) = setting::applied(self.setting, builder, producers)
            .stage("consumer")
            .read(|event, _, end_of_batch| {
                sum.answer.add(event.left(), event.digest());
                sum.count(end_of_batch);
            })
            .build()
            .map_err(refused)?;

        let feeds = sequencer::producers().map(|(origin, name)| {
            let events = sequencer::share(workload.events, origin);
            feed(name, producer.clone(), events, workload.publish, move |event, value| {
                *event = Event::new(value, origin);
            })
        });
        let feeds = feeds.collect();
        drop(producer); // only the feeds keep the ring open
        let finish = crew::run(feeds, consumers, workload.placement)?;
        Ok(self.pass(finish, sum.answer.answers(), &[sum.batches]))
    }

    /// Runs three parallel consumers that fold every event.
    fn multicast<const PAD: usize>(self) -> Result<Pass, RunError> {
        let mut sums = [(); CONSUMERS.len()].map(|()| Tally::<Fold>::new());
        let (producer, consumers) = self
            .ring::<Event<PAD>>()
            .parallel(|parallel| {
                CONSUMERS.iter().zip(&mut sums).fold(parallel, |parallel, (name, sum)| {
                    parallel.stage(*name).read(|event, _, end_of_batch| {
                        sum.answer.add(event.digest());
                        sum.count(end_of_batch);
                    })
                })
            })
            .build()
            .map_err(refused)?;

        let feeds = self.one_feed(producer, Event::write);
        let finish = crew::run(feeds, consumers, self.workload.placement)?;
        let answers = sums.iter().map(|sum| sum.answer.answer()).collect();
        let batches = sums.each_ref().map(|sum| sum.batches);
        Ok(self.pass(finish, answers, &batches))
    }

    /// Runs two parallel stages that each write a property of the event, and a third that joins.
    fn diamond<const PAD: usize>(self) -> Result<Pass, RunError> {
        let mut left = Tally::<()>::new();
        let mut right = Tally::<()>::new();
        let mut joined = Tally::<FizzBuzz>::new();
        let (producer, consumers) = self
            .ring::<SharedEvent<PAD>>()
            .parallel(|parallel| {
                parallel
                    .stage("fizz")
                    .read(|event, _, end_of_batch| {
                        event.leave_left(diamond::fizz(event.digest()));
                        left.count(end_of_batch);
                    })
                    .stage("buzz")
                    .read(|event, _, end_of_batch| {
                        event.leave_right(diamond::buzz(event.digest()));
                        right.count(end_of_batch);
                    })
            })
            .stage("fizz-buzz")
            .read(|event, _, end_of_batch| {
                joined.answer.add(event.digest(), event.left(), event.right());
                joined.count(end_of_batch);
            })
            .build()
            .map_err(refused)?;

        let feeds = self.one_feed(producer, SharedEvent::write);
        let finish = crew::run(feeds, consumers, self.workload.placement)?;
        let batches = [left.batches, right.batches, joined.batches];
        Ok(self.pass(finish, joined.answer.answers(), &batches))
    }

    /// Returns the feed of the only producer, which publishes every event.
    fn one_feed<E: 'static>(
        self,
        producer: SingleProducer<E>,
        write: impl Fn(&mut E, u32) + Copy + Send + 'static,
    ) -> Vec<Feed<'static, E, Single>> {
        vec![feed("producer", producer, self.workload.events, self.workload.publish, write)]
    }

    /// Returns the pass of a run with this `finish`, whose consumers received `batches` each.
    fn pass(self, finish: Finish, answers: Answers, batches: &[u64]) -> Pass {
        Pass::in_batches(finish, answers, self.workload.events, batches)
    }
}
