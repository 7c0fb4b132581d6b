//! The cases: the timed work, its settings, and its expected answer.

use std::fmt;

use clap::ValueEnum;

use super::claims::{self, BackOff};
use super::leisure::Leisure;
use super::singles;
use super::solo;
use super::stream::{self, Shape};
use crate::load::bare::{self, Carrier, Look};
use crate::load::event::{PAD_8, PAD_32, PAD_64, PAD_256};
use crate::load::exchange::Exchange;
use crate::load::topologies::unicast;
use crate::load::workload::EventBytes;
use crate::machine::placement::Placement;
use crate::measure::crew::{Answers, RunError};
use crate::measure::error::Error;
use crate::measure::run::Pass;
use crate::measure::runner::{Measured, Subject};
use crate::record::{Key, Record};

/// The setting that was chosen because it was the fastest, among the facts of a record.
pub(super) const SETTING: Key = Key::new("setting");

/// The measured limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Case {
    /// A round trip of a number over two bare words: the limit of any answer
    Exchange,
    /// The same over the next slot of a ring each way, stamped: the limit if most numbers use a new
    /// cache line
    StampExchange,
    /// The same over a cursor and a slot each way: the limit if events are adjacent
    SlotExchange,
    /// Events to another thread in blocks: the limit of any hand-off of single events
    Stream,
    /// The same through the memory of a ring of 64 Ki events: the limit of single events in a ring
    /// of this size
    RingStream,
    /// Single 8-byte events to another thread, through a ring of words and a cursor: the limit of
    /// unicast
    Singles,
    /// The same through a ring of 1 Ki words: the limit of unicast in a small ring
    SmallSingles,
    /// Three threads claim, write and stamp one by one: the limit of several producers in one order
    Claims,
    /// The same with a thread that reads: the limit of a ring with one order
    ClaimsRead,
    /// One thread publishes and polls through Lapwing's ring: the limit of the core
    SoloRing,
    /// One thread writes and folds without a ring: the limit of the work itself
    SoloLoop,
    /// Gives a wrong answer, to test that the error is found
    #[value(hide = true)]
    WrongAnswer,
}

impl Case {
    /// The cases of a whole table, in order.
    pub(crate) const ALL: [Self; 11] = [
        Self::Exchange,
        Self::StampExchange,
        Self::SlotExchange,
        Self::Stream,
        Self::RingStream,
        Self::Singles,
        Self::SmallSingles,
        Self::Claims,
        Self::ClaimsRead,
        Self::SoloRing,
        Self::SoloLoop,
    ];

    /// Returns the name on the command line and in every report.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Exchange => "exchange",
            Self::StampExchange => "stamp-exchange",
            Self::SlotExchange => "slot-exchange",
            Self::Stream => "stream",
            Self::RingStream => "ring-stream",
            Self::Singles => "singles",
            Self::SmallSingles => "small-singles",
            Self::Claims => "claims",
            Self::ClaimsRead => "claims-read",
            Self::SoloRing => "solo-ring",
            Self::SoloLoop => "solo-loop",
            Self::WrongAnswer => "wrong-answer",
        }
    }

    /// Returns what the help says about it.
    pub(super) fn help(self) -> String {
        let value = self.to_possible_value();
        let help = value.as_ref().and_then(|value| value.get_help());
        help.map_or_else(String::new, ToString::to_string)
    }

    /// Returns whether events move from thread to thread, or through memory, as fast as they can.
    pub(super) const fn moves_bytes(self) -> bool {
        !matches!(
            self,
            Self::Exchange
                | Self::StampExchange
                | Self::SlotExchange
                | Self::Claims
                | Self::ClaimsRead
        )
    }

    /// Returns whether it is a limit for events of any size.
    pub(super) const fn has_sizes(self) -> bool {
        matches!(self, Self::Stream | Self::RingStream)
    }
}

/// One case with events of one size.
#[derive(Clone, Debug)]
pub(super) struct Probe {
    case: Case,
    event_bytes: EventBytes,
    placement: Placement,
    /// The settings to try, or one without meaning if the case has none.
    settings: Vec<Setting>,
    chosen: usize,
    /// The right answer for the events of a run.
    expected: Answers,
}

/// A setting of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Setting {
    /// Nothing.
    Only,
    /// Blocks and buffer of a stream.
    Shape(Shape),
    /// Slots of a ring.
    Slots(usize),
    /// The carrier of the number of an exchange, and how its threads poll.
    Exchange(Carrier, Look),
    /// How the reader of single events spends the time between batches.
    Singles(Leisure),
    /// What a thread does after a lost claim, and how the reader, if there is one, spends the time
    /// between batches.
    Claims(BackOff, Option<Leisure>),
}

impl Probe {
    /// Creates a case that has not run.
    pub(super) fn new(case: Case, event_bytes: EventBytes, placement: Placement) -> Self {
        let exchanges = |carrier| Look::ALL.map(|look| Setting::Exchange(carrier, look)).to_vec();
        let shapes = |shapes: Vec<Shape>| shapes.into_iter().map(Setting::Shape).collect();
        let settings = match case {
            Case::Stream => shapes(Shape::candidates(event_bytes.bytes())),
            Case::RingStream => shapes(Shape::of_a_ring(event_bytes.bytes())),
            Case::SoloRing => solo::RING_SLOTS.map(Setting::Slots).to_vec(),
            Case::Exchange => exchanges(Carrier::Word),
            Case::StampExchange => exchanges(Carrier::Stamp),
            Case::SlotExchange => exchanges(Carrier::Slot),
            Case::Singles | Case::SmallSingles => {
                Leisure::ALL_AND_WATCHING.map(Setting::Singles).to_vec()
            }
            Case::Claims => BackOff::ALL.map(|back_off| Setting::Claims(back_off, None)).to_vec(),
            Case::ClaimsRead => {
                let read =
                    |back_off| Leisure::ALL.map(|leisure| Setting::Claims(back_off, Some(leisure)));
                BackOff::ALL.into_iter().flat_map(read).collect()
            }
            Case::SoloLoop | Case::WrongAnswer => vec![Setting::Only],
        };
        Self { case, event_bytes, placement, settings, chosen: 0, expected: Answers::new() }
    }

    /// Returns the setting that runs.
    fn setting(&self) -> Setting {
        self.settings[self.chosen]
    }

    /// Returns the threads of a run.
    fn threads(&self) -> usize {
        match self.setting() {
            Setting::Exchange(..) | Setting::Shape(_) | Setting::Singles(_) => 2,
            Setting::Claims(_, reader) => claims::THREADS + usize::from(reader.is_some()),
            Setting::Slots(_) | Setting::Only => 1,
        }
    }

    /// Returns the operations of an event. An exchange hands a number over twice, and the limit is that of one
    /// direction.
    fn operations_per_event(&self) -> u32 {
        if matches!(self.setting(), Setting::Exchange(..)) { 2 } else { 1 }
    }

    fn pass(&self, events: u32) -> Result<Pass, RunError> {
        let placement = self.placement;
        match self.setting() {
            Setting::Exchange(carrier, look) => {
                bare::run(carrier, look, Exchange { exchanges: events, placement, pause_ns: 0 })
            }
            Setting::Shape(shape) => match self.event_bytes {
                EventBytes::B8 => stream::run::<PAD_8>(shape, events, placement),
                EventBytes::B32 => stream::run::<PAD_32>(shape, events, placement),
                EventBytes::B64 => stream::run::<PAD_64>(shape, events, placement),
                EventBytes::B256 => stream::run::<PAD_256>(shape, events, placement),
            },
            Setting::Singles(leisure) if self.case == Case::SmallSingles => {
                singles::run::<{ singles::FEW_SLOTS }>(leisure, events, placement)
            }
            Setting::Singles(leisure) => {
                singles::run::<{ singles::SLOTS }>(leisure, events, placement)
            }
            Setting::Slots(slots) => solo::ring(slots, events, placement),
            Setting::Claims(back_off, reader) => claims::run(back_off, reader, events, placement),
            Setting::Only if self.case == Case::WrongAnswer => {
                solo::plain_loop(events / 2, placement)
            }
            Setting::Only => solo::plain_loop(events, placement),
        }
    }
}

impl fmt::Display for Setting {
    /// Writes it as a report names it. Nothing is written if the case has no settings.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Only => Ok(()),
            Self::Shape(Shape { takes_lines, block_bytes, buffer_bytes }) => {
                let lines = if *takes_lines { ", lines" } else { "" };
                let (block, buffer) = (block_bytes >> 10, buffer_bytes >> 10);
                write!(formatter, "{block} KiB blocks, {buffer} KiB{lines}")
            }
            Self::Slots(slots) => write!(formatter, "{slots} slots"),
            Self::Exchange(_, look) => formatter.write_str(look.name),
            Self::Singles(leisure) => formatter.write_str(leisure.name),
            Self::Claims(back_off, None) => formatter.write_str(back_off.name),
            Self::Claims(back_off, Some(leisure)) => {
                write!(formatter, "{}, reader {}", back_off.name, leisure.name)
            }
        }
    }
}

impl Subject for Probe {
    fn record(&self) -> Record {
        let threads = self.threads();
        let mut record = Record::new("limits", self.case.name(), threads)
            .in_cell(Key::EVENT_BYTES, self.event_bytes.bytes())
            .with_fact(SETTING, Some(self.setting().to_string()))
            .with_fact(Key::OPERATIONS_PER_EVENT, Some(self.operations_per_event()));
        record.pinned = self.placement.pins(threads);
        record
    }

    fn settings(&self) -> usize {
        self.settings.len()
    }

    fn choose(&mut self, setting: usize) {
        self.chosen = setting;
    }

    fn prepare(&mut self, events: u32) {
        let sum = u64::from(events) * (u64::from(events) + 1) / 2;
        self.expected = match (self.setting(), self.event_bytes) {
            (Setting::Exchange(..), _) => vec![sum],
            (Setting::Claims(..), _) => claims::expected(events),
            (_, EventBytes::B8) => unicast::expected::<PAD_8>(events),
            (_, EventBytes::B32) => unicast::expected::<PAD_32>(events),
            (_, EventBytes::B64) => unicast::expected::<PAD_64>(events),
            (_, EventBytes::B256) => unicast::expected::<PAD_256>(events),
        };
    }

    fn run(&self, events: u32) -> Result<Measured, Error> {
        let (topology, contender) = ("limits", self.case.name());
        let failed = |source| Error::Run { topology, contender, source };
        let pass = self.pass(events).map_err(failed)?;
        let pass = pass.checked(topology, contender, events, &self.expected)?;
        Ok(Measured::speed(&pass, events, self.operations_per_event()))
    }
}
