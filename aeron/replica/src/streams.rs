//! The Aeron streams between leader and follower.

use std::path::PathBuf;
use std::time::Duration;

use lapwing_aeron::{Client, Stream};

use crate::Result;

/// Where leader and follower meet. Both need the same values.
#[derive(Debug, Clone, clap::Args)]
pub struct Meeting {
    /// The folder of the media driver.
    #[arg(long, default_value = "/dev/shm/aeron")]
    pub aeron: PathBuf,
    /// The channel to the follower, such as aeron:udp?endpoint=FOLLOWER:40123.
    #[arg(long, default_value = "aeron:ipc")]
    pub channel: String,
    /// The channel to the leader, such as aeron:udp?endpoint=LEADER:40124.
    #[arg(long, default_value = "aeron:ipc")]
    pub back_channel: String,
    /// The first of three stream numbers.
    #[arg(long, default_value_t = 7410)]
    pub stream: i32,
    /// Milliseconds without a heartbeat after which the driver counts as dead.
    #[arg(long, default_value_t = 10_000)]
    pub driver_timeout_ms: u64,
}

impl Meeting {
    pub(crate) fn client(&self) -> Client {
        Client::new(&self.aeron).driver_timeout(Duration::from_millis(self.driver_timeout_ms))
    }

    /// Commands as they come.
    pub(crate) fn live(&self) -> Result<Stream> {
        Ok(Stream::new(&self.channel, self.stream)?)
    }

    /// Commands that the follower has asked for.
    pub(crate) fn resent(&self) -> Result<Stream> {
        Ok(Stream::new(&self.channel, self.stream.wrapping_add(1))?)
    }

    /// What the follower says.
    pub(crate) fn back(&self) -> Result<Stream> {
        Ok(Stream::new(&self.back_channel, self.stream.wrapping_add(2))?)
    }
}
