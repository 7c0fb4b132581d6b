//! One account.

use super::Wish;
use crate::state::{AccountState, PositionState};
use crate::types::{
    AccountId, Limits, Memory, OrderId, OrderState, POSITION_BYTES, Price, Quantity, Reason, Side,
    SymbolId, notional,
};

/// An account keeps room for so many positions.
const SPARE_POSITIONS: usize = 16;

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
    /// Those with lots or open orders, by ascending symbol. An account trades few symbols, so a search takes few steps.
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

    /// Returns the positions, by ascending symbol.
    pub(super) fn positions(&self) -> &[PositionState] {
        &self.positions
    }

    /// Checks an order against limits and cash.
    #[inline]
    pub(super) fn check(&self, wish: &Wish, memory: &Memory) -> Result<(), Reason> {
        if wish.total > self.limits.max_order {
            return Err(Reason::OrderTooLarge);
        }
        let OrderState { symbol, side, price, open, .. } = wish.order;
        let (old_open, old_notional) = match wish.instead_of {
            Some(old) => (old.open, notional(old.price, old.open)),
            None => (0, 0),
        };
        let place = self.place_of(symbol);
        self.check_position(place, side, open, old_open)?;

        let amount = notional(price, open);
        let open_notional = (self.open_notional - old_notional).checked_add(amount);
        if open_notional.is_none_or(|sum| sum > self.limits.max_open_notional) {
            return Err(Reason::NotionalLimit);
        }
        let free = self.cash.cast_unsigned() - self.reserved;
        if side == Side::Buy && amount > free + old_notional {
            return Err(Reason::NotEnoughCash);
        }
        if place.is_err() { memory.check(POSITION_BYTES) } else { Ok(()) }
    }

    /// Returns the sum of the open quantities of the orders on a side of a symbol.
    pub(super) fn open(&self, symbol: SymbolId, side: Side) -> u64 {
        self.place_of(symbol).map_or(0, |index| match side {
            Side::Buy => self.positions[index].open_buy,
            Side::Sell => self.positions[index].open_sell,
        })
    }

    /// Checks the position that would follow if all open orders of a side traded, and none of the
    /// other side.
    #[inline]
    fn check_position(
        &self,
        place: Result<usize, usize>,
        side: Side,
        open: Quantity,
        old_open: Quantity,
    ) -> Result<(), Reason> {
        let present = place.map(|index| &self.positions[index]).map_or(0, |position| match side {
            Side::Buy => position.open_buy.cast_signed() + position.lots,
            Side::Sell => position.open_sell.cast_signed() - position.lots,
        });
        let limit = match side {
            Side::Buy => self.limits.max_long,
            Side::Sell => self.limits.max_short,
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
        let index = self.place_of(order.symbol).unwrap_or_else(|index| {
            self.positions.insert(index, PositionState::empty(order.symbol));
            index
        });
        *self.positions[index].open_mut(order.side) += u64::from(order.open);
    }

    #[inline]
    pub(super) fn release(&mut self, order: &OrderState) {
        self.release_and_move(order, 0);
    }

    /// Books a trade of `order.open` lots at `price`, and releases what was reserved for them.
    pub(super) fn trade(&mut self, order: &OrderState, price: Price) {
        let amount = notional(price, order.open).cast_signed();
        match order.side {
            Side::Buy => {
                self.cash -= amount;
                self.release_and_move(order, i64::from(order.open));
            }
            Side::Sell => {
                self.cash += amount;
                self.release_and_move(order, -i64::from(order.open));
            }
        }
    }

    /// Releases what is reserved for an order, and changes the position. A position without lots and
    /// open orders goes.
    #[inline]
    fn release_and_move(&mut self, order: &OrderState, lots: i64) {
        let amount = notional(order.price, order.open);
        self.open_notional -= amount;
        if order.side == Side::Buy {
            self.reserved -= amount;
        }
        let index = self.place_of(order.symbol).expect("an open order has a position");
        let position = &mut self.positions[index];
        *position.open_mut(order.side) -= u64::from(order.open);
        position.lots += lots;
        if !position.is_used() {
            self.forget(index);
        }
    }

    /// Removes a position. The memory of many that are gone is given back.
    fn forget(&mut self, index: usize) {
        self.positions.remove(index);
        let (len, capacity) = (self.positions.len(), self.positions.capacity());
        if capacity > SPARE_POSITIONS && len < capacity / 4 {
            self.positions.shrink_to(capacity / 2);
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

    /// Returns the account in its canonical form, without its positions.
    pub(super) fn without_positions(&self, id: AccountId) -> AccountState {
        AccountState {
            id,
            cash: self.cash,
            reserved: self.reserved,
            open_notional: self.open_notional,
            last_order: self.last_order,
            limits: self.limits,
            positions: Vec::new(),
        }
    }

    #[inline]
    fn place_of(&self, symbol: SymbolId) -> Result<usize, usize> {
        self.positions.binary_search_by_key(&symbol, |position| position.symbol)
    }
}
