//! The work: what every library carries, what the stages of each graph compute, and the answers that must come out.
//!
//! ```text
//! unicast     P --> C              sequencer   P --+            diamond        +--> fizz --+
//! pipeline    P --> 1 --> 2 --> 3              P --+--> C                  P --+           +--> join
//! multicast   P --> C, C and C                 P --+                           +--> buzz --+
//! ```

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32};

/// Producers of the sequencer, and consumers of the multicast.
pub(crate) const SEVERAL: usize = 3;
/// The bits that the side-by-side stages of the diamond set in an event.
const FIZZ: u64 = 1 << 62;
const BUZZ: u64 = 1 << 63;

/// A graph of the Disruptor paper, a channel, or a single event to another thread and back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Graph {
    Unicast,
    Pipeline,
    Sequencer,
    Multicast,
    Diamond,
    /// The sequencer, over a channel where a library has one.
    Channel,
    RoundTrip,
}

/// How much one run moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    /// Events of all producers together, at least 1.
    pub(crate) events: u32,
    /// Slots of the ring, and of every queue.
    pub(crate) slots: usize,
}

/// An event of eight bytes: a number of 32 bits, and above it the producer, or bits that stages set.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Event(u64);

/// The same in a slot that one stage changes while another one reads it. Relaxed suffices: the ring orders the stages.
#[derive(Debug, Default)]
pub(crate) struct SharedEvent {
    number: AtomicU32,
    is_fizz: AtomicBool,
    is_buzz: AtomicBool,
}

/// What a consumer computes over the events that it sees: a checksum for each producer, in which order counts. A lost,
/// repeated, stale or misplaced event changes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Checksum([u64; SEVERAL]);

impl Default for Checksum {
    /// Not zero, so that the loss of an event whose number is zero shows.
    fn default() -> Self {
        Self([0x9E37_79B9_7F4A_7C15; SEVERAL])
    }
}

impl Checksum {
    /// Adds a word of the only producer.
    fn add(&mut self, word: u64) {
        self.0[0] = self.0[0].rotate_left(5) ^ word;
    }
}

// The work of the stages. Every one of them adds what it sees to its checksum.
impl Event {
    pub(crate) fn new(number: u32, producer: usize) -> Self {
        Self(u64::from(number) | (producer as u64) << 32)
    }

    pub(crate) fn number(self) -> u32 {
        self.0 as u32 // the low half
    }

    /// The consumer of one producer.
    pub(crate) fn consume(&self, sum: &mut Checksum) {
        sum.add(self.0);
    }

    /// The consumer of several producers. An event of an unknown one is damaged, and missing in the checksums.
    pub(crate) fn consume_by_producer(&self, sum: &mut Checksum) {
        if let Some(sum) = sum.0.get_mut((self.0 >> 32) as usize) {
            *sum = sum.rotate_left(5) ^ self.0;
        }
    }

    /// The first step of the pipeline.
    pub(crate) fn step_one(&mut self, sum: &mut Checksum) {
        self.consume(sum);
        *self = Self::new(one(self.number()), 0);
    }

    /// The second step of the pipeline.
    pub(crate) fn step_two(&mut self, sum: &mut Checksum) {
        self.consume(sum);
        *self = Self::new(two(self.number()), 0);
    }

    /// The first side of the diamond.
    pub(crate) fn fizz(&mut self, sum: &mut Checksum) {
        self.consume(sum);
        self.0 |= bit(FIZZ, is_fizz(self.number()));
    }

    /// The second side of the diamond.
    pub(crate) fn buzz(&mut self, sum: &mut Checksum) {
        self.consume(sum);
        self.0 |= bit(BUZZ, is_buzz(self.number()));
    }

    /// The end of the diamond. Events that are not copies of one event change the checksum.
    pub(crate) fn join(self, other: Self, sum: &mut Checksum) {
        let mismatch = self.number() ^ other.number();
        sum.add((self.0 | other.0).wrapping_add(mismatch.into()));
    }
}

impl SharedEvent {
    pub(crate) fn write(&mut self, number: u32) {
        *self.number.get_mut() = number;
    }

    /// The end of the pipeline.
    pub(crate) fn consume(&self, sum: &mut Checksum) {
        self.see(sum);
    }

    pub(crate) fn step_one(&self, sum: &mut Checksum) {
        self.number.store(one(self.see(sum)), Relaxed);
    }

    pub(crate) fn step_two(&self, sum: &mut Checksum) {
        self.number.store(two(self.see(sum)), Relaxed);
    }

    pub(crate) fn fizz(&self, sum: &mut Checksum) {
        self.is_fizz.store(is_fizz(self.see(sum)), Relaxed);
    }

    pub(crate) fn buzz(&self, sum: &mut Checksum) {
        self.is_buzz.store(is_buzz(self.see(sum)), Relaxed);
    }

    pub(crate) fn join(&self, sum: &mut Checksum) {
        let bits = bit(FIZZ, self.is_fizz.load(Relaxed)) | bit(BUZZ, self.is_buzz.load(Relaxed));
        sum.add(u64::from(self.number.load(Relaxed)) | bits);
    }

    /// The number, which is added to `sum`.
    fn see(&self, sum: &mut Checksum) -> u32 {
        let number = self.number.load(Relaxed);
        sum.add(number.into());
        number
    }
}

/// What the steps of the pipeline make of a number.
fn one(number: u32) -> u32 {
    number.rotate_left(7) ^ number
}

fn two(number: u32) -> u32 {
    number.wrapping_mul(0x9E37_79B1).wrapping_add(number)
}

/// Whether the sides of the diamond set their bits.
fn is_fizz(number: u32) -> bool {
    number.is_multiple_of(3)
}

fn is_buzz(number: u32) -> bool {
    number.is_multiple_of(5)
}

fn bit(bit: u64, is_set: bool) -> u64 {
    if is_set { bit } else { 0 }
}

/// How many of `events` each producer of the sequencer publishes.
pub(crate) fn shares(events: u32) -> impl Iterator<Item = (usize, u32)> {
    let (share, rest) = (events as usize / SEVERAL, events as usize % SEVERAL);
    (0..SEVERAL).map(move |producer| (producer, (share + usize::from(producer < rest)) as u32))
}

impl Graph {
    /// How many consumers have a checksum.
    pub(crate) const fn consumers(self) -> usize {
        match self {
            Self::Unicast | Self::Sequencer | Self::Channel | Self::RoundTrip => 1,
            Self::Pipeline | Self::Multicast | Self::Diamond => SEVERAL,
        }
    }

    /// How many threads a run has.
    pub(crate) const fn threads(self) -> usize {
        match self {
            Self::Unicast | Self::RoundTrip => 2,
            Self::Pipeline | Self::Sequencer | Self::Multicast | Self::Diamond | Self::Channel => {
                1 + SEVERAL
            }
        }
    }

    /// The checksum of every consumer, by a plain loop on one thread.
    pub(crate) fn expected(self, events: u32) -> Vec<Checksum> {
        let mut sums = vec![Checksum::default(); self.consumers()];
        match (self, sums.as_mut_slice()) {
            (Self::Pipeline, [first, second, third]) => {
                for mut event in (0..events).map(|number| Event::new(number, 0)) {
                    event.step_one(first);
                    event.step_two(second);
                    event.consume(third);
                }
            }
            (Self::Diamond, [fizz, buzz, joined]) => {
                for event in (0..events).map(|number| Event::new(number, 0)) {
                    let (mut left, mut right) = (event, event);
                    left.fizz(fizz);
                    right.buzz(buzz);
                    left.join(right, joined);
                }
            }
            (Self::Sequencer | Self::Channel, [sum]) => {
                for (producer, share) in shares(events) {
                    let events = (0..share).map(|number| Event::new(number, producer));
                    events.for_each(|event| event.consume_by_producer(sum));
                }
            }
            (_, sums) => {
                let mut sum = Checksum::default();
                (0..events).for_each(|number| Event::new(number, 0).consume(&mut sum));
                sums.fill(sum);
            }
        }
        sums
    }
}
