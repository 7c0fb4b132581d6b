//! The exchange of either program, and what both say about it.

use std::path::PathBuf;

use exchange::Exchange;
use exchange::gateway::{self, Gateway};
use exchange::service::{Opened, Service, Settings};

use crate::Result;

/// What an exchange keeps, and what it prints.
#[derive(Debug, Clone, clap::Args)]
pub struct Local {
    /// The folder of journal and snapshots. Leader and follower have one each.
    #[arg(long)]
    pub folder: PathBuf,
    /// MiB that all books, accounts and positions of the exchange may take. The leader, and a follower
    /// that takes over, sets it. The default is that of the folder, at first 1024.
    #[arg(long)]
    pub memory: Option<u32>,
    /// The file of secrets, which `exchange secret` makes. Without one, each client may send all
    /// commands, and only this machine is served.
    #[arg(long)]
    pub secrets: Option<PathBuf>,
    /// Print the state hash after every N commands. 0 disables it.
    #[arg(long, default_value_t = 0)]
    pub hash_every: u64,
    /// Commands from one snapshot to the next.
    #[arg(long, default_value_t = 1_000_000)]
    pub snapshot_every: u64,
}

impl Local {
    /// Recovers the exchange from its folder.
    pub(crate) fn open(&self) -> Result<Opened> {
        let mut settings = Settings::default();
        settings.folder = Some(self.folder.clone());
        settings.memory = self.memory;
        settings.snapshot_every = self.snapshot_every;
        Ok(Service::open(settings)?)
    }

    /// Lets clients connect to the exchange.
    pub(crate) fn serve(&self, opened: Opened, address: &str) -> Result<Gateway> {
        Ok(Gateway::start_with(opened, address, self.gateway())?)
    }

    /// Fails if clients could not connect at `address`.
    pub(crate) fn check(&self, address: &str) -> Result<()> {
        Ok(Gateway::check(address, &self.gateway())?)
    }

    fn gateway(&self) -> gateway::Settings {
        let mut settings = gateway::Settings::default();
        settings.secrets.clone_from(&self.secrets);
        settings
    }

    /// Prints the state every so many commands. Leader and follower print the same lines.
    pub(crate) fn print_states(&self, opened: Opened) -> Opened {
        if self.hash_every == 0 {
            return opened;
        }
        opened.watch(self.hash_every, |sequence, engine| {
            println!("state: sequence={sequence} hash={:016x}", engine.state().hash());
        })
    }
}
