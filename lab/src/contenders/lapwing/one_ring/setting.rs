//! Applies the setting of a row to a builder of the library.

use std::time::Duration;

use super::super::NAME;
use super::library::Builder;
use super::library::graph::Placement;
use super::library::producer::Sequencer;
use super::library::wait::{Blocking, BusySpin, PhasedBackoff, Sleeping, Yielding};
use crate::contenders::{PlacementName, Setting, WaitName};

/// Spins for as long as `Blocking` yields, then yields for as long as `Adaptive` does.
pub(in crate::contenders) const PHASED_BACKOFF: PhasedBackoff<Blocking> =
    PhasedBackoff::new(Duration::from_micros(5), Duration::from_micros(50), Blocking { yields: 0 });

/// Applies `setting` to `builder`, for a ring with `producers` producers.
pub(in crate::contenders) fn applied<'env, E, S>(
    setting: Setting,
    builder: Builder<'env, E, S>,
    producers: usize,
) -> Builder<'env, E, S>
where
    E: Send + 'env,
    S: Sequencer,
{
    let builder = wait_applied(setting.wait, builder);
    let builder = if setting.is_observable { builder.observable(NAME) } else { builder };
    match setting.placement {
        PlacementName::Own => builder, // the default, whatever the builder starts with
        PlacementName::Auto => builder.placement(Placement::automatic().producers(producers)),
        PlacementName::Threads(count) => builder.placement(Placement::threads(count.get())),
    }
}

/// Sets the wait of all consumers and producers of `builder` to `wait`.
pub(super) fn wait_applied<'env, E, S>(
    wait: WaitName,
    builder: Builder<'env, E, S>,
) -> Builder<'env, E, S>
where
    E: Send + 'env,
    S: Sequencer,
{
    match wait {
        WaitName::Adaptive => builder, // the default, whatever the builder starts with
        WaitName::BusySpin => builder.wait_strategy(BusySpin).producer_wait_strategy(BusySpin),
        WaitName::Yielding => {
            builder.wait_strategy(Yielding::default()).producer_wait_strategy(Yielding::default())
        }
        WaitName::Sleeping => {
            builder.wait_strategy(Sleeping::default()).producer_wait_strategy(Sleeping::default())
        }
        WaitName::Blocking => {
            builder.wait_strategy(Blocking::default()).producer_wait_strategy(Blocking::default())
        }
        WaitName::PhasedBackoff => {
            builder.wait_strategy(PHASED_BACKOFF).producer_wait_strategy(PHASED_BACKOFF)
        }
    }
}
