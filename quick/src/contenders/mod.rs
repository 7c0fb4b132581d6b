//! The five libraries. Each one runs every graph as its documentation shows it; what a library cannot do, it does as its
//! users do.
//!
//! ```text
//! lapwing, disruptor                      one ring for the whole graph
//! rtrb, crossbeam, std_mpsc --> arcs      a ring or a queue for each arrow of the graph
//! ```

mod arcs; // every graph over a queue for each arrow
mod crossbeam; // crossbeam_queue::ArrayQueue
mod disruptor; // the crate disruptor
mod lapwing; // this project
mod rtrb; // rtrb::RingBuffer
mod std_mpsc; // std::sync::mpsc::sync_channel

use crate::crew::{Failure, Run};
use crate::graphs::{Graph, Load};

/// A library that takes part.
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    /// Its ways to wait, of which the fastest is measured.
    pub(crate) settings: Vec<Setting>,
}

/// A library with one of its ways to wait.
pub(crate) struct Setting {
    pub(crate) wait: &'static str,
    /// Runs a graph once.
    pub(crate) run: fn(Graph, Load) -> Result<Run, Failure>,
}

/// All of them, in the order of the columns. Lapwing runs with its defaults.
pub(crate) fn all() -> Vec<Contender> {
    use self::disruptor::Wait;

    let setting = |wait, run| Setting { wait, run };
    vec![
        Contender { name: "lapwing", settings: vec![setting("adaptive", lapwing::run)] },
        Contender {
            name: "disruptor",
            settings: vec![
                setting("busy-spin", |graph, load| disruptor::run(Wait::BusySpin, graph, load)),
                setting("spin-hint", |graph, load| disruptor::run(Wait::SpinHint, graph, load)),
                setting("yield", |graph, load| disruptor::run(Wait::Yield, graph, load)),
                setting("sleep", |graph, load| disruptor::run(Wait::Sleep(1), graph, load)),
                setting("sleep-250us", |graph, load| {
                    disruptor::run(Wait::Sleep(250_000), graph, load)
                }),
            ],
        },
        Contender {
            name: "rtrb",
            settings: vec![
                setting("spin", |graph, load| arcs::run(rtrb::Wait::Spin, graph, load)),
                setting("yield", |graph, load| arcs::run(rtrb::Wait::Yield, graph, load)),
            ],
        },
        Contender {
            name: "ArrayQueue",
            settings: vec![setting("yield", |graph, load| {
                arcs::run(crossbeam::Queues, graph, load)
            })],
        },
        Contender {
            name: "std mpsc",
            settings: vec![setting("park", |graph, load| {
                arcs::run(std_mpsc::Channels, graph, load)
            })],
        },
    ]
}
