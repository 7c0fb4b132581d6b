//! The registry: which contenders exist, how each takes part in graphs and as a channel under load, and in which
//! comparisons. A further rival has one entry in [`CONTENDERS`]. The command line, the tables and the tests follow.
//!
//! Not here: the names on the command line, which are in `name`, and the adapters, one file each.

use super::channels::{ChannelKind, Refusal, Shape, wrong_answer::WrongAnswer};
use super::contender::{Contender, Entry};
use super::{
    Setting, bounded_queue, crossbeam_array_queue, disruptor, foreign, lapwing, lapwing_plain,
    over_queues, photon_ring, queues, rtrb, wrong_answer,
};
use crate::load::queue::Queue;

/// Every contender, in the order of the columns of a table.
///
/// `queue` is a queue in graphs and under load, `arcs` one in graphs only, and `channel` one under load only. `graphs`
/// is a contender in graphs that is more than a queue.
pub(super) static CONTENDERS: &[Registered] = &[
    Registered::graphs(
        "lapwing",
        "Lapwing: one ring for the whole graph",
        Kind::Own(lapwing::contender),
    )
    .under_load(ChannelKind::lapwing("This project: `lapwing::channel`"))
    .with_role(Role::Short),
    Registered::arcs::<bounded_queue::BoundedQueue>(
        "The baseline: a ring in a mutex with two condition variables, on each arc",
    )
    .with_role(Role::Short),
    Registered::queue::<queues::StdMpsc>("`std::sync::mpsc::sync_channel`").with_role(Role::Short),
    Registered::queue::<queues::CrossbeamChannel>("`crossbeam_channel::bounded`")
        .with_role(Role::Short),
    Registered::arcs::<crossbeam_array_queue::CrossbeamArrayQueue>(
        "`crossbeam_queue::ArrayQueue` on each arc; yields if it is full or empty",
    )
    .with_role(Role::Short),
    Registered::queue::<queues::Flume>("`flume::bounded`"),
    Registered::queue::<queues::Kanal>("`kanal::bounded`"),
    // These three are channels only. A graph over `gil` or `thingbuf` would hang if one of its threads failed, because
    // an end does not always report that the other one is gone. `crossfire` has one kind of channel for a single
    // sender and another one for several, and a graph takes one kind for all of its arcs.
    Registered::channel::<queues::CrossfireSingle, queues::Crossfire>(
        "`crossfire::spsc::bounded_blocking` and `crossfire::mpsc::bounded_blocking`",
    ),
    Registered::channel::<queues::GilSingle, queues::Gil>(
        "`gil::spsc::channel` and `gil::mpsc::channel`, which spin and yield",
    )
    .refusing(several_senders_to_one_slot),
    Registered::channel::<queues::Thingbuf, queues::Thingbuf>(
        "`thingbuf::mpsc::blocking::channel`",
    ),
    Registered::graphs(
        "disruptor",
        "The crate `disruptor`: one ring for the whole graph",
        Kind::Rival(disruptor::entry),
    ),
    Registered::graphs(
        "photon-ring",
        "The crate `photon-ring`: one ring per sending stage",
        Kind::Rival(photon_ring::entry),
    ),
    Registered::graphs("rtrb", "`rtrb::RingBuffer` for each arc", Kind::Rival(rtrb::entry)),
    Registered::graphs(
        "lapwing-rings",
        "Lapwing with one ring per sending stage, and so one per producer",
        Kind::Rival(lapwing::rings::entry),
    ),
    Registered::graphs(
        "lapwing-channel",
        "Lapwing's channel on each arc. Values are moved through it",
        Kind::Rival(lapwing::channel::entry),
    ),
    Registered::graphs(
        "lapwing-observable",
        "Lapwing with the words of the ring in a file, for `lapwing top`. Runs only if it is named",
        Kind::Own(lapwing::observable),
    )
    .with_role(Role::IfNamed),
    Registered::graphs(
        "lapwing-plain",
        "Lapwing without its tuning, as `--cfg lapwing_plain` builds it. Runs only if it is named",
        Kind::Own(lapwing_plain::contender),
    )
    .with_role(Role::IfNamed),
    Registered::graphs(
        "lmax",
        "The LMAX Disruptor 4, in Java: one ring for the whole graph",
        Kind::Process(foreign::lmax),
    ),
    Registered::graphs(
        "array-blocking-queue",
        "Java's `ArrayBlockingQueue` for each arc",
        Kind::Process(foreign::array_blocking_queue),
    ),
    Registered::graphs(
        "cpp-mutex-queue",
        "A ring in a mutex with two condition variables on each arc, in C++",
        Kind::Process(foreign::cpp_mutex_queue),
    ),
    Registered::graphs(
        "boost-lockfree",
        "Boost.Lockfree for each arc, in C++",
        Kind::Process(foreign::boost_lockfree),
    ),
    Registered::graphs(
        "moodycamel",
        "moodycamel's queues on each arc, in C++",
        Kind::Process(foreign::moodycamel),
    ),
    Registered::graphs(
        "wrong-answer",
        "Computes a wrong answer, to test that the error is found",
        Kind::Rival(wrong_answer::entry),
    )
    .under_load(ChannelKind::of::<WrongAnswer, WrongAnswer>(
        "Loses a value, to test that the error is found",
    ))
    .refusing(round_trips)
    .with_role(Role::Hidden),
];

/// One contender.
#[derive(Clone, Copy)]
pub(crate) struct Registered {
    /// The name on the command line and in every report.
    pub(super) name: &'static str,
    /// The comparisons in which it takes part.
    pub(super) role: Role,
    /// How it carries the events of graphs, if it does.
    pub(super) graphs: Option<Graphs>,
    /// How it carries values under load, if it does.
    pub(super) channel: Option<ChannelKind>,
    /// Asserts that an end of its queue reports that the other one is gone.
    #[cfg(test)]
    pub(super) assert_ends: Option<fn()>,
}

/// The comparisons in which a contender takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// All, also a short comparison of many cells.
    Short,
    /// Full ones.
    Full,
    /// Those for which it is named.
    IfNamed,
    /// Those for which it is named. The help does not show it.
    Hidden,
}

/// A contender in graphs.
#[derive(Clone, Copy)]
pub(crate) struct Graphs {
    /// What it is, in two parts that follow each other.
    pub(super) help: [&'static str; 2],
    /// How it is created.
    pub(super) kind: Kind,
}

/// How a contender in graphs is created.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// Lapwing, tuned or plain, once for each setting that the command line asks for.
    Own(fn(Setting) -> Box<dyn Contender>),
    /// A contender with its own settings. The fastest of them is measured.
    Rival(fn() -> Entry),
    /// A program in another language. The error is the tool that is missing, in a few words.
    Process(fn() -> Result<Entry, String>),
}

impl Registered {
    /// Creates a rival that is a queue: on each arc of a graph, and under load.
    const fn queue<Q: Queue + Default>(help: &'static str) -> Self {
        Self::on_each_arc::<Q>([help, " for each arc"]).under_load(ChannelKind::of::<Q, Q>(help))
    }

    /// Creates a rival that is a queue, on each arc of a graph.
    const fn arcs<Q: Queue + Default>(help: &'static str) -> Self {
        Self::on_each_arc::<Q>([help, ""])
    }

    const fn on_each_arc<Q: Queue + Default>(help: [&'static str; 2]) -> Self {
        const { assert!(Q::REPORTS_ENDS, "a graph would hang if one of its threads failed") };
        let graphs = Graphs { help, kind: Kind::Rival(over_queues::entry::<Q>) };
        Self { graphs: Some(graphs), ..Self::with_ends_of::<Q, Q>() }
    }

    /// Creates a rival that is a channel under load, of one kind for a single sender and of another one for several.
    const fn channel<Single: Queue + Default, Multi: Queue + Default>(help: &'static str) -> Self {
        Self::with_ends_of::<Single, Multi>().under_load(ChannelKind::of::<Single, Multi>(help))
    }

    /// Creates a contender in graphs that is more than a queue.
    const fn graphs(name: &'static str, help: &'static str, kind: Kind) -> Self {
        Self { graphs: Some(Graphs { help: [help, ""], kind }), ..Self::new(name) }
    }

    /// Creates a contender that takes part in nothing yet. A test asserts what its ends report.
    const fn with_ends_of<Single: Queue + Default, Multi: Queue + Default>() -> Self {
        Self {
            #[cfg(test)]
            assert_ends: Some(super::tests::assert_ends::<Single, Multi>),
            ..Self::new(Multi::NAME)
        }
    }

    /// Creates a contender that takes part in nothing yet.
    const fn new(name: &'static str) -> Self {
        Self {
            name,
            role: Role::Full,
            graphs: None,
            channel: None,
            #[cfg(test)]
            assert_ends: None,
        }
    }

    /// Adds a channel under load.
    const fn under_load(self, channel: ChannelKind) -> Self {
        Self { channel: Some(channel), ..self }
    }

    /// Excludes its channel from the loads for which `refusal` returns a reason.
    const fn refusing(self, refusal: Refusal) -> Self {
        match self.channel {
            Some(channel) => self.under_load(ChannelKind { refusal, ..channel }),
            None => panic!("it is no channel"),
        }
    }

    /// Sets the comparisons in which it takes part; full ones unless it is set.
    const fn with_role(self, role: Role) -> Self {
        Self { role, ..self }
    }
}

/// Refuses several senders to a channel of one slot.
fn several_senders_to_one_slot(shape: Shape, capacity: usize) -> Option<&'static str> {
    let has_several = matches!(shape, Shape::OneWay(2..));
    (has_several && capacity == 1)
        .then_some("its channel of one slot loses values of several senders")
}

/// Refuses round trips.
fn round_trips(shape: Shape, _capacity: usize) -> Option<&'static str> {
    (shape == Shape::RoundTrips).then_some("both ends would wait for a value that is lost")
}
