//! Commands of the operator: symbols, accounts, cash, limits and memory.

use super::Engine;
use crate::book::Book;
use crate::types::{AccountId, Deposit, Limits, MAX_SYMBOLS, Reason, Refusal, Report, SymbolSpec};

impl Engine {
    pub(super) fn add_symbol(
        &mut self,
        spec: &SymbolSpec,
        sink: &mut impl FnMut(Report),
    ) -> Result<(), Refusal> {
        if spec.symbol.0 >= MAX_SYMBOLS {
            return Err(Reason::IdTooLarge.into());
        }
        let index = spec.symbol.0 as usize;
        if self.books.get(index).is_some_and(Option::is_some) {
            return Err(Reason::Exists.into());
        }
        spec.check_bounds()?;
        self.accounts.memory().check(spec.memory())?;
        let book = Book::new(*spec)?;
        self.accounts.memory_mut().take(spec.memory());
        self.set_book(spec.symbol, book);
        sink(Report::SymbolAdded(*spec));
        Ok(())
    }

    pub(super) fn add_account(
        &mut self,
        account: AccountId,
        sink: &mut impl FnMut(Report),
    ) -> Result<(), Refusal> {
        self.accounts.add(account)?;
        sink(Report::AccountAdded(account));
        Ok(())
    }

    pub(super) fn deposit(
        &mut self,
        deposit: Deposit,
        sink: &mut impl FnMut(Report),
    ) -> Result<(), Reason> {
        self.accounts.deposit(deposit)?;
        sink(Report::Deposited(deposit));
        Ok(())
    }

    pub(super) fn set_limits(
        &mut self,
        account: AccountId,
        limits: Limits,
        sink: &mut impl FnMut(Report),
    ) -> Result<(), Reason> {
        self.accounts.set_limits(account, limits)?;
        sink(Report::LimitsSet(account, limits));
        Ok(())
    }

    pub(super) fn set_memory(
        &mut self,
        limit: u32,
        sink: &mut impl FnMut(Report),
    ) -> Result<(), Reason> {
        self.accounts.memory_mut().set_limit(limit);
        sink(Report::MemorySet(limit));
        Ok(())
    }
}
