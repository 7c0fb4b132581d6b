//! Accounts of the plain exchange. What open orders reserve is added up from the books.

use std::collections::BTreeMap;

use super::book::{PlainBook, PlainOrder};
use crate::state::{AccountState, PositionState};
use crate::types::{
    AccountId, Deposit, Limits, MAX_CASH, OrderId, OrderRef, OrderState, Quantity, Reason, Side,
    SymbolId,
};

type Books = BTreeMap<SymbolId, PlainBook>;

#[derive(Clone, Debug, Default)]
pub(super) struct PlainAccount {
    pub(super) cash: i64,
    pub(super) limits: Limits,
    /// 0 before the first order.
    last_order: u64,
    /// Lots by symbol.
    positions: BTreeMap<SymbolId, i64>,
}

/// An order that an account would like to have.
pub(super) struct Wish {
    pub(super) order: OrderState,
    /// The quantity with what has traded.
    pub(super) total: Quantity,
    /// An open order that would go.
    pub(super) instead_of: Option<OrderRef>,
}

/// What the open orders of an account add up to.
#[derive(Default)]
struct Open {
    /// Price times quantity of the buy orders.
    reserved: u128,
    /// Price times quantity of all orders.
    notional: u128,
    /// Quantities of buy orders by symbol.
    buy: BTreeMap<SymbolId, u64>,
    /// Quantities of sell orders by symbol.
    sell: BTreeMap<SymbolId, u64>,
}

impl Open {
    fn of(account: AccountId, books: &Books, except: Option<OrderRef>) -> Self {
        let mut open = Self::default();
        for (&symbol, book) in books {
            let is_counted = |order: &PlainOrder| {
                order.resting.id.account == account && Some(order.resting.id) != except
            };
            for order in book.orders().filter(is_counted) {
                open.add(symbol, &order);
            }
        }
        open
    }

    fn add(&mut self, symbol: SymbolId, order: &PlainOrder) {
        let amount = u128::from(order.resting.price) * u128::from(order.resting.open);
        self.notional += amount;
        let quantities = match order.side {
            Side::Buy => {
                self.reserved += amount;
                &mut self.buy
            }
            Side::Sell => &mut self.sell,
        };
        *quantities.entry(symbol).or_default() += u64::from(order.resting.open);
    }

    fn buy(&self, symbol: SymbolId) -> u64 {
        self.buy.get(&symbol).copied().unwrap_or(0)
    }

    fn sell(&self, symbol: SymbolId) -> u64 {
        self.sell.get(&symbol).copied().unwrap_or(0)
    }
}

impl PlainAccount {
    /// Uses up the id of a new order.
    pub(super) fn use_up(&mut self, order: OrderId) -> Result<(), Reason> {
        if order.0 <= self.last_order {
            return Err(Reason::StaleOrderId);
        }
        self.last_order = order.0;
        Ok(())
    }

    /// Checks an order against limits and cash.
    pub(super) fn check(&self, wish: &Wish, books: &Books) -> Result<(), Reason> {
        let OrderState { id, symbol, side, price, open: quantity } = wish.order;
        let open = Open::of(id.account, books, wish.instead_of);
        let amount = u128::from(price) * u128::from(quantity);

        if wish.total > self.limits.max_order {
            return Err(Reason::OrderTooLarge);
        }
        let lots = i128::from(self.positions.get(&symbol).copied().unwrap_or(0));
        let (worst, limit) = match side {
            Side::Buy => (lots + i128::from(open.buy(symbol)), self.limits.max_long),
            Side::Sell => (i128::from(open.sell(symbol)) - lots, self.limits.max_short),
        };
        if worst + i128::from(quantity) > i128::from(limit) {
            return Err(Reason::PositionLimit);
        }
        if open.notional + amount > u128::from(self.limits.max_open_notional) {
            return Err(Reason::NotionalLimit);
        }
        let cash = u128::try_from(self.cash).expect("cash is never negative");
        if side == Side::Buy && open.reserved + amount > cash {
            return Err(Reason::NotEnoughCash);
        }
        Ok(())
    }

    /// Returns the symbols of which the account has lots, or owes some.
    pub(super) fn traded(&self) -> impl Iterator<Item = SymbolId> {
        self.positions.iter().filter(|(_, lots)| **lots != 0).map(|(&symbol, _)| symbol)
    }

    /// Whether the account has lots or open orders of a symbol.
    pub(super) fn has_position(&self, id: AccountId, symbol: SymbolId, books: &Books) -> bool {
        self.traded().any(|traded| traded == symbol)
            || books[&symbol].orders().any(|order| order.resting.id.account == id)
    }

    /// Books one side of a trade.
    pub(super) fn settle(&mut self, symbol: SymbolId, side: Side, amount: i64, quantity: Quantity) {
        let lots = self.positions.entry(symbol).or_default();
        match side {
            Side::Buy => {
                *lots += i64::from(quantity);
                self.cash -= amount;
            }
            Side::Sell => {
                *lots -= i64::from(quantity);
                self.cash += amount;
            }
        }
    }

    /// Adds or takes away cash. `all_cash` is that of all accounts.
    pub(super) fn deposit(
        &mut self,
        deposit: Deposit,
        all_cash: i128,
        books: &Books,
    ) -> Result<(), Reason> {
        if deposit.amount == 0 {
            return Err(Reason::NoAmount);
        }
        if all_cash + i128::from(deposit.amount) > i128::from(MAX_CASH) {
            return Err(Reason::TooMuchCash);
        }
        let cash = i128::from(self.cash) + i128::from(deposit.amount);
        let reserved = Open::of(deposit.account, books, None).reserved;
        if deposit.amount < 0 && cash < i128::try_from(reserved).expect("reserved is below cash") {
            return Err(Reason::NotEnoughCash);
        }
        self.cash = i64::try_from(cash).expect("cash is at most MAX_CASH");
        Ok(())
    }

    pub(super) fn state(&self, id: AccountId, books: &Books) -> AccountState {
        let open = Open::of(id, books, None);
        let positions = books.keys().map(|&symbol| PositionState {
            symbol,
            lots: self.positions.get(&symbol).copied().unwrap_or(0),
            open_buy: open.buy(symbol),
            open_sell: open.sell(symbol),
        });
        AccountState {
            id,
            cash: self.cash,
            reserved: u64::try_from(open.reserved).expect("reserved is at most the cash"),
            open_notional: u64::try_from(open.notional).expect("it is at most its limit"),
            last_order: OrderId(self.last_order),
            limits: self.limits,
            positions: positions.filter(PositionState::is_used).collect(),
        }
    }
}
