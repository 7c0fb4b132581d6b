//! Commands of the operator: symbols, accounts, cash and limits.

use super::Engine;
use crate::book::Book;
use crate::types::{AccountId, Deposit, Limits, MAX_SYMBOLS, Reason, Report, SymbolSpec};

impl Engine {
    pub(super) fn add_symbol(
        &mut self,
        spec: &SymbolSpec,
        sink: &mut impl FnMut(Report),
    ) -> Result<(), Reason> {
        if spec.symbol.0 >= MAX_SYMBOLS {
            return Err(Reason::IdTooLarge);
        }
        let index = spec.symbol.0 as usize;
        if self.books.get(index).is_some_and(Option::is_some) {
            return Err(Reason::Exists);
        }
        spec.check_bounds()?;
        self.set_book(spec.symbol, Book::new(*spec));
        sink(Report::SymbolAdded(*spec));
        Ok(())
    }

    pub(super) fn add_account(
        &mut self,
        account: AccountId,
        sink: &mut impl FnMut(Report),
    ) -> Result<(), Reason> {
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
}
