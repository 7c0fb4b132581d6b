//! The flags of `lapwing limits`.

use clap::Args;

use super::probe::{Case, Probe};
use crate::flags::{ScheduleArguments, values};
use crate::load::workload::EventBytes;
use crate::machine::placement::Placement;

/// The flags of `lapwing limits`.
#[derive(Args, Debug)]
pub(crate) struct LimitsArguments {
    /// Limits to measure, separated by commas. Default: all
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    case: Vec<Case>,

    /// Event sizes of a stream in bytes, separated by commas. Default: all
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    event_bytes: Vec<EventBytes>,

    #[command(flatten)]
    pub(crate) schedule: ScheduleArguments,
}

impl LimitsArguments {
    /// Returns the requested limits, each once: a stream for each size of event.
    pub(super) fn probes(&self, placement: Placement) -> Vec<Probe> {
        let sizes = values::each_once(&self.event_bytes, &EventBytes::ALL);
        let cases = values::each_once(&self.case, &Case::ALL);
        let probes = cases.into_iter().flat_map(|case| {
            let sizes = if case.has_sizes() { sizes.as_slice() } else { &[EventBytes::B8] };
            sizes.iter().map(move |bytes| Probe::new(case, *bytes, placement))
        });
        probes.collect()
    }
}
