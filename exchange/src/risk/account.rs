//! One account.

use super::Wish;
use crate::state::{AccountState, PositionState};
use crate::types::{
    AccountId, Limits, OrderId, OrderState, Price, Quantity, Reason, Side, SymbolId, notional,
};

/// Cash, positions and limits.
///
/// No sum can overflow. Cash is never negative, and all cash together is at most `MAX_CASH`. A position
/// with its open orders is at most its limit, which has 32 bits.
#[derive(Clone, Debug)]
pub(super) struct Account {
    cash: i64,
    /// The sum of price times quantity over open buy orders. At most the cash.
    reserved: u64,
    /// The sum of price times quantity over all open orders.
    open_notional: u64,
    pub(super) last_order: OrderId,
    pub(super) limits: Limits,
    /// By ascending symbol. An account trades few symbols, so a search takes few steps.
    positions: Vec<PositionState>,
}

impl Default for Account {
    fn default() -> Self {
        Self {
            cash: 0,
            reserved: 0,
            open_notional: 0,
            last_order: OrderId(0),
            limits: Limits::default(),
            positions: Vec::new(),
        }
    }
}

impl Account {
    pub(super) fn deposit(&mut self, amount: i64) -> Result<(), Reason> {
        let cash = self.cash + amount;
        if amount < 0 && cash < self.reserved.cast_signed() {
            return Err(Reason::NotEnoughCash);
        }
        self.cash = cash;
        Ok(())
    }

    /// Checks an order against limits and cash.
    #[inline]
    pub(super) fn check(&self, wish: &Wish) -> Result<(), Reason> {
        if wish.total > self.limits.max_order {
            return Err(Reason::OrderTooLarge);
        }
        let OrderState { symbol, side, price, open, .. } = wish.order;
        let (old_open, old_notional) = match wish.instead_of {
            Some(old) => (old.open, notional(old.price, old.open)),
            None => (0, 0),
        };
        self.check_position(symbol, side, open, old_open)?;

        let amount = notional(price, open);
        let open_notional = (self.open_notional - old_notional).checked_add(amount);
        if open_notional.is_none_or(|sum| sum > self.limits.max_open_notional) {
            return Err(Reason::NotionalLimit);
        }
        let free = self.cash.cast_unsigned() - self.reserved;
        if side == Side::Buy && amount > free + old_notional {
            return Err(Reason::NotEnoughCash);
        }
        Ok(())
    }

    /// Checks the position that would follow if all open orders of a side traded, and none of the
    /// other side.
    #[inline]
    fn check_position(
        &self,
        symbol: SymbolId,
        side: Side,
        open: Quantity,
        old_open: Quantity,
    ) -> Result<(), Reason> {
        let position = match self.place_of(symbol) {
            Ok(index) => self.positions[index],
            Err(_) => PositionState::empty(symbol),
        };
        let (present, limit) = match side {
            Side::Buy => (position.open_buy.cast_signed() + position.lots, self.limits.max_long),
            Side::Sell => (position.open_sell.cast_signed() - position.lots, self.limits.max_short),
        };
        if present - i64::from(old_open) + i64::from(open) > i64::from(limit) {
            return Err(Reason::PositionLimit);
        }
        Ok(())
    }

    #[inline]
    pub(super) fn reserve(&mut self, order: &OrderState) {
        let amount = notional(order.price, order.open);
        self.open_notional += amount;
        if order.side == Side::Buy {
            self.reserved += amount;
        }
        *self.position(order.symbol).open_mut(order.side) += u64::from(order.open);
    }

    #[inline]
    pub(super) fn release(&mut self, order: &OrderState) {
        let amount = notional(order.price, order.open);
        self.open_notional -= amount;
        if order.side == Side::Buy {
            self.reserved -= amount;
        }
        *self.position(order.symbol).open_mut(order.side) -= u64::from(order.open);
    }

    /// Books a trade of `order.open` lots at `price`, and releases what was reserved for them.
    pub(super) fn trade(&mut self, order: &OrderState, price: Price) {
        self.release(order);
        let amount = notional(price, order.open).cast_signed();
        let position = self.position(order.symbol);
        match order.side {
            Side::Buy => {
                position.lots += i64::from(order.open);
                self.cash -= amount;
            }
            Side::Sell => {
                position.lots -= i64::from(order.open);
                self.cash += amount;
            }
        }
    }

    pub(super) fn from_state(state: &AccountState) -> Self {
        Self {
            cash: state.cash,
            reserved: state.reserved,
            open_notional: state.open_notional,
            last_order: state.last_order,
            limits: state.limits,
            positions: state.positions.clone(),
        }
    }

    pub(super) fn state(&self, id: AccountId) -> AccountState {
        let positions = self.positions.iter().copied();
        AccountState {
            id,
            cash: self.cash,
            reserved: self.reserved,
            open_notional: self.open_notional,
            last_order: self.last_order,
            limits: self.limits,
            positions: positions.filter(PositionState::is_used).collect(),
        }
    }

    /// Returns the position in a symbol. The first order in a symbol makes one.
    #[inline]
    fn position(&mut self, symbol: SymbolId) -> &mut PositionState {
        let index = self.place_of(symbol).unwrap_or_else(|index| {
            self.positions.insert(index, PositionState::empty(symbol));
            index
        });
        &mut self.positions[index]
    }

    #[inline]
    fn place_of(&self, symbol: SymbolId) -> Result<usize, usize> {
        self.positions.binary_search_by_key(&symbol, |position| position.symbol)
    }
}
