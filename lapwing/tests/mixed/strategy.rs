//! All wait strategies, for a random choice.

use std::time::Duration;

use lapwing::wait::{
    Adaptive, Blocking, BusySpin, Pacing, PhasedBackoff, Sleeping, WaitStrategy, Waiting, Yielding,
};

use crate::common::Lcg;

/// One of the strategies. It announces that it parks, as most of them do: an unnecessary check for
/// parked threads does no harm.
#[derive(Debug, Clone)]
pub(crate) enum Strategy {
    Adaptive(Adaptive),
    Blocking(Blocking),
    Yielding(Yielding),
    Sleeping(Sleeping),
    OverBlocking(PhasedBackoff<Blocking>),
    OverSleeping(PhasedBackoff<Sleeping>),
    BusySpin,
}

const fn us(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

impl Strategy {
    /// Any of them.
    pub(crate) fn draw(draw: &mut Lcg) -> Self {
        if draw.below(12) == 0 { Self::BusySpin } else { Self::draw_polite(draw) }
    }

    /// One that yields its CPU.
    pub(crate) fn draw_polite(draw: &mut Lcg) -> Self {
        let sleeping = Sleeping { spins: 5, yields: 5, sleep: us(30) };
        match draw.below(24) {
            0..8 => Self::Adaptive(Adaptive::default()),
            8..13 => Self::Blocking(Blocking { yields: 0 }),
            13..16 => Self::Blocking(Blocking::default()),
            16..18 => Self::Yielding(Yielding::default()),
            18..20 => Self::Sleeping(sleeping),
            20..22 => Self::OverBlocking(PhasedBackoff::new(us(2), us(5), Blocking::default())),
            _ => Self::OverSleeping(PhasedBackoff::new(us(2), us(5), sleeping)),
        }
    }
}

impl WaitStrategy for Strategy {
    const PARKS: bool = true;

    fn wait(&mut self, waiting: &Waiting<'_>) {
        match self {
            Self::Adaptive(strategy) => strategy.wait(waiting),
            Self::Blocking(strategy) => strategy.wait(waiting),
            Self::Yielding(strategy) => strategy.wait(waiting),
            Self::Sleeping(strategy) => strategy.wait(waiting),
            Self::OverBlocking(strategy) => strategy.wait(waiting),
            Self::OverSleeping(strategy) => strategy.wait(waiting),
            Self::BusySpin => BusySpin.wait(waiting),
        }
    }

    fn pace(&mut self, pacing: &Pacing<'_>) {
        if let Self::Adaptive(strategy) = self {
            strategy.pace(pacing);
        }
    }
}

/// Strategies of a ring in which none announces that it parks, so that no thread checks for parked
/// threads.
#[derive(Debug, Clone)]
pub(crate) struct Unseen(pub(crate) Strategy);

impl WaitStrategy for Unseen {
    const PARKS: bool = false;

    fn wait(&mut self, waiting: &Waiting<'_>) {
        self.0.wait(waiting);
    }

    fn pace(&mut self, pacing: &Pacing<'_>) {
        self.0.pace(pacing);
    }
}
