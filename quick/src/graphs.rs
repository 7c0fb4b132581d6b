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
pub(crate) const FIZZ: u64 = 1 << 62;
pub(crate) const BUZZ: u64 = 1 << 63;

/// A graph of the Disruptor paper, or a single event to another thread and back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Graph {
    Unicast,
    Pipeline,
    Sequencer,
    Multicast,
    Diamond,
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
pub(crate) struct Event(pub(crate) u64);

impl Event {
    #[inline]
    pub(crate) fn new(number: u32, producer: usize) -> Self {
        Self(u64::from(number) | (producer as u64) << 32)
    }

    #[inline]
    pub(crate) fn number(self) -> u32 {
        self.0 as u32 // the low half
    }

    #[inline]
    pub(crate) fn producer(self) -> usize {
        (self.0 >> 32) as usize
    }
}

/// The same eight bytes in a slot that one stage changes while another one reads it. Relaxed accesses suffice: the ring
/// orders the stages.
#[derive(Debug, Default)]
pub(crate) struct SharedEvent {
    pub(crate) number: AtomicU32,
    pub(crate) fizz: AtomicBool,
    pub(crate) buzz: AtomicBool,
}

impl SharedEvent {
    #[inline]
    pub(crate) fn write(&mut self, number: u32) {
        *self.number.get_mut() = number;
    }

    /// As the function of this name, of what the sides have left.
    #[inline]
    pub(crate) fn fizz_buzz(&self) -> u64 {
        fizz_buzz(self.number.load(Relaxed), self.fizz.load(Relaxed), self.buzz.load(Relaxed))
    }
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
    #[inline]
    pub(crate) fn add(&mut self, word: impl Into<u64>) {
        self.0[0] = self.0[0].rotate_left(5) ^ word.into();
    }

    /// Adds an event of one of several producers. That of an unknown one is damaged, and missing in the checksums.
    #[inline]
    pub(crate) fn add_by_producer(&mut self, event: Event) {
        if let Some(sum) = self.0.get_mut(event.producer()) {
            *sum = sum.rotate_left(5) ^ u64::from(event.number());
        }
    }
}

/// What the first step of the pipeline makes of a number.
#[inline]
pub(crate) fn step_one(number: u32) -> u32 {
    number.rotate_left(7) ^ number
}

/// What the second step of the pipeline makes of a number.
#[inline]
pub(crate) fn step_two(number: u32) -> u32 {
    number.wrapping_mul(0x9E37_79B1).wrapping_add(number)
}

/// Whether the first side of the diamond sets its bit.
#[inline]
pub(crate) fn is_fizz(number: u32) -> bool {
    number.is_multiple_of(3)
}

/// Whether the second side of the diamond sets its bit.
#[inline]
pub(crate) fn is_buzz(number: u32) -> bool {
    number.is_multiple_of(5)
}

/// A number of the diamond with the bits of both sides.
#[inline]
pub(crate) fn fizz_buzz(number: u32, fizz: bool, buzz: bool) -> u64 {
    u64::from(number) | if fizz { FIZZ } else { 0 } | if buzz { BUZZ } else { 0 }
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
            Self::Unicast | Self::Sequencer | Self::RoundTrip => 1,
            Self::Pipeline | Self::Multicast | Self::Diamond => SEVERAL,
        }
    }

    /// The checksum of every consumer, by a plain loop on one thread.
    pub(crate) fn expected(self, events: u32) -> Vec<Checksum> {
        let over = |word: fn(u32) -> u64| {
            let mut sum = Checksum::default();
            (0..events).for_each(|number| sum.add(word(number)));
            sum
        };
        match self {
            Self::Unicast | Self::RoundTrip => vec![over(u64::from)],
            Self::Multicast => vec![over(u64::from); SEVERAL],
            Self::Pipeline => vec![
                over(u64::from),
                over(|number| step_one(number).into()),
                over(|number| step_two(step_one(number)).into()),
            ],
            Self::Diamond => {
                let joined = |number| fizz_buzz(number, is_fizz(number), is_buzz(number));
                vec![over(u64::from), over(u64::from), over(joined)]
            }
            Self::Sequencer => {
                let mut sum = Checksum::default();
                for (producer, share) in shares(events) {
                    (0..share).for_each(|number| sum.add_by_producer(Event::new(number, producer)));
                }
                vec![sum]
            }
        }
    }
}
