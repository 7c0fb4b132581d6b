//! The thread of each consumer of a ring, from what the stages and the placement ask for.
//!
//! ```text
//! on_thread, group ─> named     the given name; also for a stage with the name of such a thread
//! blocking, pinned ─> alone     its own name
//! clear            ─> beside    the thread of the stage before it, whatever its name
//! the others       ─> spread    its own name if alone, else the name of the ring and a number
//! ```

use std::collections::{BTreeSet, HashMap, HashSet};

use super::Placement;
use super::spread::{Unit, spread};
use crate::error::BuildError;

/// The prefix of thread names in a ring whose own name no thread can have.
const NAMELESS: &str = "ring";

/// The request of a stage of the graph.
#[derive(Debug)]
pub(crate) struct Wish {
    pub(crate) stage: String,
    /// The consumers that need a thread: the stage itself, or its workers. None for a poller.
    pub(crate) consumers: Vec<WishedConsumer>,
    pub(crate) is_group: bool,
    /// The thread that the stage names.
    pub(crate) thread: Option<String>,
    pub(crate) is_blocking: bool,
    /// The stage whose thread it shares, whichever that is.
    pub(crate) beside: Option<usize>,
}

/// A stage or a worker that needs a thread.
#[derive(Debug)]
pub(crate) struct WishedConsumer {
    pub(crate) name: String,
    pub(crate) pin: Option<usize>,
}

/// The place where a consumer runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ThreadPlace {
    pub(crate) thread: String,
    pub(crate) pin: Option<usize>,
    /// Whether other consumers run there.
    pub(crate) is_shared: bool,
}

/// The place of each consumer of a ring.
#[derive(Debug)]
pub(crate) struct Plan {
    /// For each stage of the graph, the places of its consumers.
    places: Vec<Vec<ThreadPlace>>,
}

impl Plan {
    /// Places the consumers of `wishes`, which has one wish for each stage of `ring`, in their
    /// order.
    ///
    /// # Errors
    ///
    /// - [`BuildError::InvalidName`] for a name that no thread can have.
    /// - an error of [`BuildError`] about threads for a placement that is impossible, or that contradicts a stage.
    pub(crate) fn new(
        placement: &Placement,
        ring: &str,
        wishes: &[Wish],
    ) -> Result<Self, BuildError> {
        let mut draft = Draft::new(wishes);
        draft.say(placement)?;
        draft.join_named();
        draft.leave_alone(placement);
        draft.spread(placement, ring)?;
        draft.put_beside();
        draft.check_blocking()?;
        let pins = draft.pins(placement)?;
        let mut places: Vec<Vec<ThreadPlace>> = wishes.iter().map(|_| Vec::new()).collect();
        for (at, Consumer { stage, .. }) in draft.consumers.iter().enumerate() {
            let thread = draft.thread(at);
            let is_shared = draft.mates(at).next().is_some();
            let pin = pins.get(thread).copied();
            places[*stage].push(ThreadPlace { thread: thread.to_owned(), pin, is_shared });
        }
        Ok(Self { places })
    }

    /// The places of the consumers of `stage`.
    pub(crate) fn of_stage(&self, stage: usize) -> &[ThreadPlace] {
        &self.places[stage]
    }

    /// Whether a thread runs more than one consumer.
    pub(crate) fn has_shared(&self) -> bool {
        self.places.iter().flatten().any(|place| place.is_shared)
    }
}

/// A consumer in a draft. It has no `thread` until one is chosen.
#[derive(Debug)]
struct Consumer<'a> {
    stage: usize,
    name: &'a str,
    pin: Option<usize>,
    thread: Option<String>,
}

/// An unfinished plan.
#[derive(Debug)]
struct Draft<'a> {
    wishes: &'a [Wish],
    /// In the order of the graph.
    consumers: Vec<Consumer<'a>>,
}

impl<'a> Draft<'a> {
    fn new(wishes: &'a [Wish]) -> Self {
        let consumers = wishes.iter().enumerate().flat_map(|(stage, wish)| {
            wish.consumers.iter().map(move |WishedConsumer { name, pin }| Consumer {
                stage,
                name,
                pin: *pin,
                thread: wish.thread.clone(),
            })
        });
        Self { wishes, consumers: consumers.collect() }
    }

    /// Puts consumers on the threads that groups name.
    fn say(&mut self, placement: &Placement) -> Result<(), BuildError> {
        let of_stages = self.wishes.iter().filter_map(|wish| wish.thread.as_ref());
        for thread in of_stages.chain(placement.groups.iter().map(|(thread, _)| thread)) {
            if !is_thread_name(thread) {
                return Err(BuildError::InvalidName { stage: thread.clone() });
            }
        }
        for (thread, stages) in &placement.groups {
            for name in stages {
                self.say_one(thread, name)?;
            }
        }
        Ok(())
    }

    /// Puts the consumers of `name`, a stage or a worker, on `thread`.
    fn say_one(&mut self, thread: &str, name: &str) -> Result<(), BuildError> {
        let place = || (thread.to_owned(), name.to_owned());
        let stage = self.wishes.iter().position(|wish| wish.stage == name);
        if stage.is_some_and(|stage| self.wishes[stage].consumers.is_empty()) {
            let (thread, stage) = place();
            return Err(BuildError::PollerInGroup { thread, stage });
        }
        let is_named =
            |consumer: &&mut Consumer<'_>| Some(consumer.stage) == stage || consumer.name == name;
        let mut is_known = false;
        for consumer in self.consumers.iter_mut().filter(is_named) {
            is_known = true;
            let first = consumer.thread.get_or_insert_with(|| thread.to_owned());
            if first != thread {
                let threads = (first.clone(), thread.to_owned());
                return Err(BuildError::TwoThreads { stage: name.to_owned(), threads });
            }
        }
        if is_known {
            return Ok(());
        }
        let (thread, stage) = place();
        Err(BuildError::UnknownInGroup { thread, stage })
    }

    /// The names of threads before the spread.
    fn named(&self) -> HashSet<String> {
        self.consumers.iter().filter_map(|consumer| consumer.thread.clone()).collect()
    }

    /// Puts a consumer on the thread with its own name, if another consumer is there.
    fn join_named(&mut self) {
        let named = self.named();
        for consumer in self.consumers.iter_mut().filter(|consumer| named.contains(consumer.name)) {
            consumer.thread.get_or_insert_with(|| consumer.name.to_owned());
        }
    }

    /// Gives a thread of its own to each consumer that must have one, or asks for a CPU.
    fn leave_alone(&mut self, placement: &Placement) {
        let is_spread = placement.is_spread();
        for consumer in &mut self.consumers {
            let is_alone =
                self.wishes[consumer.stage].is_blocking || is_spread && consumer.pin.is_some();
            if is_alone {
                consumer.thread.get_or_insert_with(|| consumer.name.to_owned());
            }
        }
    }

    /// Spreads the consumers that have asked for nothing.
    fn spread(&mut self, placement: &Placement, ring: &str) -> Result<(), BuildError> {
        let wishes = self.wishes;
        let is_busy = |consumer: &&Consumer<'_>| !wishes[consumer.stage].is_blocking;
        let busy = self.consumers.iter().filter(is_busy);
        let named: BTreeSet<_> = busy.filter_map(|consumer| consumer.thread.as_deref()).collect();
        let threads = placement.threads_beside(named.len());
        if threads == Some(0) {
            return Err(BuildError::ZeroThreads);
        }
        let is_free = |consumer: &&mut Consumer<'_>| {
            consumer.thread.is_none() && wishes[consumer.stage].beside.is_none()
        };
        let mut names = Names::new(ring, wishes, self.named());
        let free: Vec<_> = self.consumers.iter_mut().filter(is_free).collect();
        let kind = |consumer: &&mut Consumer<'_>| {
            if wishes[consumer.stage].is_group { Unit::Worker } else { Unit::Stage }
        };
        let units: Vec<_> = free.iter().map(kind).collect();
        let places = spread(&units, threads.unwrap_or(usize::MAX));
        let count = |thread| places.iter().filter(|&&place| place == thread).count();
        let mut made: HashMap<usize, String> = HashMap::new();
        for (consumer, &place) in free.into_iter().zip(&places) {
            let name = if count(place) == 1 {
                consumer.name.to_owned()
            } else {
                made.entry(place).or_insert_with(|| names.unused()).clone()
            };
            consumer.thread = Some(name);
        }
        Ok(())
    }

    /// Puts a consumer that follows another stage on that stage's thread, or on its own if the
    /// stage has none.
    fn put_beside(&mut self) {
        for at in 0..self.consumers.len() {
            if self.consumers[at].thread.is_none() {
                let beside = self.wishes[self.consumers[at].stage].beside;
                let first = self.consumers.iter().find(|other| Some(other.stage) == beside);
                let thread = first.and_then(|first| first.thread.clone());
                let own = self.consumers[at].name;
                self.consumers[at].thread = Some(thread.unwrap_or_else(|| own.to_owned()));
            }
        }
    }

    fn thread(&self, at: usize) -> &str {
        self.consumers[at].thread.as_deref().unwrap_or_default()
    }

    /// The other consumers on the thread of a consumer.
    fn mates(&self, at: usize) -> impl Iterator<Item = &Consumer<'a>> {
        let thread = &self.consumers[at].thread;
        let others = self.consumers.iter().enumerate().filter(move |(other, _)| *other != at);
        others.map(|(_, consumer)| consumer).filter(move |consumer| consumer.thread == *thread)
    }

    /// Checks that a blocking consumer shares its thread only with consumers that follow it.
    fn check_blocking(&self) -> Result<(), BuildError> {
        for (at, Consumer { stage, name, .. }) in self.consumers.iter().enumerate() {
            let is_beside = |mate: &Consumer<'_>| self.wishes[mate.stage].beside == Some(*stage);
            if self.wishes[*stage].is_blocking && !self.mates(at).all(is_beside) {
                let (thread, stage) = (self.thread(at).to_owned(), (*name).to_owned());
                return Err(BuildError::BlockingShares { thread, stage });
            }
        }
        Ok(())
    }

    /// The CPU of each thread that is pinned.
    fn pins<'b>(&'b self, placement: &'b Placement) -> Result<HashMap<&'b str, usize>, BuildError> {
        let threads = (0..self.consumers.len()).map(|at| self.thread(at));
        let of_consumers = threads.clone().zip(&self.consumers);
        let of_consumers =
            of_consumers.filter_map(|(thread, consumer)| Some((thread, consumer.pin?)));
        let of_placement = placement.pins.iter().map(|(thread, cpu)| (thread.as_str(), *cpu));
        let known: HashSet<_> = threads.collect();
        let mut pins = HashMap::new();
        for (thread, second) in of_consumers.chain(of_placement) {
            if !known.contains(thread) {
                return Err(BuildError::UnknownThread { thread: thread.to_owned() });
            }
            let first = *pins.entry(thread).or_insert(second);
            if first != second {
                let thread = thread.to_owned();
                let cpus = (first, second);
                return Err(BuildError::TwoPins { thread, cpus });
            }
        }
        Ok(pins)
    }
}

/// Generates names for threads without one.
#[derive(Debug)]
struct Names {
    begins: String,
    next: usize,
    taken: HashSet<String>,
}

impl Names {
    /// Names with the prefix `ring`. None of them is in `named`, or the name of a stage or a
    /// worker.
    fn new(ring: &str, wishes: &[Wish], named: HashSet<String>) -> Self {
        let mut taken = named;
        for wish in wishes {
            taken.insert(wish.stage.clone());
            taken.extend(wish.consumers.iter().map(|consumer| consumer.name.clone()));
        }
        let begins = ring.replace('\0', "");
        let begins = if begins.is_empty() { NAMELESS.to_owned() } else { begins };
        Self { begins, next: 0, taken }
    }

    fn unused(&mut self) -> String {
        loop {
            let name = format!("{}-{}", self.begins, self.next);
            self.next += 1;
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}

/// Whether a thread can have this name.
pub(crate) fn is_thread_name(name: &str) -> bool {
    !name.is_empty() && !name.contains('\0')
}
