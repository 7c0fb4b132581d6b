//! The words of an observable ring: those for monitors, and how much memory all of them take. The
//! description in the file says where each of them lies.

use lapwing_core::{Control, Graph, Padded, Placed, Words};

use crate::activity::Activity;
use crate::dynamic_names::DynamicNames;
use crate::sync::Figure;

/// Where the words begin: after a page for the header.
pub(crate) const WORDS: usize = 4096;

/// The words of a ring that only monitors need.
#[derive(Debug)]
pub(crate) struct MonitorWords {
    /// Number of producers that wait for a free slot.
    pub(crate) waiting_producers: Placed<Padded<Figure>>,
    /// Number of events that producers dropped.
    pub(crate) dropped: Placed<Padded<Figure>>,
    /// For each stage, worker, acknowledgement and dynamic stage, what its consumer is doing.
    pub(crate) activities: Box<[Activity]>,
}

impl MonitorWords {
    /// Places the words of a ring of this shape, and the names of the consumers in its dynamic stages.
    pub(crate) fn place(words: &mut Words, graph: &Graph) -> (Self, DynamicNames) {
        let this = Self {
            waiting_producers: words.place(Padded::default()),
            dropped: words.place(Padded::default()),
            activities: (0..graph.words()).map(|_| Activity::new(words)).collect(),
        };
        let first = graph.words() - graph.dynamic_stages();
        (this, DynamicNames::place(words, first, graph.dynamic_stages()))
    }
}

/// Returns where the words of such a ring end. `None` if no file has as many bytes.
pub(crate) fn end_of_words(graph: &Graph, capacity: usize, is_multi: bool) -> Option<usize> {
    // The two counts, the activities, and the names.
    let lines = 2 + graph.words() + graph.dynamic_stages();
    let of_monitors = lines.checked_mul(align_of::<Padded<()>>())?.checked_add(WORDS)?;
    of_monitors.checked_add(Control::bytes(graph, capacity, is_multi)?)
}
