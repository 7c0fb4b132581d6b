//! All wait strategies as one type.

use std::time::Duration;

use lapwing::wait::{
    Adaptive, Blocking, BusySpin, Pacing, PhasedBackoff, Sleeping, Step, WaitStrategy, Waited,
    Waiting, Yielding,
};

/// One of the strategies. It announces that it parks, as most of them do: an unnecessary check for
/// parked threads does no harm.
#[derive(Debug, Clone)]
pub(super) enum Strategy {
    Adaptive(Adaptive),
    Blocking(Blocking),
    Yielding(Yielding),
    Sleeping(Sleeping),
    OverBlocking(PhasedBackoff<Blocking>),
    OverSleeping(PhasedBackoff<Sleeping>),
    BusySpin(BusySpin),
}

impl Strategy {
    /// Its name, without its settings.
    pub(super) fn name(&self) -> String {
        let settings = format!("{self:?}");
        settings.split('(').next().unwrap_or_default().to_owned()
    }

    /// Each of them, the simplest first.
    pub(super) fn all() -> Vec<Self> {
        let us = Duration::from_micros;
        let sleeping = Sleeping { spins: 5, yields: 5, sleep: us(30) };
        vec![
            Self::Blocking(Blocking { yields: 0 }),
            Self::Blocking(Blocking::default()),
            Self::Adaptive(Adaptive::default()),
            Self::Yielding(Yielding::default()),
            Self::Sleeping(sleeping),
            Self::OverBlocking(PhasedBackoff::new(us(2), us(5), Blocking::default())),
            Self::OverSleeping(PhasedBackoff::new(us(2), us(5), sleeping)),
            Self::BusySpin(BusySpin),
        ]
    }
}

/// Calls the strategy of each variant in the same way.
macro_rules! for_each {
    ($all:expr, $strategy:ident => $call:expr) => {
        match $all {
            Self::Adaptive($strategy) => $call,
            Self::Blocking($strategy) => $call,
            Self::Yielding($strategy) => $call,
            Self::Sleeping($strategy) => $call,
            Self::OverBlocking($strategy) => $call,
            Self::OverSleeping($strategy) => $call,
            Self::BusySpin($strategy) => $call,
        }
    };
}

impl WaitStrategy for Strategy {
    const PARKS: bool = true;

    fn next(&mut self, waiting: &Waiting<'_>) -> Step {
        for_each!(self, strategy => strategy.next(waiting))
    }

    fn ended(&mut self, waited: &Waited) {
        for_each!(self, strategy => strategy.ended(waited));
    }

    fn pace(&mut self, pacing: &Pacing<'_>) {
        for_each!(self, strategy => strategy.pace(pacing));
    }
}

/// A strategy that does not announce that it parks. If all strategies of a ring are of this kind,
/// no thread checks for parked threads.
#[derive(Debug, Clone)]
pub(super) struct Unannounced(pub(super) Strategy);

impl WaitStrategy for Unannounced {
    const PARKS: bool = false;

    fn next(&mut self, waiting: &Waiting<'_>) -> Step {
        self.0.next(waiting)
    }

    fn ended(&mut self, waited: &Waited) {
        self.0.ended(waited);
    }

    fn pace(&mut self, pacing: &Pacing<'_>) {
        self.0.pace(pacing);
    }
}
