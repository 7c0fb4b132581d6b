//! What must hold for any exchange. The audit follows the reports and compares them with the state. It
//! knows no rule of matching.

use std::collections::BTreeMap;

use exchange::state::{BookState, State};
use exchange::types::{
    Command, Level, OrderRef, OrderState, Price, Quantity, Report, Side, SymbolId, Trade,
};

/// What the reports have said so far.
#[derive(Debug, Default)]
pub(crate) struct Audit {
    /// The open orders: symbol, side, price and open quantity.
    open: BTreeMap<OrderRef, (SymbolId, Side, Price, Quantity)>,
    /// The levels that the reports describe: quantity and orders.
    levels: BTreeMap<(SymbolId, Side, Price), (u64, u32)>,
    /// The sum of all deposits.
    cash: i128,
}

impl Audit {
    /// Follows the reports of a command and compares the result with the state after it.
    pub(crate) fn follow(&mut self, command: &Command, reports: &[Report], state: &State) {
        assert!(!reports.is_empty(), "each command is answered");
        let is_rejected = reports.iter().any(|report| matches!(report, Report::Rejected { .. }));
        assert!(!is_rejected || reports.len() == 1, "a rejected command does nothing else");
        for report in reports {
            self.report(report, command);
        }
        self.compare_orders(state);
        self.compare_levels(state);
        self.compare_money(state);
        assert_eq!(state.check(), Ok(()));
        for book in &state.books {
            is_sorted_and_not_crossed(book);
        }
    }

    fn report(&mut self, report: &Report, command: &Command) {
        match *report {
            Report::Accepted(new) => {
                let old = self.open.insert(new.id, (new.symbol, new.side, new.price, new.open));
                assert_eq!(old, None, "an order id is used once");
            }
            Report::Trade(trade) => self.trade(&trade),
            Report::Cancelled(order, _) => {
                assert_eq!(self.lose(&order), 0, "a cancelled order has nothing left: {command:?}");
            }
            Report::Reduced(order, _) => {
                assert_ne!(self.lose(&order), 0, "a reduced order is open: {command:?}");
            }
            Report::Replaced { new, old_price, old_open } => {
                let old = self.open.insert(new.id, (new.symbol, new.side, new.price, new.open));
                assert_eq!(old, Some((new.symbol, new.side, old_price, old_open)));
            }
            Report::Level(level) => self.level(&level),
            Report::Deposited(deposit) => self.cash += i128::from(deposit.amount),
            _ => {}
        }
    }

    fn trade(&mut self, trade: &Trade) {
        assert_ne!(trade.maker.account, trade.taker.account, "no account trades with itself");
        assert_ne!(trade.quantity, 0);
        assert!(trade.taker_side.accepts(trade.taker_limit, trade.price), "within the limit");
        let of = |id, side, price| OrderState {
            id,
            symbol: trade.symbol,
            side,
            price,
            open: trade.quantity,
        };
        let maker = of(trade.maker, trade.taker_side.opposite(), trade.price);
        assert_eq!(self.lose(&maker), trade.maker_open);
        let taker = of(trade.taker, trade.taker_side, trade.taker_limit);
        assert_eq!(self.lose(&taker), trade.taker_open);
    }

    /// Takes `order.open` from an order. Returns what remains.
    fn lose(&mut self, order: &OrderState) -> Quantity {
        let (symbol, side, price, open) = self.open.remove(&order.id).expect("the order is open");
        assert_eq!((order.symbol, order.side, order.price), (symbol, side, price));
        let left = open.checked_sub(order.open).expect("an order loses no more than it has");
        if left > 0 {
            self.open.insert(order.id, (symbol, side, price, left));
        }
        left
    }

    fn level(&mut self, level: &Level) {
        let key = (level.symbol, level.side, level.price);
        let new = (level.quantity, level.orders);
        assert_eq!(level.quantity == 0, level.orders == 0);
        let old =
            if level.orders == 0 { self.levels.remove(&key) } else { self.levels.insert(key, new) };
        assert_ne!(old, Some(new), "a level is reported when it has changed");
    }

    fn compare_orders(&self, state: &State) {
        let mut open = BTreeMap::new();
        for (symbol, side, order) in orders(state) {
            open.insert(order.id, (symbol, side, order.price, order.open));
        }
        assert_eq!(open, self.open, "the reports tell which orders are open");
    }

    fn compare_levels(&self, state: &State) {
        let mut levels = BTreeMap::new();
        for (symbol, side, order) in orders(state) {
            let level: &mut (u64, u32) = levels.entry((symbol, side, order.price)).or_default();
            level.0 += u64::from(order.open);
            level.1 += 1;
        }
        assert_eq!(levels, self.levels, "the reports tell what rests at each price");
    }

    fn compare_money(&self, state: &State) {
        let all_cash: i128 = state.accounts.iter().map(|account| i128::from(account.cash)).sum();
        assert_eq!(all_cash, self.cash, "trades move cash and make none");
        let mut lots: BTreeMap<SymbolId, i128> = BTreeMap::new();
        for account in &state.accounts {
            assert!(account.cash >= 0 && account.reserved <= account.cash.cast_unsigned());
            for position in &account.positions {
                *lots.entry(position.symbol).or_default() += i128::from(position.lots);
            }
        }
        assert!(lots.values().all(|&sum| sum == 0), "positions sum to zero: {lots:?}");
    }
}

fn orders(state: &State) -> impl Iterator<Item = (SymbolId, Side, &exchange::state::RestingOrder)> {
    state.books.iter().flat_map(|book| {
        let symbol = book.spec.symbol;
        let bids = book.bids.iter().map(move |order| (symbol, Side::Buy, order));
        bids.chain(book.asks.iter().map(move |order| (symbol, Side::Sell, order)))
    })
}

fn is_sorted_and_not_crossed(book: &BookState) {
    assert!(book.bids.is_sorted_by(|a, b| a.price >= b.price));
    assert!(book.asks.is_sorted_by(|a, b| a.price <= b.price));
    if let (Some(bid), Some(ask)) = (book.bids.first(), book.asks.first()) {
        assert!(bid.price < ask.price, "the book is crossed: {bid:?} {ask:?}");
    }
    for order in book.bids.iter().chain(&book.asks) {
        assert!(order.open > 0 && book.spec.has(order.price), "{order:?}");
    }
}
