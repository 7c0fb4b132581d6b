//! What a producer does apart from its calls: the deeds of the first one, and when each ends. Not
//! here: the calls (`producers`).

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use lapwing::Producer;
use lapwing::consumer::StopHandle;
use lapwing::graph::DynamicStages;
use lapwing::lifecycle::WorkerGroup;
use lapwing::producer::Sequencer;

use super::build::{guest_settings, names};
use super::consumers::{take, visit};
use super::event::Event;
use super::faults::Fault;
use super::hub::{Hub, Message};
use super::producers::{Before, Feed};
use super::program::{Deed, End, Guest, Program};
use super::witness::Observer;

/// What a producer does apart from its calls, and when it ends.
pub(super) struct Ends<'a, O> {
    pub(super) program: &'a Program,
    pub(super) calls: usize,
    /// The first producer does the deeds and ends the ring.
    pub(super) hands: Option<Hands<O>>,
    pub(super) has_ended: bool,
}

impl<O: Observer> Ends<'_, O> {
    /// What the producer does before the call `index`. `is_over` says whether the time of the run
    /// is over, if it has one.
    pub(super) fn before<S: Sequencer>(
        &mut self,
        is_over: Option<bool>,
        index: usize,
        feed: &Feed,
        producer: &Producer<Event, S>,
    ) -> Before {
        let (end, last) = (self.program.end, self.calls);
        let is_at = |at: usize| is_over.unwrap_or(at.min(last) == index);
        let mut before = Before::Calls;
        if let Some(hands) = &self.hands {
            let turn = |at: usize, deed: &Deed| match deed {
                _ if is_over.is_none() => (at.min(last) == index).then_some(0),
                // Among calls that are repeated, it is repeated too.
                Deed::Resize { .. } => {
                    (index + 1).is_multiple_of(at + 1).then_some((index + 1) / (at + 1))
                }
                _ => (at == index).then_some(0),
            };
            hands.act_at(turn, feed);
            if let End::Close(at) | End::Shutdown(at) | End::Halt(at) = end
                && !self.has_ended
                && is_at(at)
            {
                self.has_ended = true;
                before = hands.end(producer);
            }
        }
        if !is_over.unwrap_or(index == last) {
            return before;
        }
        match end {
            End::Die => Before::Dies,
            End::DropProducers => Before::Ends,
            // It calls until it is refused, to meet the end.
            _ if is_over.is_some() => before,
            _ => Before::Ends,
        }
    }
}

/// What the first producer needs for its deeds.
pub(super) struct Hands<O> {
    pub(super) program: Arc<Program>,
    pub(super) hub: Hub,
    pub(super) observer: O,
    pub(super) stops: HashMap<String, StopHandle>,
    pub(super) groups: HashMap<usize, WorkerGroup>,
    pub(super) dynamic_stages: DynamicStages<Event>,
    pub(super) guests: Arc<Mutex<Vec<StopHandle>>>,
}

impl<O: Observer> Hands<O> {
    /// Does the deeds that are due. `turn` says how often one was due before.
    fn act_at(&self, turn: impl Fn(usize, &Deed) -> Option<usize>, feed: &Feed) {
        for (number, (at, deed)) in self.program.deeds.iter().enumerate() {
            if let Some(turn) = turn(*at, deed) {
                self.act(deed, number, turn, feed);
            }
        }
    }

    /// Ends the ring.
    fn end<S: Sequencer>(&self, producer: &Producer<Event, S>) -> Before {
        match self.program.end {
            End::Shutdown(_) if !self.program.by_hand => self.hub.send(Message::Shutdown),
            End::Halt(_) if !self.program.by_hand => {
                self.observer.injected(Fault::Halt);
                self.hub.send(Message::Halt);
            }
            _ => {
                self.observer.injected(Fault::Close);
                producer.close();
                return Before::Closes;
            }
        }
        Before::Calls
    }

    fn act(&self, deed: &Deed, number: usize, turn: usize, feed: &Feed) {
        match deed {
            Deed::Stop { stage, worker } => {
                let stage = *stage % self.program.stages.len();
                let worker = *worker % self.program.stages[stage].consumers();
                let name = names(&self.program, stage).nth(worker).expect("it has one");
                if let Some(stop) = self.stops.get(&name) {
                    self.observer.injected(Fault::Stopped);
                    self.observer.stops(stage);
                    stop.stop();
                }
            }
            Deed::Resize { stage, size } => {
                if let Some(group) = self.groups.get(&(*stage % self.program.stages.len())) {
                    self.observer.injected(Fault::Resize);
                    group.resize(1 + (*size + turn) % group.max()).expect("it is in range");
                }
            }
            Deed::Join(guest) => self.join(guest.clone(), number, feed),
            Deed::StopGuest => {
                let stop = self.guests.lock().expect("no thread panics with it").pop();
                stop.iter().for_each(StopHandle::stop);
            }
        }
    }

    fn join(&self, guest: Guest, number: usize, feed: &Feed) {
        let first = self.program.first;
        let next = feed.next.unwrap_or(first);
        let stage = lapwing::Stage::new(format!("guest {number}"));
        let stage = guest_settings(&self.program, &guest, stage);
        let (dynamic_stages, hub, observer) =
            (self.dynamic_stages.clone(), self.hub.clone(), self.observer.clone());
        let stops = move |stop| hub.send(Message::MayStop(stop));
        if guest.is_beside {
            return self.hub.spawn(move || {
                let (visited, dynamic_stage) =
                    take(&dynamic_stages, number, guest, stage, next, first);
                Message::Visited(visit(visited, dynamic_stage, &observer, stops))
            });
        }
        let (visited, dynamic_stage) = take(&dynamic_stages, number, guest, stage, next, first);
        self.hub.spawn(move || Message::Visited(visit(visited, dynamic_stage, &observer, stops)));
    }
}
