//! Accounts: cash, positions, limits, memory, and what open orders reserve.
//!
//! A check reads the account and changes nothing. [`Accounts::reserve`] follows an order that the book
//! admits. [`Accounts::settle`] follows each report: it moves cash and lots of trades, and releases
//! what an order that trades, shrinks or ends no longer needs. It reads accounts and reports only.

mod account;

use account::Account;
use bytemuck::allocation::try_zeroed_vec;

use crate::state::{AccountState, PositionState};
use crate::types::{
    ACCOUNT_BYTES, AccountId, Deposit, Limits, MAX_ACCOUNTS, MAX_CASH, Memory, OrderId, OrderState,
    OutOfMemory, POSITION_BYTES, Quantity, Reason, Refusal, Report, Side, SymbolId, Trade,
};

/// All accounts.
#[derive(Debug, Default)]
pub struct Accounts {
    /// Account `i` at `i`, or `None`. The first account makes all places. Pages of places that are
    /// not in use take no memory.
    accounts: Vec<Option<Box<Account>>>,
    /// The accounts that exist, in the order in which they were opened.
    ids: Vec<AccountId>,
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
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`] if the system does not give the memory.
    pub fn from_state(state: &[AccountState], memory: u32) -> Result<Self, OutOfMemory> {
        let mut accounts = Self { memory: Memory::new(memory), ..Self::default() };
        for account in state {
            let positions = account.positions.len() as u64;
            accounts.memory.take(ACCOUNT_BYTES + positions * POSITION_BYTES);
            accounts.deposits += account.cash;
            accounts.insert(account.id, Account::from_state(account))?;
        }
        Ok(accounts)
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
    /// [`Reason::IdTooLarge`], [`Reason::Exists`] or [`Reason::NoMemory`], or [`OutOfMemory`]
    pub fn add(&mut self, id: AccountId) -> Result<(), Refusal> {
        if id.0 >= MAX_ACCOUNTS {
            return Err(Reason::IdTooLarge.into());
        }
        if self.account(id).is_ok() {
            return Err(Reason::Exists.into());
        }
        self.memory.check(ACCOUNT_BYTES)?;
        self.insert(id, Account::default())?;
        self.memory.take(ACCOUNT_BYTES);
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

    /// Returns the sum of the open quantities of the orders of an account on a side of a symbol.
    #[must_use]
    pub fn open(&self, id: AccountId, symbol: SymbolId, side: Side) -> u64 {
        self.account(id).map_or(0, |account| account.open(symbol, side))
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

    /// Copies the accounts.
    #[must_use]
    pub fn image(&self) -> AccountsImage {
        let mut image = AccountsImage {
            memory: self.memory.limit(),
            accounts: Vec::with_capacity(self.ids.len()),
            positions: Vec::new(),
        };
        let account = |&id: &AccountId| Some((id, self.account(id).ok()?));
        for (id, account) in self.ids.iter().filter_map(account) {
            let positions = account.positions();
            image.accounts.push((account.without_positions(id), positions.len()));
            image.positions.extend_from_slice(positions);
        }
        image
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

    /// Puts an account in its place.
    fn insert(&mut self, id: AccountId, account: Account) -> Result<(), OutOfMemory> {
        if self.accounts.is_empty() {
            let places = try_zeroed_vec(MAX_ACCOUNTS as usize);
            self.accounts = places.map_err(|()| OutOfMemory::Accounts)?;
        }
        self.accounts[id.0 as usize] = Some(Box::new(account));
        self.ids.push(id);
        Ok(())
    }

    #[inline]
    fn account(&self, id: AccountId) -> Result<&Account, Reason> {
        let place = self.accounts.get(id.0 as usize);
        place.and_then(Option::as_deref).ok_or(Reason::UnknownAccount)
    }

    /// Changes the account of an order that has passed its check, and counts its positions.
    #[inline]
    fn change(&mut self, order: &OrderState, change: impl FnOnce(&mut Account)) {
        let place = self.accounts[order.id.account.0 as usize].as_deref_mut();
        let account = place.expect("the check has found the account, and accounts never go");
        let before = account.positions().len();
        change(account);
        let after = account.positions().len();
        if after > before {
            self.memory.take(POSITION_BYTES);
        } else if after < before {
            self.memory.give_back(POSITION_BYTES);
        }
    }
}

/// A copy of all accounts.
#[derive(Debug)]
pub struct AccountsImage {
    memory: u32,
    /// The accounts without their positions, and how many each has.
    accounts: Vec<(AccountState, usize)>,
    /// The positions of all accounts in a row.
    positions: Vec<PositionState>,
}

impl AccountsImage {
    /// Returns the limit of the memory, in MiB.
    #[must_use]
    pub fn memory(&self) -> u32 {
        self.memory
    }

    /// Returns the accounts in their canonical form.
    #[must_use]
    pub fn into_states(self) -> Vec<AccountState> {
        let mut rest = &self.positions[..];
        let with_positions = |(mut account, count): (AccountState, usize)| {
            let (positions, others) = rest.split_at(count);
            rest = others;
            account.positions = positions.to_vec();
            account
        };
        let mut states: Vec<_> = self.accounts.into_iter().map(with_positions).collect();
        states.sort_unstable_by_key(|account| account.id);
        states
    }
}

/// Returns an account. It borrows only the accounts, not the sum of deposits beside them.
fn find_mut(accounts: &mut [Option<Box<Account>>], id: AccountId) -> Result<&mut Account, Reason> {
    let place = accounts.get_mut(id.0 as usize);
    place.and_then(Option::as_deref_mut).ok_or(Reason::UnknownAccount)
}
