//! Runs a script on a ring and on the model, and compares them after each step.

use lapwing::error::{BatchError, PollError};
use lapwing::graph::{DynamicStages, Graph, StageId, StartAt};
use lapwing::producer::{ClaimBatch, Sequencer, WhenFull};
use lapwing::{Builder, Consumers, Disruptor, Poller, Producer, Stage};

use super::model::Model;
use super::script::{DYNAMIC_STAGES, Script, Start, Step};

/// Runs `script`.
///
/// # Panics
///
/// If the ring does something else than the model.
pub fn run(script: &Script) {
    let first = script.first;
    if script.producers == 1 {
        let ring = Disruptor::single_producer(script.capacity, || 0).first_sequence(first);
        let (producer, consumers) = build(ring, script);
        World::new(script, vec![producer], consumers).run();
    } else {
        let ring = Disruptor::multi_producer(script.capacity, || 0).first_sequence(first);
        let (producer, consumers) = build(ring, script);
        let producers = (0..script.producers).map(|_| producer.clone()).collect();
        World::new(script, producers, consumers).run();
    }
}

type Ring<S> = (Producer<u64, S>, Consumers<'static, u64>);

fn build<S: Sequencer>(ring: Builder<'static, u64, S>, script: &Script) -> Ring<S> {
    let mut graph = Graph::new();
    let mut ids: Vec<StageId> = Vec::new();
    for (stage, upstream) in script.graph.iter().enumerate() {
        let begun = graph.stage(Stage::new(stage.to_string()).max_batch(script.max_batch));
        let begun = upstream.iter().fold(begun, |stage, &other| stage.after(ids[other]));
        ids.push(begun.poller());
    }
    ring.dynamic_stages(DYNAMIC_STAGES).graph(graph).build().expect("the graph has no cycle")
}

struct World<'a, S: Sequencer> {
    script: &'a Script,
    model: Model,
    producers: Vec<Producer<u64, S>>,
    dynamic_stages: DynamicStages<u64>,
    /// As in the model; `None` once it has left.
    pollers: Vec<Option<Poller<u64>>>,
    /// The value of the next event.
    value: u64,
}

impl<'a, S: Sequencer> World<'a, S> {
    fn new(
        script: &'a Script,
        producers: Vec<Producer<u64, S>>,
        mut consumers: Consumers<'static, u64>,
    ) -> Self {
        let take =
            |stage: usize| consumers.take_poller(&stage.to_string()).expect("it is a poller");
        let pollers: Vec<_> = (0..script.graph.len()).map(take).map(Some).collect();
        let model = Model::new(script.capacity, &script.graph);
        Self {
            script,
            model,
            producers,
            dynamic_stages: consumers.dynamic_stages(),
            pollers,
            value: 0,
        }
    }

    fn run(mut self) {
        for &step in &self.script.steps {
            self.step(step);
            self.compare();
        }
        self.step(Step::Close);
        self.drain();
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Publish { producer, count } => self.publish(producer, count),
            Step::Abandon { producer, count } => self.abandon(producer, count),
            Step::UpTo { producer, count } => self.up_to(producer, count),
            Step::Crossed { counts, abandon } => self.crossed(counts, abandon),
            Step::Poll { consumer, max, finish } => self.poll(consumer, max, finish),
            Step::Leave { consumer } => self.leave(consumer),
            Step::Join { start } => self.join(start),
            Step::Close => {
                self.producers[0].close();
                self.model.close();
            }
        }
    }

    /// What a claim of `count` slots has to answer, and which values it then publishes.
    fn expected(&mut self, count: usize) -> Result<Vec<u64>, BatchError> {
        let capacity = self.script.capacity;
        if count == 0 {
            return Err(BatchError::Zero);
        }
        if count > capacity {
            return Err(BatchError::TooLarge { requested: count, capacity });
        }
        if !self.model.is_open() {
            return Err(BatchError::Closed);
        }
        if count > self.model.free() {
            return Err(BatchError::Full);
        }
        self.value += count as u64;
        Ok((self.value - count as u64..self.value).collect())
    }

    /// The sequences of the next `count` events.
    fn next_sequences(&self, count: usize) -> std::ops::Range<u64> {
        let next = self.script.first + self.model.claimed() as u64;
        next..next + count as u64
    }

    fn publish(&mut self, producer: usize, count: usize) {
        let sequences = self.next_sequences(count);
        let expected = self.expected(count);
        let values = expected.clone().unwrap_or_default();
        let producer = producer % self.producers.len();
        let published = self.producers[producer]
            .try_publish_batch(count, |slots| slots.copy_from_slice(&values).expect("as many"));
        assert_eq!(published, expected.map(|_| sequences));
        self.model.settle(values.into_iter().map(Some));
    }

    fn abandon(&mut self, producer: usize, count: usize) {
        let sequences = self.next_sequences(count);
        let expected = self.expected(count);
        let producer = producer % self.producers.len();
        let claimed =
            self.producers[producer].try_claim_batch(count).map(|claim| claim.sequences());
        assert_eq!(claimed, expected.clone().map(|_| sequences));
        // The only producer claims the same slots again.
        if expected.is_ok() && self.producers.len() > 1 {
            self.model.settle((0..count).map(|_| None));
        }
    }

    fn up_to(&mut self, producer: usize, count: usize) {
        let fitting = count.min(self.model.free()).max(count.min(1));
        let sequences = self.next_sequences(fitting);
        let expected = self.expected(fitting);
        let values = expected.clone().unwrap_or_default();
        let producer = producer % self.producers.len();
        let claimed = self.producers[producer].claim_up_to_or(count, WhenFull::Refuse);
        let published = claimed.map(|claim| {
            let claim = claim.expect("only `DropNew` drops events");
            fill_and_publish(claim, &values)
        });
        assert_eq!(published, expected.map(|_| sequences));
        self.model.settle(values.into_iter().map(Some));
    }

    fn crossed(&mut self, counts: [usize; 2], abandon: [bool; 2]) {
        let [count, other] = counts.map(|count| count.max(1));
        if self.producers.len() < 2 || !self.model.is_open() || count + other > self.model.free() {
            return;
        }
        let [first, second] = [count, other].map(|count| self.expected(count).expect("they fit"));
        let [one, two, ..] = &mut self.producers[..] else { unreachable!("there are two") };
        let held = one.try_claim_batch(count).expect("it fits");
        let late = two.try_claim_batch(other).expect("both fit");
        for (claim, values, abandon) in [(late, &second, abandon[1]), (held, &first, abandon[0])] {
            if abandon {
                drop(claim);
            } else {
                fill_and_publish(claim, values);
            }
        }
        for (values, abandon) in [(first, abandon[0]), (second, abandon[1])] {
            self.model.settle(values.into_iter().map(|value| (!abandon).then_some(value)));
        }
    }

    fn poll(&mut self, consumer: usize, max: usize, finish: usize) {
        let consumer = consumer % self.pollers.len();
        let Some(poller) = &mut self.pollers[consumer] else { return };
        let readable = self.model.poll(consumer);
        match poller.poll_max(max) {
            Ok(mut batch) => {
                let position = self.model.position(consumer).expect("it is there") as u64;
                assert!(!readable.is_empty());
                assert_eq!(batch.first_sequence(), self.script.first + position);
                assert_eq!(batch.as_slice(), &readable[..batch.len()]);
                assert!(batch.len() <= max && (max == 0 || !batch.is_empty()));
                let finish = finish.min(batch.len());
                batch.consume(finish);
                drop(batch);
                self.model.finish(consumer, finish);
            }
            Err(PollError::Empty) => {
                assert!(
                    readable.is_empty() && !self.model.is_drained(consumer),
                    "empty, but not {readable:?}"
                );
            }
            Err(PollError::Closed) => assert!(self.model.is_drained(consumer), "drained"),
            Err(PollError::Halted(cause)) => panic!("halted: {cause:?}"),
        }
    }

    fn leave(&mut self, consumer: usize) {
        let consumer = consumer % self.pollers.len();
        // Without its last consumer, an open ring halts.
        if self.model.present() > 1 {
            self.pollers[consumer] = None;
            self.model.leave(consumer);
        }
    }

    fn join(&mut self, start: Start) {
        let (first, claimed) = (self.script.first, self.model.claimed() as u64);
        let at = match start {
            Start::Now => StartAt::Now,
            Start::Oldest => StartAt::Oldest,
            Start::Back(events) => {
                StartAt::Sequence((first + claimed).saturating_sub(events as u64).max(first))
            }
        };
        let name = format!("guest {}", self.pollers.len());
        let Ok(dynamic_stage) = self.dynamic_stages.join(name, at) else { return };
        let begins = dynamic_stage.sequence();
        let oldest = claimed.saturating_sub(self.script.capacity as u64);
        assert!((first + oldest..=first + claimed).contains(&begins), "{start:?} is at {begins}");
        match at {
            StartAt::Now => assert_eq!(begins, first + claimed),
            StartAt::Sequence(asked) => assert_eq!(begins, asked),
            StartAt::Oldest => {}
        }
        self.pollers.push(Some(dynamic_stage.poller()));
        self.model.join((begins - first) as usize);
    }

    /// Compares what can be asked at any time.
    fn compare(&self) {
        for producer in &self.producers {
            assert_eq!(producer.free_slots(), self.model.free());
        }
        for (consumer, poller) in self.pollers.iter().enumerate() {
            let position =
                self.model.position(consumer).map(|position| self.script.first + position as u64);
            assert_eq!(poller.as_ref().map(Poller::sequence), position);
        }
    }

    /// Every consumer that is left finishes every event.
    fn drain(&mut self) {
        let is_left = |world: &Self, &consumer: &usize| {
            world.pollers[consumer].is_some() && !world.model.is_drained(consumer)
        };
        // Each round over all consumers finishes at least one event, or passes claims that were
        // given up.
        for _ in 0..=self.pollers.len() * (self.model.claimed() + 1) {
            for consumer in (0..self.pollers.len())
                .filter(|consumer| is_left(self, consumer))
                .collect::<Vec<_>>()
            {
                self.poll(consumer, usize::MAX, usize::MAX);
            }
        }
        self.compare();
        let late: Vec<_> =
            (0..self.pollers.len()).filter(|consumer| is_left(self, consumer)).collect();
        assert!(late.is_empty(), "not drained: {late:?}");
    }
}

fn fill_and_publish<S: Sequencer>(
    mut claim: ClaimBatch<'_, u64, S>,
    values: &[u64],
) -> std::ops::Range<u64> {
    claim.slots().copy_from_slice(values).expect("as many");
    claim.publish().expect("the ring is open")
}
