//! Scripts: a ring, its graph, and what happens to it; and how `proptest` makes them.

use proptest::prelude::*;

/// A ring, its graph, and the steps.
#[derive(Debug, Clone)]
pub struct Script {
    /// Number of slots, a power of two.
    pub capacity: usize,
    /// Number of producers; one makes a ring for one producer.
    pub producers: usize,
    /// Sequence of the first event.
    pub first: u64,
    /// For each stage, the stages upstream of it, all with lower indices.
    pub graph: Vec<Vec<usize>>,
    /// The longest batch of each stage.
    pub max_batch: usize,
    /// What happens.
    pub steps: Vec<Step>,
}

/// One thing that happens. Indices are taken modulo what there is, and counts may be more than the
/// ring has slots.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)] // the fields are what their names say
pub enum Step {
    /// Publishes `count` events, all or none.
    Publish { producer: usize, count: usize },
    /// Claims `count` slots, all or none, and gives them up.
    Abandon { producer: usize, count: usize },
    /// Publishes as many events as fit, at most `count`.
    UpTo { producer: usize, count: usize },
    /// Two producers claim one after another and settle in the opposite order. With one producer,
    /// nothing.
    Crossed { counts: [usize; 2], abandon: [bool; 2] },
    /// Polls for at most `max` events, and finishes at most `finish` of them.
    Poll { consumer: usize, max: usize, finish: usize },
    /// A consumer leaves, unless it is the last one.
    Leave { consumer: usize },
    /// A consumer joins.
    Join { start: Start },
    /// Accepts no more events.
    Close,
}

/// Where a consumer joins.
#[derive(Debug, Clone, Copy)]
pub enum Start {
    /// At the next event.
    Now,
    /// At the oldest event that the ring is certain to hold.
    Oldest,
    /// So many events before the next one.
    Back(usize),
}

/// Number of dynamic stages for consumers that join.
pub const DYNAMIC_STAGES: usize = 2;

fn step() -> impl Strategy<Value = Step> {
    let small = || prop_oneof![8 => 0..5_usize, 1 => 5..80_usize];
    let start =
        prop_oneof![Just(Start::Now), Just(Start::Oldest), (0..9_usize).prop_map(Start::Back)];
    prop_oneof![
        8 => (0..4_usize, small()).prop_map(|(producer, count)| Step::Publish { producer, count }),
        2 => (0..4_usize, small()).prop_map(|(producer, count)| Step::Abandon { producer, count }),
        2 => (0..4_usize, small()).prop_map(|(producer, count)| Step::UpTo { producer, count }),
        2 => ([small(), small()], any::<[bool; 2]>())
            .prop_map(|(counts, abandon)| Step::Crossed { counts, abandon }),
        12 => (0..8_usize, small(), small())
            .prop_map(|(consumer, max, finish)| Step::Poll { consumer, max, finish }),
        1 => (0..8_usize).prop_map(|consumer| Step::Leave { consumer }),
        1 => start.prop_map(|start| Step::Join { start }),
        1 => Just(Step::Close),
    ]
}

/// For each of at most `most` stages, a set of stages before it.
fn graph(most: usize) -> impl Strategy<Value = Vec<Vec<usize>>> {
    prop::collection::vec(any::<u8>(), 1..=most).prop_map(|sets| {
        let upstream =
            |(stage, set): (usize, &u8)| (0..stage).filter(|bit| set >> bit & 1 == 1).collect();
        sets.iter().enumerate().map(upstream).collect()
    })
}

/// Scripts of at most `most` steps.
pub fn scripts(most: usize) -> impl Strategy<Value = Script> {
    let capacity = prop_oneof![8 => 0..4_u32, 1 => 4..13_u32].prop_map(|power| 1_usize << power);
    let first = prop_oneof![4 => Just(0_u64), 1 => any::<u32>().prop_map(u64::from)];
    let max_batch = prop_oneof![Just(usize::MAX), 1..4_usize];
    let steps = prop::collection::vec(step(), 0..most);
    (capacity, 1..4_usize, first, graph(5), max_batch, steps).prop_map(
        |(capacity, producers, first, graph, max_batch, steps)| Script {
            capacity,
            producers,
            first,
            graph,
            max_batch,
            steps,
        },
    )
}
