//! What producers do, one phase after the other: saturation, bursts, a trickle, silence.

use std::time::Duration;

use fastrand::Rng;

use crate::commands::soak::faults::log_uniform;

/// A part of the load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Phase {
    /// Its time.
    pub(crate) time: Duration,
    /// How events come.
    pub(crate) pattern: Pattern,
    /// How they are published.
    pub(crate) call: Call,
    /// Events of a batch, at most.
    pub(crate) batch: usize,
}

/// How events come.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pattern {
    /// As fast as the ring takes them.
    Saturation,
    /// So many batches, then nothing for a time.
    Bursts {
        /// Batches of a burst.
        batches: u32,
        /// Time between bursts.
        pause: Duration,
    },
    /// One event at a time, with a pause behind each.
    Trickle {
        /// Time between events.
        pause: Duration,
    },
    /// Nothing.
    Silence,
}

/// The call of the producer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// `publish_batch`.
    Batch,
    /// `claim_batch`, filled and published.
    ClaimBatch,
    /// `claim_up_to`: as many as fit.
    UpTo,
    /// `try_publish_batch`, again and again.
    TryBatch,
    /// `publish_batch_or` with a short timeout, again and again.
    TimeoutBatch,
    /// `publish`.
    One,
    /// `claim`, filled and published.
    Claim,
    /// `publish_or`, with the policy that refuses.
    Offer,
}

/// Draws the phases of an episode. A large one is saturated.
pub(super) fn draw(draw: &mut Rng, is_large: bool) -> Vec<Phase> {
    if is_large {
        let call = [Call::Batch, Call::UpTo, Call::ClaimBatch][draw.usize(0..3)];
        let batch = 1 << draw.u32(6..=10);
        let time = Duration::from_secs(1);
        return vec![Phase { time, pattern: Pattern::Saturation, call, batch }];
    }
    (0..draw.usize(1..=5)).map(|_| draw_phase(draw)).collect()
}

fn draw_phase(draw: &mut Rng) -> Phase {
    let call = [
        Call::Batch,
        Call::ClaimBatch,
        Call::UpTo,
        Call::TryBatch,
        Call::TimeoutBatch,
        Call::One,
        Call::Claim,
        Call::Offer,
    ][draw.usize(0..8)];
    let batch = 1 << draw.u32(0..=8);
    let pattern = match draw.u32(0..10) {
        0..5 => Pattern::Saturation,
        5 | 6 => {
            let pause = log_uniform(draw, 1.0, 5_000.0);
            Pattern::Bursts { batches: draw.u32(1..100), pause }
        }
        7 | 8 => Pattern::Trickle { pause: log_uniform(draw, 1.0, 5_000.0) },
        _ => Pattern::Silence,
    };
    Phase { time: Duration::from_millis(draw.u64(5..100)), pattern, call, batch }
}
