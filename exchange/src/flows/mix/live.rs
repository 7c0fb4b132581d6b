//! The open orders of a flow, according to the reports.

use crate::types::{AccountId, OrderId, OrderState, Price, Quantity, Report, Side};

/// An open order.
#[derive(Clone, Copy, Debug)]
pub(super) struct LiveOrder {
    pub(super) account: AccountId,
    pub(super) order: OrderId,
    pub(super) side: Side,
    pub(super) price: Price,
    pub(super) open: Quantity,
    pub(super) filled: Quantity,
}

/// Open orders, the oldest first.
#[derive(Debug, Default)]
pub(super) struct LiveOrders {
    orders: Vec<LiveOrder>,
    /// The price of the last trade, if there was one.
    pub(super) last_trade: Option<Price>,
}

impl LiveOrders {
    pub(super) fn len(&self) -> usize {
        self.orders.len()
    }

    pub(super) fn get(&self, index: usize) -> LiveOrder {
        self.orders[index]
    }

    /// Returns the number of open orders of a side.
    pub(super) fn count(&self, side: Side) -> usize {
        self.orders.iter().filter(|order| order.side == side).count()
    }

    pub(super) fn follow(&mut self, report: &Report) {
        match *report {
            Report::Accepted(OrderState { id, side, price, open, .. }) => {
                let (account, order) = (id.account, id.order);
                self.orders.push(LiveOrder { account, order, side, price, open, filled: 0 });
            }
            Report::Trade(trade) => {
                for id in [trade.maker.order, trade.taker.order] {
                    self.lose(id, trade.quantity, trade.quantity);
                }
                self.last_trade = Some(trade.price);
            }
            Report::Cancelled(gone, _) | Report::Reduced(gone, _) => {
                self.lose(gone.id.order, gone.open, 0);
            }
            Report::Replaced { new, .. } => {
                if let Ok(index) = self.place(new.id.order) {
                    self.orders[index].price = new.price;
                }
            }
            _ => {}
        }
    }

    /// Takes `quantity` from an order, of which `filled` has traded.
    fn lose(&mut self, order: OrderId, quantity: Quantity, filled: Quantity) {
        let Ok(index) = self.place(order) else { return };
        let found = &mut self.orders[index];
        found.open -= quantity;
        found.filled += filled;
        if found.open == 0 {
            self.orders.remove(index);
        }
    }

    /// A flow numbers the orders of all accounts in one row, so they are sorted.
    fn place(&self, order: OrderId) -> Result<usize, usize> {
        self.orders.binary_search_by_key(&order, |live| live.order)
    }
}
