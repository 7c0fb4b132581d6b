//! The exchange as one state machine: each command is checked, carried out and settled before the next.
//!
//! - `orders`: new, cancel and replace.
//! - `admin`: symbols, accounts, cash and limits.
//!
//! Risk and matching are one stage on purpose. If risk ran ahead of matching, its decision would
//! depend on how far matching has come, which is a matter of timing. Two runs of the same commands,
//! or a run and its replay, could then differ. In one stage the check of a command sees the effects
//! of all commands before it and of no others. The stage runs in parallel with the journal, and only
//! what leaves the exchange waits for both.

mod admin;
mod orders;

use crate::Exchange;
use crate::book::Book;
use crate::risk::Accounts;
use crate::state::{State, StateError};
use crate::types::{Command, Reason, Report, SymbolId};

/// The exchange.
#[derive(Clone, Debug, Default)]
pub struct Engine {
    commands: u64,
    accounts: Accounts,
    /// The book of symbol `i` at `i`. A symbol that does not exist has no entry, or `None`.
    books: Vec<Option<Book>>,
}

impl Exchange for Engine {
    fn apply(&mut self, command: &Command, sink: &mut impl FnMut(Report)) {
        self.commands += 1;
        if let Err(reason) = self.carry_out(command, sink) {
            sink(Report::rejected(command, reason));
        }
    }

    fn state(&self) -> State {
        let books = self.books.iter().flatten().map(Book::state).collect();
        State { commands: self.commands, books, accounts: self.accounts.state() }
    }
}

impl Engine {
    /// Returns an engine that goes on from a state.
    ///
    /// # Errors
    ///
    /// [`StateError`] if no exchange can be in this state.
    pub fn from_state(state: &State) -> Result<Self, StateError> {
        state.check()?;
        let mut engine = Self {
            commands: state.commands,
            accounts: Accounts::from_state(&state.accounts),
            books: Vec::new(),
        };
        for book in &state.books {
            engine.set_book(book.spec.symbol, Book::from_state(book));
        }
        Ok(engine)
    }

    /// Opens a book in the place of its symbol.
    fn set_book(&mut self, symbol: SymbolId, book: Book) {
        let index = symbol.0 as usize;
        if self.books.len() <= index {
            self.books.resize_with(index + 1, || None);
        }
        self.books[index] = Some(book);
    }

    fn carry_out(
        &mut self,
        command: &Command,
        sink: &mut impl FnMut(Report),
    ) -> Result<(), Reason> {
        match command {
            Command::New(new) => self.new_order(new, sink),
            Command::Cancel(cancel) => self.cancel(cancel, sink),
            Command::Replace(replace) => self.replace(replace, sink),
            Command::AddSymbol(spec) => self.add_symbol(spec, sink),
            Command::AddAccount(account) => self.add_account(*account, sink),
            Command::Deposit(deposit) => self.deposit(*deposit, sink),
            Command::SetLimits(account, limits) => self.set_limits(*account, *limits, sink),
        }
    }
}
