//! Which orders of a session are open, for the sessions that cancel theirs when they end.

use std::collections::HashMap;

use crate::types::{Cancel, OrderRef, Report, SymbolId};

/// The open orders of the sessions that asked for it.
#[derive(Debug, Default)]
pub(super) struct OpenOrders {
    sessions: HashMap<u64, HashMap<OrderRef, SymbolId>>,
    /// The session of each of these orders.
    owners: HashMap<OrderRef, u64>,
}

impl OpenOrders {
    /// Follows the orders that a session enters from now on.
    pub(super) fn begin(&mut self, session: u64) {
        self.sessions.insert(session, HashMap::new());
    }

    /// Follows a report of a command of this session.
    pub(super) fn note(&mut self, session: u64, report: &Report) {
        if self.sessions.is_empty() {
            return;
        }
        match report {
            Report::Accepted(order) => {
                if let Some(orders) = self.sessions.get_mut(&session) {
                    orders.insert(order.id, order.symbol);
                    self.owners.insert(order.id, session);
                }
            }
            Report::Trade(trade) => {
                let both = [(trade.maker, trade.maker_open), (trade.taker, trade.taker_open)];
                for (order, _) in both.into_iter().filter(|&(_, open)| open == 0) {
                    self.remove(order);
                }
            }
            Report::Cancelled(order, _) => self.remove(order.id),
            _ => {}
        }
    }

    /// Follows a session no longer. Returns the cancellations of its open orders, the oldest of each
    /// account first.
    pub(super) fn end(&mut self, session: u64) -> Vec<Cancel> {
        let orders = self.sessions.remove(&session).unwrap_or_default();
        let mut orders: Vec<_> = orders.into_iter().collect();
        orders.sort_unstable();
        let cancel = |(OrderRef { account, order }, symbol)| Cancel { account, order, symbol };
        orders.iter().for_each(|(order, _)| _ = self.owners.remove(order));
        orders.into_iter().map(cancel).collect()
    }

    fn remove(&mut self, order: OrderRef) {
        if let Some(session) = self.owners.remove(&order)
            && let Some(orders) = self.sessions.get_mut(&session)
        {
            orders.remove(&order);
        }
    }
}
