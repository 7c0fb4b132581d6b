//! The choices of the generator.

use std::cmp::Ordering;

use fastrand::Rng;

use super::live::{LiveOrder, LiveOrders};
use super::{Mix, Prices};
use crate::Exchange;
use crate::engine::Engine;
use crate::types::{
    AccountId, Cancel, Command, Deposit, Limits, MAX_CASH, NewOrder, OrderId, OrderKind, Price,
    Quantity, Replace, Report, Resting, SelfTrade, Side, SymbolId, SymbolSpec,
};

/// The only symbol.
const SYMBOL: SymbolId = SymbolId(0);
/// How many orders may rest. It is far above what the flow keeps up.
const MAX_RESTING: u32 = 1 << 16;
/// The book's size is looked at this often, in commands.
const SIZE_CHECK: usize = 512;
/// A command changes one of so many oldest orders.
const OLDEST: usize = 512;
/// The part of its distance from the last trade that a moved order loses.
const MOVE: f64 = 0.01;

pub(super) struct Session {
    rng: Rng,
    engine: Engine,
    live: LiveOrders,
    accounts: u32,
    reduces: bool,
    is_one_sided: bool,
    prices: Prices,
    last_trade: Price,
    /// How many orders each side should have.
    resting_half: usize,
    /// How many bids and asks there were at the last check.
    bids: usize,
    asks: usize,
    /// Whether both sides have been full once.
    was_full: bool,
    next_order: u64,
    commands_to_check: usize,
}

impl Session {
    pub(super) fn new(mix: &Mix) -> Self {
        let mut rng = Rng::with_seed(mix.seed);
        let prices = prices(&mut rng);
        Self {
            rng,
            engine: Engine::default(),
            live: LiveOrders::default(),
            accounts: mix.accounts,
            reduces: mix.reduces,
            is_one_sided: mix.is_one_sided,
            prices,
            last_trade: prices.start,
            resting_half: mix.resting / 2,
            bids: 0,
            asks: 0,
            was_full: false,
            next_order: 1,
            commands_to_check: SIZE_CHECK,
        }
    }

    /// Returns the commands that open the book and the accounts.
    pub(super) fn open(&mut self) -> Vec<Command> {
        let Prices { lowest, highest, deviation, .. } = self.prices;
        let (lowest, highest) = (lowest.saturating_sub(deviation).max(1), highest + deviation);
        let spec = SymbolSpec { symbol: SYMBOL, lowest, highest, max_orders: MAX_RESTING };
        let mut commands = vec![Command::AddSymbol(spec)];
        let amount = MAX_CASH / i64::from(self.accounts);
        for account in (0..self.accounts).map(AccountId) {
            commands.extend([
                Command::AddAccount(account),
                Command::Deposit(Deposit { account, amount }),
                Command::SetLimits(account, Limits::UNLIMITED),
            ]);
        }
        for command in &commands {
            self.carry_out(command);
        }
        commands
    }

    /// Returns a command that fills the book.
    pub(super) fn fill(&mut self) -> Command {
        let command = self.limit_order();
        self.carry_out(&command);
        command
    }

    /// Returns the next command of the mix.
    pub(super) fn next_command(&mut self) -> Command {
        let side = self.side();
        let size = if side == Side::Buy { self.bids } else { self.asks };
        let missing = self.resting_half.saturating_sub(size);
        self.was_full |= missing == 0;
        let grows_fast = !self.was_full || missing > SIZE_CHECK.min(self.resting_half * 3 / 4);
        let choices = match missing {
            0 => 40,
            _ if grows_fast => 2,
            _ => 10,
        };
        let choice = self.rng.u32(0..choices);
        let command = if choice >= 2 && self.live.len() > 0 {
            self.change(choice)
        } else if missing > 0 {
            self.limit_order()
        } else {
            self.immediate_order()
        };
        self.carry_out(&command);
        command
    }

    fn carry_out(&mut self, command: &Command) {
        let mut is_unfilled = false;
        let live = &mut self.live;
        self.engine.apply(command, &mut |report| {
            debug_assert!(!matches!(report, Report::Rejected { .. }), "{command:?} {report:?}");
            is_unfilled |= matches!(report, Report::Cancelled(..));
            live.follow(&report);
        });
        if let Some(price) = live.last_trade {
            self.last_trade = price.clamp(self.prices.lowest, self.prices.highest);
        }
        self.commands_to_check -= 1;
        let is_immediate = matches!(command, Command::New(_));
        if self.commands_to_check == 0 || is_unfilled && is_immediate {
            self.check_size();
        }
    }

    fn check_size(&mut self) {
        self.bids = self.live.count(Side::Buy);
        self.asks = self.live.count(Side::Sell);
        self.commands_to_check = SIZE_CHECK;
    }

    fn limit_order(&mut self) -> Command {
        let side = self.side();
        let random = self.rng.f64();
        let reach = 1 + (random * random * f64::from(self.prices.deviation)) as u32;
        let sum: u32 = (0..4).map(|_| self.rng.u32(0..reach)).sum();
        let distance = (sum / 4 * 2).abs_diff(reach);
        let price = match side {
            Side::Buy => self.last_trade - distance,
            Side::Sell => self.last_trade + distance,
        };
        let quantity = self.product_of_three(6);
        self.new_order(side, OrderKind::Limit, price, quantity)
    }

    /// Returns an immediate order, one of 32 of which is fill-or-kill.
    fn immediate_order(&mut self) -> Command {
        let side = self.side();
        let price = match side {
            Side::Buy => self.prices.highest,
            Side::Sell => self.prices.lowest,
        };
        if self.rng.u32(0..32) == 0 {
            let quantity = self.product_of_three(8);
            self.new_order(side, OrderKind::FillOrKill, price, quantity)
        } else {
            let quantity = self.product_of_three(6);
            self.new_order(side, OrderKind::ImmediateOrCancel, price, quantity)
        }
    }

    fn new_order(
        &mut self,
        side: Side,
        kind: OrderKind,
        price: Price,
        quantity: Quantity,
    ) -> Command {
        let account = self.account(side);
        let order = OrderId(self.next_order);
        self.next_order += 1;
        let self_trade = SelfTrade::CancelOldest;
        let symbol = SYMBOL;
        Command::New(NewOrder { account, order, symbol, side, kind, self_trade, price, quantity })
    }

    /// Returns the account of a new order. One-sided accounts with even numbers buy.
    fn account(&mut self, side: Side) -> AccountId {
        AccountId(if self.is_one_sided {
            2 * self.rng.u32(0..self.accounts / 2) + side as u32
        } else {
            self.rng.u32(0..self.accounts)
        })
    }

    /// Returns a command that cancels, reduces or moves one of the oldest orders.
    fn change(&mut self, choice: u32) -> Command {
        let picked = self.rng.usize(0..self.live.len().min(OLDEST));
        let old = self.live.get(picked);
        let LiveOrder { account, order, .. } = old;
        match choice {
            2 => Command::Cancel(Cancel { account, order, symbol: SYMBOL }),
            3 if self.reduces => {
                let less = self.rng.u32(0..old.open) + 1;
                Self::replacement(&old, old.price, old.filled + old.open - less)
            }
            _ => {
                let price = self.moved(old.price);
                Self::replacement(&old, price, old.filled + old.open)
            }
        }
    }

    fn replacement(old: &LiveOrder, price: Price, quantity: Quantity) -> Command {
        Command::Replace(Replace {
            account: old.account,
            order: old.order,
            symbol: SYMBOL,
            kind: Resting::Limit,
            self_trade: SelfTrade::CancelOldest,
            price,
            quantity,
        })
    }

    /// Returns a price that is nearer to the last trade by 1 % of the distance, at least by 1. A price
    /// that has arrived goes one up or down.
    fn moved(&mut self, price: Price) -> Price {
        let step = (f64::from(self.last_trade.abs_diff(price)) * MOVE).ceil() as u32;
        let price = match price.cmp(&self.last_trade) {
            Ordering::Less => price + step,
            Ordering::Greater => price - step,
            Ordering::Equal if self.rng.bool() => price + 1,
            Ordering::Equal => price - 1,
        };
        price.min(self.prices.highest)
    }

    fn side(&mut self) -> Side {
        if self.rng.bool() { Side::Buy } else { Side::Sell }
    }

    /// Returns a quantity with many small and few large values.
    fn product_of_three(&mut self, below: u32) -> Quantity {
        1 + (0..3).map(|_| self.rng.u32(0..below)).product::<u32>()
    }
}

/// Returns a start price between 2,000 and 2,000,000, and what follows from it.
fn prices(rng: &mut Rng) -> Prices {
    let start = 10_f64.powf(3.3 + rng.f64() * 1.5 + rng.f64() * 1.5) as u32;
    let deviation = (start / 20).min(10_000);
    let (lowest, highest) = (start - deviation * 5, start + deviation * 5);
    Prices { start, lowest, highest, deviation }
}
