//! The flags of `lapwing throughput`.

use clap::Args;

use crate::contenders::{ContenderName, Roster, WaitName};
use crate::flags::{ScheduleArguments, SettingArguments, values};
use crate::load::topologies::Topology;
use crate::load::workload::{EventBytes, Publish};

/// The maximum memory of one ring or one queue, in bytes. A diamond has four queues.
const MAX_RING_BYTES: usize = 1 << 30;

/// The flags of `lapwing throughput`.
#[derive(Args, Debug)]
pub(crate) struct ThroughputArguments {
    /// Configurations to run, separated by commas. Default: all five
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    pub(crate) topology: Vec<Topology>,

    /// Contenders to run, separated by commas. Default: all
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    pub(crate) contender: Vec<ContenderName>,

    /// Slots of the ring and of every queue; a power of two
    #[arg(long, value_name = "N", default_value_t = 65_536, value_parser = values::ring)]
    pub(crate) ring: usize,

    /// Size of one event. The producer writes every word, and every consumer reads every word
    #[arg(long, value_enum, default_value = "8")]
    pub(crate) event_bytes: EventBytes,

    /// Batching of rings: `one` event or `batch:N` events per publication. Queues have no batches
    /// and send the N events one by one
    #[arg(long, value_name = "one|batch:N", default_value = "one")]
    pub(crate) publish: Publish,

    /// Wait strategies of Lapwing's consumers and producers, separated by commas; each adds a row.
    /// Each rival runs with the fastest of its own
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "LIST",
        default_value = "adaptive"
    )]
    pub(crate) wait: Vec<WaitName>,

    #[command(flatten)]
    pub(crate) setting: SettingArguments,

    #[command(flatten)]
    pub(crate) schedule: ScheduleArguments,
}

impl ThroughputArguments {
    /// Returns the requested contenders, each once.
    pub(super) fn roster(&self) -> Roster {
        let settings = self.setting.with(&values::each_once(&self.wait, &[]));
        Roster::of(&values::each_once(&self.contender, &ContenderName::ALL), &settings)
    }

    /// Checks that a batch fits the ring and the ring fits the memory.
    ///
    /// # Errors
    ///
    /// A message with the value that does not fit and with the limit.
    pub(crate) fn check(&self) -> Result<(), String> {
        let ring = self.ring;
        if let Publish::Batch(size) = self.publish
            && size.get() > ring
        {
            return Err(format!(
                "`--publish batch:{size}` does not fit `--ring {ring}`: a batch has 1..={ring} \
                 events"
            ));
        }
        let event_bytes = self.event_bytes.bytes();
        let ring_bytes = ring * event_bytes;
        if ring_bytes > MAX_RING_BYTES {
            let most_slots = MAX_RING_BYTES / event_bytes;
            return Err(format!(
                "`--ring {ring}` of {event_bytes} bytes takes {ring_bytes} bytes: at most \
                 {most_slots} slots of this size"
            ));
        }
        Ok(())
    }
}
