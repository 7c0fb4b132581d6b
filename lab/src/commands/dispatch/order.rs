//! An order and its eight stamps: the seven times between them, and the round trip.
//!
//! ```text
//! strategy       sends 0                                                   receives 7
//!                    \ submit                                            / return
//! orchestrator        receives 1 --orch_pre--> dispatches 2 | receives 5 --orch_post--> returns 6
//!                                          \ dispatch               / completion
//! gateway                                  receives 3 --venue_svc--> done 4
//! ```
//!
//! An order is stamped when it is first offered to a hand-off. If the hand-off is full, later
//! offers keep that stamp, so the hand-off includes the time under backpressure. An order carries
//! the times between stamps in 32 bits each, which saturate at 4.29 s. Eight full stamps would not
//! fit one cache line.

use clap::ValueEnum;

use super::random::mixed;

/// Additional words of the small order: it is one cache line, 64 bytes.
pub(super) const SMALL: usize = 0;
/// Additional words of an order of the original's size, 160 bytes.
pub(super) const LARGE: usize = 12;

/// The size of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Payload {
    /// 64 bytes, one cache line
    Small,
    /// 160 bytes, as in the original: copies cost more
    Large,
}

impl Payload {
    /// Returns the size of an order.
    pub(super) const fn bytes(self) -> usize {
        match self {
            Self::Small => size_of::<Order<SMALL>>(),
            Self::Large => size_of::<Order<LARGE>>(),
        }
    }
}

/// A segment of an order's path. Its number is its index in [`Times`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Segment {
    /// The tested hand-off from strategies to the orchestrator.
    Submit,
    /// The orchestrator's work.
    OrchPre,
    /// Orchestrator to gateway.
    Dispatch,
    /// At the venue: the random delay, and the lateness of the gateway.
    VenueSvc,
    /// The tested hand-off from gateways to the orchestrator.
    Completion,
    /// The orchestrator, which only passes the order on.
    OrchPost,
    /// Orchestrator to strategy.
    Return,
}

/// Number of segments.
pub(super) const SEGMENTS: usize = 7;

/// The segments of one order, in nanoseconds.
pub(super) type Times = [u32; SEGMENTS];

/// An order, with `PAD` words that only make it larger.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order<const PAD: usize> {
    /// A checksum of the strategy and the number.
    token: u64,
    /// The time at which the strategy sent it.
    sent_at: u64,
    /// Returns the last stamp.
    stamped_at: u64,
    /// The segments that it has passed.
    times: Times,
    /// The time from its due time to its release by the gateway, in nanoseconds.
    late: u32,
    /// Its number within its strategy.
    pub(super) number: u32,
    /// The strategy that sent it.
    pub(super) strategy: u16,
    /// Its venue.
    pub(super) venue: u16,
    /// Never read, but copied.
    _pad: [u64; PAD],
}

impl<const PAD: usize> Order<PAD> {
    /// Creates order `number` of `strategy`, sent at `now`.
    #[inline]
    pub(super) const fn new(strategy: u16, number: u32, now: u64) -> Self {
        Self {
            token: token(strategy, number),
            sent_at: now,
            stamped_at: now,
            times: [0; SEGMENTS],
            late: 0,
            number,
            strategy,
            venue: 0,
            _pad: [0; PAD],
        }
    }

    /// Records the end of `segment` at `now`. Clocks of two CPUs can differ slightly; a negative
    /// time counts as 0.
    #[inline]
    pub(super) fn pass(&mut self, segment: Segment, now: u64) {
        self.times[segment as usize] = saturated(now.saturating_sub(self.stamped_at));
        self.stamped_at = now;
    }

    /// Records that the venue is done at `now`. The order was due at `due`.
    #[inline]
    pub(super) fn leave_venue(&mut self, due: u64, now: u64) {
        self.late = saturated(now.saturating_sub(due));
        self.pass(Segment::VenueSvc, now);
    }

    /// Returns the last stamp.
    #[inline]
    pub(super) const fn stamped_at(&self) -> u64 {
        self.stamped_at
    }

    /// Returns whether it is still the order that was sent.
    #[inline]
    pub(super) const fn is_intact(&self) -> bool {
        self.token == token(self.strategy, self.number)
    }

    /// Returns the times of a returned order.
    #[inline]
    pub(super) const fn sample(&self) -> Sample {
        Sample {
            round_trip: self.stamped_at.saturating_sub(self.sent_at),
            times: self.times,
            late: self.late,
        }
    }
}

impl<const PAD: usize> Default for Order<PAD> {
    /// Returns the content of a slot before the first order. It is not intact.
    fn default() -> Self {
        Self { token: !token(0, 0), ..Self::new(0, 0, 0) }
    }
}

/// The times of a returned order, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    /// The time from the first stamp to the last.
    pub(super) round_trip: u64,
    /// Its segments.
    pub(super) times: Times,
    /// The lateness of the gateway, which is part of `venue_svc`.
    pub(super) late: u32,
}

impl Sample {
    /// Fills memory before a run. It is not zero, so that the system must provide the pages.
    pub(super) const UNUSED: Self =
        Self { round_trip: u64::MAX, times: [u32::MAX; SEGMENTS], late: u32::MAX };

    /// Returns the round trip without the venue: the time that the dispatch adds.
    pub(super) const fn without_venue(&self) -> u64 {
        self.round_trip.saturating_sub(self.times[Segment::VenueSvc as usize] as u64)
    }
}

/// Returns the checksum of an order.
#[inline]
const fn token(strategy: u16, number: u32) -> u64 {
    mixed(((strategy as u64) << 32) | number as u64)
}

/// Converts a time to 32 bits.
#[inline]
pub(super) fn saturated(nanoseconds: u64) -> u32 {
    u32::try_from(nanoseconds).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_order_is_a_cache_line_and_a_large_one_is_the_originals() {
        assert_eq!((Payload::Small.bytes(), Payload::Large.bytes()), (64, 160));
    }

    #[test]
    fn segments_add_up_to_the_round_trip() {
        let mut order = Order::<SMALL>::new(1, 2, 1_000);
        order.pass(Segment::Submit, 1_010);
        order.pass(Segment::OrchPre, 1_030);
        order.pass(Segment::Dispatch, 1_060);
        order.leave_venue(6_000, 6_005);
        order.pass(Segment::Completion, 6_010);
        order.pass(Segment::OrchPost, 6_020);
        order.pass(Segment::Return, 6_040);

        let sample = order.sample();
        assert_eq!(sample.times, [10, 20, 30, 4_945, 5, 10, 20]);
        assert_eq!(sample.round_trip, 5_040);
        assert_eq!(sample.late, 5);
        assert_eq!(sample.without_venue(), 95);
    }

    #[test]
    fn damage_of_either_number_shows() {
        let order = Order::<LARGE>::new(1, 2, 0);
        assert!(order.is_intact());
        assert!(!Order { number: 3, ..order }.is_intact());
        assert!(!Order { strategy: 0, ..order }.is_intact());
        assert!(!Order::<LARGE>::default().is_intact());
    }

    #[test]
    fn long_time_saturates_and_a_clock_that_runs_back_gives_none() {
        let mut order = Order::<SMALL>::new(0, 0, 10);
        order.pass(Segment::Submit, 9);
        order.pass(Segment::OrchPre, 9 + (1 << 33));
        assert_eq!(order.sample().times[..2], [0, u32::MAX]);
    }
}
