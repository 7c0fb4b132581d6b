//! Commands of clients: new, cancel and replace.
//!
//! Each command first reads and checks, and changes nothing. Behind the last check it cannot fail.

use super::Engine;
use crate::book::{Book, Found, Incoming};
use crate::risk::{Accounts, Wish};
use crate::types::{
    Cancel, Cause, NewOrder, OrderKind, OrderRef, OrderState, Price, Quantity, Reason, Replace,
    Report, Resting, SymbolId, SymbolSpec,
};

impl Engine {
    pub(super) fn new_order(
        &mut self,
        new: &NewOrder,
        sink: &mut impl FnMut(Report),
    ) -> Result<(), Reason> {
        let Self { accounts, books, .. } = self;
        accounts.use_up(new.account, new.order)?;
        let book = book_mut(books, new.symbol)?;
        if new.quantity == 0 {
            return Err(Reason::NoQuantity);
        }
        let order = OrderState {
            id: OrderRef { account: new.account, order: new.order },
            symbol: new.symbol,
            side: new.side,
            price: limit_of(new, book.spec())?,
            open: new.quantity,
        };
        accounts.check(&Wish { order, total: new.quantity, instead_of: None })?;
        book.admits(new.kind, order.side, order.price)?;

        accounts.reserve(&order);
        sink(Report::Accepted(order));
        let incoming = Incoming { order, filled: 0, self_trade: new.self_trade };
        let other_side = order.side.opposite();
        if new.kind == OrderKind::FillOrKill
            && !book.can_fill(&incoming, accounts.open(new.account, new.symbol, other_side))
        {
            settling(accounts, sink)(Report::Cancelled(order, Cause::Unfilled));
            return Ok(());
        }
        book.enter(incoming, new.kind, &mut settling(accounts, sink));
        Ok(())
    }

    pub(super) fn cancel(
        &mut self,
        cancel: &Cancel,
        sink: &mut impl FnMut(Report),
    ) -> Result<(), Reason> {
        let id = OrderRef { account: cancel.account, order: cancel.order };
        let found = self.find(id, cancel.symbol)?;
        self.cancel_found(found, cancel.symbol, sink)
    }

    pub(super) fn replace(
        &mut self,
        replace: &Replace,
        sink: &mut impl FnMut(Report),
    ) -> Result<(), Reason> {
        let id = OrderRef { account: replace.account, order: replace.order };
        let found = self.find(id, replace.symbol)?;
        let book = book_mut(&mut self.books, replace.symbol)?;
        if !book.spec().has(replace.price) {
            return Err(Reason::PriceOutsideBand);
        }
        let (side, old) = book.order(found);
        let Some(open) = replace.quantity.checked_sub(old.filled).filter(|&open| open > 0) else {
            return self.cancel_found(found, replace.symbol, sink);
        };
        if replace.price == old.price && open <= old.open {
            return self.reduce_found(found, replace.symbol, open, sink);
        }
        let symbol = replace.symbol;
        let old = OrderState { id, symbol, side, price: old.price, open: old.open };
        self.replace_found(found, replace, &old, open, sink)
    }

    /// Returns the place of an open order in the book of a symbol.
    fn find(&self, id: OrderRef, symbol: SymbolId) -> Result<Found, Reason> {
        self.accounts.exists(id.account)?;
        let book = self.books.get(symbol.0 as usize).and_then(Option::as_deref);
        book.ok_or(Reason::UnknownSymbol)?.find(id).ok_or(Reason::UnknownOrder)
    }

    fn cancel_found(
        &mut self,
        found: Found,
        symbol: SymbolId,
        sink: &mut impl FnMut(Report),
    ) -> Result<(), Reason> {
        let Self { accounts, books, .. } = self;
        book_mut(books, symbol)?.cancel(found, &mut settling(accounts, sink));
        Ok(())
    }

    fn reduce_found(
        &mut self,
        found: Found,
        symbol: SymbolId,
        open: Quantity,
        sink: &mut impl FnMut(Report),
    ) -> Result<(), Reason> {
        let Self { accounts, books, .. } = self;
        book_mut(books, symbol)?.reduce(found, open, &mut settling(accounts, sink));
        Ok(())
    }

    /// Replaces an order that loses its time priority.
    fn replace_found(
        &mut self,
        found: Found,
        replace: &Replace,
        old: &OrderState,
        open: Quantity,
        sink: &mut impl FnMut(Report),
    ) -> Result<(), Reason> {
        let Self { accounts, books, .. } = self;
        let book = book_mut(books, replace.symbol)?;
        let order = OrderState { price: replace.price, open, ..*old };
        accounts.check(&Wish { order, total: replace.quantity, instead_of: Some(*old) })?;
        if replace.kind == Resting::PostOnly && book.would_trade(order.side, order.price) {
            return Err(Reason::WouldTrade);
        }

        accounts.reserve(&order);
        let mut sink = settling(accounts, sink);
        book.replace(found, order.price, open, replace.self_trade, &mut sink);
        Ok(())
    }
}

/// Returns a sink that lets risk follow each report before it is handed on.
fn settling(accounts: &mut Accounts, sink: &mut impl FnMut(Report)) -> impl FnMut(Report) {
    move |report| {
        accounts.settle(&report);
        sink(report);
    }
}

fn book_mut(books: &mut [Option<Box<Book>>], symbol: SymbolId) -> Result<&mut Book, Reason> {
    let place = books.get_mut(symbol.0 as usize);
    place.and_then(Option::as_deref_mut).ok_or(Reason::UnknownSymbol)
}

/// Returns the worst price at which a new order may trade.
fn limit_of(new: &NewOrder, spec: &SymbolSpec) -> Result<Price, Reason> {
    match new.kind {
        OrderKind::Market if new.price != 0 => Err(Reason::PriceOfMarketOrder),
        OrderKind::Market => Ok(spec.edge(new.side)),
        _ if spec.has(new.price) => Ok(new.price),
        _ => Err(Reason::PriceOutsideBand),
    }
}
