//! A builder of the library with a setting of a row.

use std::time::Duration;

use super::library::Builder;
use super::library::graph::Placement;
use super::library::producer::Sequencer;
use super::library::wait::{Blocking, BusySpin, PhasedBackoff, Sleeping, Yielding};
use crate::contenders::{PlacementName, Setting, WaitName};

/// Spins for as long as `Blocking` yields, then yields for as long as `Adaptive` does.
pub(in crate::contenders) const PHASED_BACKOFF: PhasedBackoff<Blocking> =
    PhasedBackoff::new(Duration::from_micros(5), Duration::from_micros(50), Blocking { yields: 0 });

/// `builder`, of a ring with so many `producers`, with `setting`.
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
    match setting.placement {
        PlacementName::Own => builder, // the default, whatever a builder has by itself
        PlacementName::Auto => builder.placement(Placement::automatic().producers(producers)),
        PlacementName::Threads(count) => builder.placement(Placement::threads(count.get())),
    }
}

/// `builder`, of which every consumer and every producer waits as `wait` says.
pub(super) fn wait_applied<'env, E, S>(
    wait: WaitName,
    builder: Builder<'env, E, S>,
) -> Builder<'env, E, S>
where
    E: Send + 'env,
    S: Sequencer,
{
    match wait {
        WaitName::Adaptive => builder, // the default, whatever a builder has by itself
        WaitName::BusySpin => builder.wait(BusySpin).producer_wait(BusySpin),
        WaitName::Yielding => builder.wait(Yielding::default()).producer_wait(Yielding::default()),
        WaitName::Sleeping => builder.wait(Sleeping::default()).producer_wait(Sleeping::default()),
        WaitName::Blocking => builder.wait(Blocking::default()).producer_wait(Blocking::default()),
        WaitName::PhasedBackoff => builder.wait(PHASED_BACKOFF).producer_wait(PHASED_BACKOFF),
    }
}
