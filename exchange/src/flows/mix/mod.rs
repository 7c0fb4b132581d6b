//! A seeded flow with the mix of exchange-core's benchmark: one symbol, 1,000 accounts, and
//! about 1,000 resting orders in about 800 levels.
//!
//! Its generator places limit orders while the book is too small and immediate orders while it is not.
//! Most other commands move one of the oldest orders by 1 % of its distance from the last trade; a few
//! cancel or reduce one. Its fill-or-kill orders with a budget allow the edge of the price range for
//! each lot, so here they are fill-or-kill orders at that edge.

mod live;
mod session;

use crate::types::{Command, Price};

use session::Session;

/// What a flow is made from. The default is that of exchange-core's benchmark.
#[derive(Clone, Copy, Debug)]
pub struct Mix {
    /// Equal seeds give equal flows.
    pub seed: u64,
    /// The number of accounts that trade.
    pub accounts: u32,
    /// The number of resting orders that the flow keeps up.
    pub resting: usize,
    /// Whether orders are also reduced. The published shares are those without, the generator of
    /// exchange-core 0.5.3 has them.
    pub reduces: bool,
    /// Whether an account only buys or only sells. Then no order meets one of its own account, and
    /// exchanges with other rules for self-trades do the same. It takes two accounts.
    pub is_one_sided: bool,
    /// The number of commands after the book is filled.
    pub commands: usize,
}

impl Default for Mix {
    fn default() -> Self {
        Self {
            seed: 1,
            accounts: 1_000,
            resting: 1_000,
            reduces: false,
            is_one_sided: false,
            commands: 3_000_000,
        }
    }
}

/// A flow in three parts.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Opens the book and the accounts.
    pub opening: Vec<Command>,
    /// Fills the book with limit orders.
    pub fill: Vec<Command>,
    /// What is measured.
    pub commands: Vec<Command>,
}

impl Flow {
    /// Returns what comes before the commands that are measured.
    pub fn preparation(&self) -> impl Iterator<Item = &Command> {
        self.opening.iter().chain(&self.fill)
    }

    /// Returns all commands in order.
    #[must_use]
    pub fn into_commands(self) -> Vec<Command> {
        [self.opening, self.fill, self.commands].concat()
    }
}

/// The prices of a flow.
#[derive(Clone, Copy, Debug)]
struct Prices {
    start: Price,
    lowest: Price,
    highest: Price,
    /// The largest distance of a new order from the last trade.
    deviation: Price,
}

impl Mix {
    /// Makes the flow. It takes about as long as an engine takes to carry it out.
    #[must_use]
    pub fn flow(&self) -> Flow {
        let mut session = Session::new(self);
        let opening = session.open();
        let fill = (0..self.resting).map(|_| session.fill()).collect();
        let commands = (0..self.commands).map(|_| session.next_command()).collect();
        Flow { opening, fill, commands }
    }
}
