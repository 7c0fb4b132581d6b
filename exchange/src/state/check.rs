//! What holds for each state that an exchange can reach. An engine takes no other.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::error::Error;
use std::fmt;

use super::{AccountState, BookState, PositionState, RestingOrder, State};
use crate::types::{
    AccountId, MAX_ACCOUNTS, MAX_CASH, MAX_SYMBOLS, OrderRef, OutOfMemory, Side, SymbolId, notional,
};

/// Why no exchange can be in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateError {
    /// A book breaks a rule.
    Book(SymbolId, &'static str),
    /// An account breaks a rule.
    Account(AccountId, &'static str),
    /// The sums over all accounts break a rule.
    Sum(&'static str),
    /// The state is possible, and this system has no memory for it.
    OutOfMemory(OutOfMemory),
}

crate::errors::from!(StateError: OutOfMemory => OutOfMemory);

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Book(symbol, rule) => write!(f, "{rule}: symbol={}", symbol.0),
            Self::Account(account, rule) => write!(f, "{rule}: account={}", account.0),
            Self::Sum(rule) => f.write_str(rule),
            Self::OutOfMemory(error) => error.fmt(f),
        }
    }
}

impl Error for StateError {}

/// What the open orders of an account add up to.
#[derive(Default)]
struct Sums {
    reserved: u128,
    notional: u128,
    /// Open quantities of buy and sell orders.
    open: BTreeMap<SymbolId, (u64, u64)>,
}

impl State {
    /// Checks whether an exchange can be in this state.
    ///
    /// # Errors
    ///
    /// [`StateError`] names the first rule that does not hold.
    pub fn check(&self) -> Result<(), StateError> {
        let mut sums: HashMap<AccountId, Sums> = HashMap::new();
        let mut names = HashSet::new();
        is_ascending(self.books.iter().map(|book| book.spec.symbol.0))
            .ok_or(StateError::Sum("the symbols must ascend"))?;
        for book in &self.books {
            let broken = |rule| StateError::Book(book.spec.symbol, rule);
            check_book(book, &mut names).map_err(broken)?;
            add_orders(book, &mut sums);
        }
        is_ascending(self.accounts.iter().map(|account| account.id.0))
            .ok_or(StateError::Sum("the accounts must ascend"))?;
        for account in &self.accounts {
            let sums = sums.remove(&account.id).unwrap_or_default();
            let broken = |rule| StateError::Account(account.id, rule);
            check_account(account, &sums).map_err(broken)?;
        }
        if let Some(&account) = sums.keys().min() {
            return Err(StateError::Account(account, "an order must have an account"));
        }
        self.check_order_ids()?;
        self.check_totals()
    }

    /// Checks that each account has used the ids of its open orders.
    fn check_order_ids(&self) -> Result<(), StateError> {
        let last: HashMap<_, _> = self.accounts.iter().map(|a| (a.id, a.last_order)).collect();
        for order in self.books.iter().flat_map(BookState::orders) {
            let OrderRef { account, order } = order.1.id;
            if order.0 == 0 || last.get(&account).is_none_or(|&last| order > last) {
                return Err(StateError::Account(
                    account,
                    "an open order has an id that was not used",
                ));
            }
        }
        Ok(())
    }

    fn check_totals(&self) -> Result<(), StateError> {
        let all_cash: i128 = self.accounts.iter().map(|account| i128::from(account.cash)).sum();
        if all_cash > i128::from(MAX_CASH) {
            return Err(StateError::Sum("all cash must be at most the largest sum of deposits"));
        }
        let mut lots: BTreeMap<SymbolId, i128> = BTreeMap::new();
        for position in self.accounts.iter().flat_map(|account| &account.positions) {
            if self.books.binary_search_by_key(&position.symbol, |book| book.spec.symbol).is_err() {
                return Err(StateError::Book(position.symbol, "a position must have a book"));
            }
            *lots.entry(position.symbol).or_default() += i128::from(position.lots);
        }
        match lots.iter().find(|(_, sum)| **sum != 0) {
            Some((&symbol, _)) => Err(StateError::Book(symbol, "the positions must sum to 0")),
            None => Ok(()),
        }
    }
}

fn is_ascending(ids: impl Iterator<Item = u32>) -> Option<()> {
    ids.is_sorted_by(|a, b| a < b).then_some(())
}

fn check_book(book: &BookState, names: &mut HashSet<OrderRef>) -> Result<(), &'static str> {
    if book.spec.symbol.0 >= MAX_SYMBOLS {
        return Err("the symbol's id is too large");
    }
    if book.spec.check_bounds().is_err() {
        return Err("the symbol's band or number of orders is out of range");
    }
    if book.bids.len() + book.asks.len() > book.spec.max_orders as usize {
        return Err("the book has too many orders");
    }
    for (_, order) in book.orders() {
        if !names.insert(order.id) {
            return Err("an order's name must be used once");
        }
        let total = order.open.checked_add(order.filled);
        if order.open == 0 || total.is_none() || !book.spec.has(order.price) {
            return Err("an order's price or quantity is out of range");
        }
    }
    let is_sorted = book.bids.is_sorted_by(|a, b| a.price >= b.price)
        && book.asks.is_sorted_by(|a, b| a.price <= b.price);
    let best = book.bids.first().zip(book.asks.first());
    if !is_sorted || best.is_some_and(|(bid, ask)| bid.price >= ask.price) {
        return Err("the orders must be sorted and the book not crossed");
    }
    Ok(())
}

fn add_orders(book: &BookState, sums: &mut HashMap<AccountId, Sums>) {
    for (side, &RestingOrder { id, price, open, .. }) in book.orders() {
        let sums = sums.entry(id.account).or_default();
        let amount = u128::from(notional(price, open));
        let (buy, sell) = sums.open.entry(book.spec.symbol).or_default();
        sums.notional += amount;
        match side {
            Side::Buy => {
                sums.reserved += amount;
                *buy += u64::from(open);
            }
            Side::Sell => *sell += u64::from(open),
        }
    }
}

fn check_account(account: &AccountState, sums: &Sums) -> Result<(), &'static str> {
    if account.id.0 >= MAX_ACCOUNTS {
        return Err("the account's id is too large");
    }
    if u128::from(account.reserved) != sums.reserved
        || u128::from(account.open_notional) != sums.notional
    {
        return Err("reserved cash and open notional must be those of the orders");
    }
    if account.cash < 0 || account.reserved > account.cash.cast_unsigned() {
        return Err("the cash must cover what is reserved");
    }
    is_ascending(account.positions.iter().map(|position| position.symbol.0))
        .ok_or("the positions must ascend")?;
    let used = account.positions.iter().filter(|p| p.open_buy != 0 || p.open_sell != 0);
    let agree = |p: &PositionState| sums.open.get(&p.symbol) == Some(&(p.open_buy, p.open_sell));
    if used.clone().count() != sums.open.len() || !used.clone().all(agree) {
        return Err("the open quantities must be those of the orders");
    }
    if !account.positions.iter().all(is_in_range) {
        return Err("a position is out of range or unused");
    }
    Ok(())
}

/// Whether a position with its open orders is one that limits of 32 bits allow.
fn is_in_range(position: &PositionState) -> bool {
    let longest = i128::from(position.lots) + i128::from(position.open_buy);
    let shortest = i128::from(position.open_sell) - i128::from(position.lots);
    position.is_used() && longest.max(shortest) <= i128::from(u32::MAX)
}
