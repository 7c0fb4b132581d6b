//! The exchange in plain collections, written for readability. It decides what the engine must decide.
//!
//! It keeps no sums: reserved cash and open quantities are added up from the orders whenever a rule
//! asks for them.

mod accounts;
mod book;

use std::collections::{BTreeMap, BTreeSet};

use crate::Exchange;
use crate::state::{BookState, State};
use crate::types::{
    ACCOUNT_BYTES, AccountId, Cancel, Cause, Command, DEFAULT_MEMORY, Deposit, Limits,
    MAX_ACCOUNTS, MAX_BAND, MAX_ORDERS, MAX_PRICE, MAX_SYMBOLS, NewOrder, OrderKind, OrderRef,
    OrderState, POSITION_BYTES, Reason, Replace, Report, Resting, SymbolId, SymbolSpec,
};

use accounts::{PlainAccount, Wish};
use book::{Incoming, PlainBook, PlainOrder};

type Sink<'a> = &'a mut dyn FnMut(Report);

/// MiB that all books, accounts and positions may take.
#[derive(Clone, Copy, Debug)]
struct MemoryLimit(u32);

impl Default for MemoryLimit {
    fn default() -> Self {
        Self(DEFAULT_MEMORY)
    }
}

/// The whole exchange.
#[derive(Clone, Debug, Default)]
pub struct PlainExchange {
    commands: u64,
    /// The limit of the memory.
    memory: MemoryLimit,
    books: BTreeMap<SymbolId, PlainBook>,
    accounts: BTreeMap<AccountId, PlainAccount>,
}

impl Exchange for PlainExchange {
    fn apply(&mut self, command: &Command, sink: &mut impl FnMut(Report)) {
        self.commands += 1;
        let result = match *command {
            Command::New(order) => self.new_order(&order, sink),
            Command::Cancel(cancel) => self.cancel(&cancel, sink),
            Command::Replace(replace) => self.replace(&replace, sink),
            Command::AddSymbol(spec) => self.add_symbol(spec, sink),
            Command::AddAccount(account) => self.add_account(account, sink),
            Command::Deposit(deposit) => self.deposit(deposit, sink),
            Command::SetLimits(account, limits) => self.set_limits(account, limits, sink),
            Command::SetMemory(limit) => {
                self.memory = MemoryLimit(limit);
                sink(Report::MemorySet(limit));
                Ok(())
            }
        };
        if let Err(reason) = result {
            sink(Report::rejected(command, reason));
        }
    }

    fn state(&self) -> State {
        let books = self.books.values().map(PlainBook::state).collect();
        let accounts = self.accounts.iter().map(|(&id, account)| account.state(id, &self.books));
        let memory = self.memory.0;
        State { commands: self.commands, memory, accounts: accounts.collect(), books }
    }
}

impl PlainExchange {
    fn new_order(&mut self, new: &NewOrder, sink: Sink<'_>) -> Result<(), Reason> {
        let account = self.accounts.get_mut(&new.account).ok_or(Reason::UnknownAccount)?;
        account.use_up(new.order)?;
        let account = &self.accounts[&new.account];
        let book = self.books.get(&new.symbol).ok_or(Reason::UnknownSymbol)?;
        if new.quantity == 0 {
            return Err(Reason::NoQuantity);
        }
        let limit = limit_of(new, &book.spec)?;

        let order = OrderState {
            id: OrderRef { account: new.account, order: new.order },
            symbol: new.symbol,
            side: new.side,
            price: limit,
            open: new.quantity,
        };
        let wish = Wish { order, total: new.quantity, instead_of: None };
        account.check(&wish, &self.books)?;
        if !account.has_position(new.account, new.symbol, &self.books) {
            self.check_memory(POSITION_BYTES)?;
        }
        if new.kind.may_rest() && book.len() >= book.spec.max_orders as usize {
            return Err(Reason::BookFull);
        }
        if new.kind == OrderKind::PostOnly && book.would_trade(new.side, limit) {
            return Err(Reason::WouldTrade);
        }

        sink(Report::Accepted(order));
        let incoming = Incoming { order, filled: 0, self_trade: new.self_trade };
        if new.kind == OrderKind::FillOrKill && !book.can_fill(&incoming) {
            sink(Report::Cancelled(order, Cause::Unfilled));
            return Ok(());
        }
        self.enter(incoming, new.kind.may_rest(), sink);
        Ok(())
    }

    fn cancel(&mut self, cancel: &Cancel, sink: Sink<'_>) -> Result<(), Reason> {
        let id = OrderRef { account: cancel.account, order: cancel.order };
        let (book, order) = self.open_order(id, cancel.symbol)?;
        book.remove(id);
        sink(Report::Cancelled(order.state(cancel.symbol), Cause::Requested));
        sink(Report::Level(book.level(order.side, order.resting.price)));
        Ok(())
    }

    fn replace(&mut self, replace: &Replace, sink: Sink<'_>) -> Result<(), Reason> {
        let id = OrderRef { account: replace.account, order: replace.order };
        let (book, old) = self.open_order(id, replace.symbol)?;
        if !book.spec.has(replace.price) {
            return Err(Reason::PriceOutsideBand);
        }
        let state = old.state(replace.symbol);
        if replace.quantity <= old.resting.filled {
            book.remove(id);
            sink(Report::Cancelled(state, Cause::Requested));
            sink(Report::Level(book.level(old.side, old.resting.price)));
            return Ok(());
        }
        let open = replace.quantity - old.resting.filled;
        if replace.price == old.resting.price && open <= old.resting.open {
            book.reduce(id, old.resting.open - open);
            let gone = OrderState { open: old.resting.open - open, ..state };
            sink(Report::Reduced(gone, Cause::Requested));
            if gone.open > 0 {
                sink(Report::Level(book.level(old.side, old.resting.price)));
            }
            return Ok(());
        }
        self.replace_and_lose_priority(replace, &old, open, sink)
    }

    fn replace_and_lose_priority(
        &mut self,
        replace: &Replace,
        old: &PlainOrder,
        open: u32,
        sink: Sink<'_>,
    ) -> Result<(), Reason> {
        let new = OrderState { price: replace.price, open, ..old.state(replace.symbol) };
        let wish = Wish { order: new, total: replace.quantity, instead_of: Some(new.id) };
        self.accounts[&replace.account].check(&wish, &self.books)?;
        let book = self.books.get_mut(&replace.symbol).expect("the order is in this book");
        if replace.kind == Resting::PostOnly && book.would_trade(new.side, new.price) {
            return Err(Reason::WouldTrade);
        }

        let (old_price, old_open) = (old.resting.price, old.resting.open);
        book.remove(new.id);
        sink(Report::Replaced { new, old_price, old_open });
        sink(Report::Level(book.level(old.side, old_price)));
        let filled = old.resting.filled;
        self.enter(Incoming { order: new, filled, self_trade: replace.self_trade }, true, sink);
        Ok(())
    }

    /// Lets an order trade. Then the rest enters the book or is cancelled.
    fn enter(&mut self, incoming: Incoming, may_rest: bool, sink: Sink<'_>) {
        let symbol = incoming.order.symbol;
        let book = self.books.get_mut(&symbol).expect("the symbol has been checked");
        let accounts = &mut self.accounts;
        book.enter(incoming, may_rest, &mut |report| {
            if let Report::Trade(trade) = report {
                let amount = i64::try_from(u64::from(trade.price) * u64::from(trade.quantity));
                let amount = amount.expect("a price is below 2^31");
                for (id, side) in
                    [(trade.taker, trade.taker_side), (trade.maker, trade.taker_side.opposite())]
                {
                    let account = accounts.get_mut(&id.account).expect("an order has an account");
                    account.settle(symbol, side, amount, trade.quantity);
                }
            }
            sink(report);
        });
    }

    /// Returns an open order and its book.
    fn open_order(
        &mut self,
        id: OrderRef,
        symbol: SymbolId,
    ) -> Result<(&mut PlainBook, PlainOrder), Reason> {
        if !self.accounts.contains_key(&id.account) {
            return Err(Reason::UnknownAccount);
        }
        let book = self.books.get_mut(&symbol).ok_or(Reason::UnknownSymbol)?;
        let order = book.find(id).ok_or(Reason::UnknownOrder)?;
        Ok((book, order))
    }

    fn add_symbol(&mut self, spec: SymbolSpec, sink: Sink<'_>) -> Result<(), Reason> {
        if spec.symbol.0 >= MAX_SYMBOLS {
            return Err(Reason::IdTooLarge);
        }
        if self.books.contains_key(&spec.symbol) {
            return Err(Reason::Exists);
        }
        let is_range = 1 <= spec.lowest && spec.lowest <= spec.highest && spec.highest <= MAX_PRICE;
        if !is_range || spec.highest - spec.lowest >= MAX_BAND {
            return Err(Reason::BadBand);
        }
        if spec.max_orders == 0 || spec.max_orders > MAX_ORDERS {
            return Err(Reason::BadCapacity);
        }
        self.check_memory(spec.memory())?;
        self.books.insert(spec.symbol, PlainBook::new(spec));
        sink(Report::SymbolAdded(spec));
        Ok(())
    }

    fn add_account(&mut self, account: AccountId, sink: Sink<'_>) -> Result<(), Reason> {
        if account.0 >= MAX_ACCOUNTS {
            return Err(Reason::IdTooLarge);
        }
        if self.accounts.contains_key(&account) {
            return Err(Reason::Exists);
        }
        self.check_memory(ACCOUNT_BYTES)?;
        self.accounts.insert(account, PlainAccount::default());
        sink(Report::AccountAdded(account));
        Ok(())
    }

    /// Checks whether so many more bytes are within the limit.
    fn check_memory(&self, bytes: u64) -> Result<(), Reason> {
        let books: u64 = self.books.values().map(|book| book.spec.memory()).sum();
        let accounts = self.accounts.len() as u64 * ACCOUNT_BYTES;
        let mut positions: BTreeSet<(AccountId, SymbolId)> = BTreeSet::new();
        for (&symbol, book) in &self.books {
            positions.extend(book.orders().map(|order| (order.resting.id.account, symbol)));
        }
        for (&id, account) in &self.accounts {
            positions.extend(account.traded().map(|symbol| (id, symbol)));
        }
        let used = books + accounts + positions.len() as u64 * POSITION_BYTES;
        let limit = u64::from(self.memory.0) * 1024 * 1024;
        if used + bytes <= limit { Ok(()) } else { Err(Reason::NoMemory) }
    }

    fn deposit(&mut self, deposit: Deposit, sink: Sink<'_>) -> Result<(), Reason> {
        let all_cash = self.accounts.values().map(|account| i128::from(account.cash)).sum();
        let account = self.accounts.get_mut(&deposit.account).ok_or(Reason::UnknownAccount)?;
        account.deposit(deposit, all_cash, &self.books)?;
        sink(Report::Deposited(deposit));
        Ok(())
    }

    fn set_limits(
        &mut self,
        account: AccountId,
        limits: Limits,
        sink: Sink<'_>,
    ) -> Result<(), Reason> {
        self.accounts.get_mut(&account).ok_or(Reason::UnknownAccount)?.limits = limits;
        sink(Report::LimitsSet(account, limits));
        Ok(())
    }
}

/// Returns the worst price at which a new order may trade.
fn limit_of(new: &NewOrder, spec: &SymbolSpec) -> Result<u32, Reason> {
    match new.kind {
        OrderKind::Market if new.price != 0 => Err(Reason::PriceOfMarketOrder),
        OrderKind::Market => Ok(spec.edge(new.side)),
        _ if spec.has(new.price) => Ok(new.price),
        _ => Err(Reason::PriceOutsideBand),
    }
}
