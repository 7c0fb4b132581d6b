//! Applies wait strategies by name.

use std::time::Duration;

use lapwing::producer::Sequencer;
use lapwing::wait::{Blocking, PhasedBackoff};
use lapwing::{Builder, Stage};

use super::event::Event;
use crate::contenders::WaitName;

/// Spins, yields, then parks.
pub(super) const PHASED_BACKOFF: PhasedBackoff<Blocking> =
    PhasedBackoff::new(Duration::from_micros(5), Duration::from_micros(50), Blocking { yields: 0 });

/// Evaluates `$apply` with the strategy of this name.
macro_rules! with_strategy {
    ($name:expr, |$strategy:ident| $apply:expr) => {
        match $name {
            WaitName::Adaptive => {
                let $strategy = lapwing::wait::Adaptive::default();
                $apply
            }
            WaitName::BusySpin => {
                let $strategy = lapwing::wait::BusySpin;
                $apply
            }
            WaitName::Yielding => {
                let $strategy = lapwing::wait::Yielding::default();
                $apply
            }
            WaitName::Sleeping => {
                let $strategy = lapwing::wait::Sleeping::default();
                $apply
            }
            WaitName::Blocking => {
                let $strategy = lapwing::wait::Blocking::default();
                $apply
            }
            WaitName::PhasedBackoff => {
                let $strategy = $crate::commands::soak::waits::PHASED_BACKOFF;
                $apply
            }
        }
    };
}
pub(super) use with_strategy;

/// Sets the strategies of a ring.
pub(super) fn of_ring<S: Sequencer>(
    ring: Builder<'static, Event, S>,
    consumers: WaitName,
    producers: WaitName,
) -> Builder<'static, Event, S> {
    let ring = with_strategy!(consumers, |strategy| ring.wait(strategy));
    with_strategy!(producers, |strategy| ring.producer_wait(strategy))
}

/// Sets the strategy of a stage, if it has its own.
pub(super) fn of_stage<P>(stage: Stage<P>, wait: Option<WaitName>) -> Stage<P> {
    let Some(wait) = wait else { return stage };
    with_strategy!(wait, |strategy| stage.wait(strategy))
}
