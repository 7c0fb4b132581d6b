//! The exchange as one state machine: each command is checked, carried out and settled before the next.
//!
//! - `orders`: new, cancel and replace.
//! - `admin`: symbols, accounts, cash, limits and memory.
//!
//! Risk and matching are one stage on purpose. If risk ran ahead of matching, its decision would
//! depend on how far matching has come, which is a matter of timing. Two runs of the same commands,
//! or a run and its replay, could then differ. In one stage the check of a command sees the effects
//! of all commands before it and of no others. The stage runs in parallel with the journal, and only
//! what leaves the exchange waits for both.

mod admin;
mod orders;

use crate::Exchange;
use crate::book::{Book, BookImage};
use crate::risk::{Accounts, AccountsImage};
use crate::state::{State, StateError};
use crate::types::{Command, Memory, OutOfMemory, Refusal, Report, SymbolId};

/// The exchange.
#[derive(Debug, Default)]
pub struct Engine {
    commands: u64,
    accounts: Accounts,
    /// The book of symbol `i` at `i`. A symbol that does not exist has no entry, or `None`.
    books: Vec<Option<Box<Book>>>,
}

/// A copy of an exchange.
#[derive(Debug)]
pub struct Image {
    commands: u64,
    books: Vec<BookImage>,
    accounts: AccountsImage,
}

impl Image {
    /// Returns the state in its canonical form.
    #[must_use]
    pub fn into_state(self) -> State {
        let memory = self.accounts.memory();
        let books = self.books.into_iter().map(BookImage::into_state).collect();
        State { commands: self.commands, memory, books, accounts: self.accounts.into_states() }
    }
}

impl Exchange for Engine {
    /// # Panics
    ///
    /// If the system does not give the memory of a new book: see [`Engine::try_apply`].
    fn apply(&mut self, command: &Command, sink: &mut impl FnMut(Report)) {
        self.try_apply(command, sink).unwrap_or_else(|error| panic!("{error}"));
    }

    fn state(&self) -> State {
        self.image().into_state()
    }
}

impl Engine {
    /// Returns an engine that goes on from a state.
    ///
    /// # Errors
    ///
    /// [`StateError`] if no exchange can be in this state, or the system has no memory for it.
    pub fn from_state(state: &State) -> Result<Self, StateError> {
        state.check()?;
        let mut engine = Self {
            commands: state.commands,
            accounts: Accounts::from_state(&state.accounts, state.memory)?,
            books: Vec::new(),
        };
        for book in &state.books {
            engine.accounts.memory_mut().take(book.spec.memory());
            engine.set_book(book.spec.symbol, Book::from_state(book)?);
        }
        Ok(engine)
    }

    /// Carries out one command and hands each report to `sink`, in order.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`] if the system does not give the memory of a new book, although the operator
    /// allows it. Nothing has changed, and the command is not answered: an exchange with more memory
    /// would accept it.
    pub fn try_apply(
        &mut self,
        command: &Command,
        sink: &mut impl FnMut(Report),
    ) -> Result<(), OutOfMemory> {
        match self.carry_out(command, sink) {
            Ok(()) => {}
            Err(Refusal::Rule(reason)) => sink(Report::rejected(command, reason)),
            Err(Refusal::System(error)) => return Err(error),
        }
        self.commands += 1;
        Ok(())
    }

    /// Copies the exchange, for another thread that makes a state of it. No command can be carried
    /// out meanwhile, so this takes a fraction of the time that the state takes.
    #[must_use]
    pub fn image(&self) -> Image {
        let books = self.books.iter().flatten().map(|book| book.image()).collect();
        Image { commands: self.commands, books, accounts: self.accounts.image() }
    }

    /// Returns what the exchange takes of its memory.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        self.accounts.memory()
    }

    /// Opens a book in the place of its symbol.
    fn set_book(&mut self, symbol: SymbolId, book: Book) {
        let index = symbol.0 as usize;
        if self.books.len() <= index {
            self.books.resize_with(index + 1, || None);
        }
        self.books[index] = Some(Box::new(book));
    }

    fn carry_out(
        &mut self,
        command: &Command,
        sink: &mut impl FnMut(Report),
    ) -> Result<(), Refusal> {
        match command {
            Command::New(new) => self.new_order(new, sink)?,
            Command::Cancel(cancel) => self.cancel(cancel, sink)?,
            Command::Replace(replace) => self.replace(replace, sink)?,
            Command::AddSymbol(spec) => self.add_symbol(spec, sink)?,
            Command::AddAccount(account) => self.add_account(*account, sink)?,
            Command::Deposit(deposit) => self.deposit(*deposit, sink)?,
            Command::SetLimits(account, limits) => self.set_limits(*account, *limits, sink)?,
            Command::SetMemory(limit) => self.set_memory(*limit, sink)?,
        }
        Ok(())
    }
}
