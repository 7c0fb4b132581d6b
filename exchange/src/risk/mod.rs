//! Accounts: cash, positions, limits, memory, and what open orders reserve.
//!
//! A check reads the account and changes nothing. [`Accounts::reserve`] follows an order that the book
//! admits. [`Accounts::settle`] follows each report: it moves cash and lots of trades, and releases
//! what an order that trades, shrinks or ends no longer needs. It reads accounts and reports only.

mod account;

use account::Account;

use crate::state::AccountState;
use crate::types::{
    ACCOUNT_BYTES, AccountId, Deposit, Limits, MAX_ACCOUNTS, MAX_CASH, Memory, OrderId, OrderState,
    POSITION_BYTES, Quantity, Reason, Report, Trade,
};

/// All accounts.
#[derive(Clone, Debug, Default)]
pub struct Accounts {
    /// Account `i` at `i`. An account that does not exist has no entry, or `None`.
    accounts: Vec<Option<Account>>,
    /// The sum of all cash. A trade does not change it.
    deposits: i64,
    memory: Memory,
}

/// An order that an account would like to have.
#[derive(Clone, Copy, Debug)]
pub struct Wish {
    /// The order.
    pub order: OrderState,
    /// Its quantity with what has traded.
    pub total: Quantity,
    /// The order in its present terms, if it is open.
    pub instead_of: Option<OrderState>,
}

impl Accounts {
    /// Returns accounts with so many MiB of memory in a state that [`State::check`](crate::state::State::check) has passed.
    #[must_use]
    pub fn from_state(state: &[AccountState], memory: u32) -> Self {
        let mut accounts = Self { memory: Memory::new(memory), ..Self::default() };
        for account in state {
            let positions = account.positions.len() as u64;
            accounts.memory.take(ACCOUNT_BYTES + positions * POSITION_BYTES);
            accounts.deposits += account.cash;
            *accounts.place(account.id) = Some(Account::from_state(account));
        }
        accounts
    }

    /// Returns what the exchange takes of its memory.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Returns the same, to count a book or to set the limit.
    pub fn memory_mut(&mut self) -> &mut Memory {
        &mut self.memory
    }

    /// Whether the account exists.
    ///
    /// # Errors
    ///
    /// [`Reason::UnknownAccount`]
    pub fn exists(&self, id: AccountId) -> Result<(), Reason> {
        self.account(id).map(|_| ())
    }

    /// Opens an account.
    ///
    /// # Errors
    ///
    /// [`Reason::IdTooLarge`], [`Reason::Exists`] or [`Reason::NoMemory`]
    pub fn add(&mut self, id: AccountId) -> Result<(), Reason> {
        if id.0 >= MAX_ACCOUNTS {
            return Err(Reason::IdTooLarge);
        }
        if self.account(id).is_ok() {
            return Err(Reason::Exists);
        }
        self.memory.check(ACCOUNT_BYTES)?;
        self.memory.take(ACCOUNT_BYTES);
        *self.place(id) = Some(Account::default());
        Ok(())
    }

    /// Adds cash or takes free cash away.
    ///
    /// # Errors
    ///
    /// [`Reason::UnknownAccount`], [`Reason::NoAmount`], [`Reason::TooMuchCash`] or
    /// [`Reason::NotEnoughCash`]
    pub fn deposit(&mut self, deposit: Deposit) -> Result<(), Reason> {
        let account = find_mut(&mut self.accounts, deposit.account)?;
        if deposit.amount == 0 {
            return Err(Reason::NoAmount);
        }
        let deposits = self.deposits.checked_add(deposit.amount);
        let deposits = deposits.filter(|&sum| sum <= MAX_CASH).ok_or(Reason::TooMuchCash)?;
        account.deposit(deposit.amount)?;
        self.deposits = deposits;
        Ok(())
    }

    /// Sets the limits of an account.
    ///
    /// # Errors
    ///
    /// [`Reason::UnknownAccount`]
    pub fn set_limits(&mut self, id: AccountId, limits: Limits) -> Result<(), Reason> {
        find_mut(&mut self.accounts, id)?.limits = limits;
        Ok(())
    }

    /// Uses up the id of a new order.
    ///
    /// # Errors
    ///
    /// [`Reason::UnknownAccount`] or [`Reason::StaleOrderId`]
    pub fn use_up(&mut self, id: AccountId, order: OrderId) -> Result<(), Reason> {
        let account = find_mut(&mut self.accounts, id)?;
        if order <= account.last_order {
            return Err(Reason::StaleOrderId);
        }
        account.last_order = order;
        Ok(())
    }

    /// Checks an order against limits and cash. It changes nothing.
    ///
    /// # Errors
    ///
    /// [`Reason::UnknownAccount`], [`Reason::OrderTooLarge`], [`Reason::PositionLimit`],
    /// [`Reason::NotionalLimit`], [`Reason::NotEnoughCash`] or [`Reason::NoMemory`]
    #[inline]
    pub fn check(&self, wish: &Wish) -> Result<(), Reason> {
        self.account(wish.order.id.account)?.check(wish, &self.memory)
    }

    /// Reserves what an order needs that has passed [`check`](Self::check).
    ///
    /// # Panics
    ///
    /// If the order has not passed it, and its account does not exist.
    #[inline]
    pub fn reserve(&mut self, order: &OrderState) {
        self.change(order, |account| account.reserve(order));
    }

    /// Follows a report of a book.
    ///
    /// # Panics
    ///
    /// If the report names an order without an account, which no book has.
    #[inline]
    pub fn settle(&mut self, report: &Report) {
        match *report {
            Report::Trade(trade) => self.trade(&trade),
            Report::Cancelled(gone, _) | Report::Reduced(gone, _) => self.release(&gone),
            Report::Replaced { new, old_price, old_open } => {
                self.release(&OrderState { price: old_price, open: old_open, ..new });
            }
            _ => {}
        }
    }

    /// Returns the accounts in their canonical form.
    #[must_use]
    pub fn state(&self) -> Vec<AccountState> {
        let ids = (0..).map(AccountId);
        let existing =
            ids.zip(&self.accounts).filter_map(|(id, place)| Some((id, place.as_ref()?)));
        existing.map(|(id, account)| account.state(id)).collect()
    }

    fn trade(&mut self, trade: &Trade) {
        let Trade { symbol, price, quantity: open, taker_side: side, .. } = *trade;
        // The maker has reserved at the price of the trade, the taker at its limit.
        let taker = OrderState { id: trade.taker, symbol, side, price: trade.taker_limit, open };
        let maker = OrderState { id: trade.maker, symbol, side: side.opposite(), price, open };
        for order in [taker, maker] {
            self.change(&order, |account| account.trade(&order, price));
        }
    }

    #[inline]
    fn release(&mut self, order: &OrderState) {
        self.change(order, |account| account.release(order));
    }

    /// Returns the place of an account that exists or is about to.
    fn place(&mut self, id: AccountId) -> &mut Option<Account> {
        let index = id.0 as usize;
        if self.accounts.len() <= index {
            self.accounts.resize_with(index + 1, || None);
        }
        &mut self.accounts[index]
    }

    #[inline]
    fn account(&self, id: AccountId) -> Result<&Account, Reason> {
        let place = self.accounts.get(id.0 as usize);
        place.and_then(Option::as_ref).ok_or(Reason::UnknownAccount)
    }

    /// Changes the account of an order that has passed its check, and counts its positions.
    #[inline]
    fn change(&mut self, order: &OrderState, change: impl FnOnce(&mut Account)) {
        let place = self.accounts[order.id.account.0 as usize].as_mut();
        let account = place.expect("the check has found the account, and accounts never go");
        let before = account.positions();
        change(account);
        let after = account.positions();
        if after > before {
            self.memory.take(POSITION_BYTES);
        } else if after < before {
            self.memory.give_back(POSITION_BYTES);
        }
    }
}

/// Returns an account. It borrows only the accounts, not the sum of deposits beside them.
fn find_mut(accounts: &mut [Option<Account>], id: AccountId) -> Result<&mut Account, Reason> {
    let place = accounts.get_mut(id.0 as usize);
    place.and_then(Option::as_mut).ok_or(Reason::UnknownAccount)
}
