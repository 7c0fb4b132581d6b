//! An engine goes on from a state only if an exchange can be in it.

use exchange::engine::Engine;
use exchange::state::{PositionState, State};
use exchange::types::{AccountId, MAX_ACCOUNTS, MAX_CASH, MAX_SYMBOLS, OrderId, SymbolId};

use super::desk::{ANN, BOB, Desk, SYMBOL};

/// A change of a state, and what is then said.
type Case = (&'static str, fn(&mut State));

/// Returns a state in which ann has bought 4 of bob and both have open orders.
fn state() -> State {
    let mut desk = Desk::new();
    desk.sell((BOB, 1), 101, 10);
    desk.buy((ANN, 1), 101, 4);
    desk.buy((ANN, 2), 99, 5);
    desk.buy((ANN, 3), 98, 5);
    desk.sell((BOB, 2), 102, 5);
    desk.state()
}

const CASES: &[Case] = &[
    ("the symbols must ascend", |state| state.books.push(state.books[0].clone())),
    ("the symbol's id is too large", |state| state.books[0].spec.symbol = SymbolId(MAX_SYMBOLS)),
    ("the symbol's band or number of orders is out of range", |state| {
        state.books[0].spec.max_orders = 0;
    }),
    ("the symbol's band or number of orders is out of range", |state| {
        state.books[0].spec.lowest = 0;
    }),
    ("the book has too many orders", |state| state.books[0].spec.max_orders = 3),
    ("an order's name must be used once", |state| {
        state.books[0].bids[1].id.order = OrderId(2);
    }),
    ("an order's price or quantity is out of range", |state| state.books[0].bids[0].open = 0),
    ("an order's price or quantity is out of range", |state| state.books[0].bids[1].price = 89),
    ("an order's price or quantity is out of range", |state| {
        state.books[0].asks[0].filled = u32::MAX;
    }),
    ("the orders must be sorted and the book not crossed", |state| {
        state.books[0].bids[0].price = 97;
    }),
    ("the orders must be sorted and the book not crossed", |state| {
        state.books[0].bids[0].price = 101;
    }),
    ("the accounts must ascend", |state| state.accounts.swap(0, 1)),
    ("the account's id is too large", |state| state.accounts[2].id = AccountId(MAX_ACCOUNTS)),
    ("reserved cash and open notional must be those of the orders", |state| {
        state.accounts[0].reserved -= 1;
    }),
    ("reserved cash and open notional must be those of the orders", |state| {
        state.accounts[1].open_notional += 1;
    }),
    ("the cash must cover what is reserved", |state| state.accounts[0].cash = 984),
    ("the cash must cover what is reserved", |state| state.accounts[2].cash = -1),
    ("the positions must ascend", |state| {
        let position = state.accounts[0].positions[0];
        state.accounts[0].positions.push(position);
    }),
    ("the open quantities must be those of the orders", |state| {
        state.accounts[0].positions[0].open_buy += 1;
    }),
    ("the open quantities must be those of the orders", |state| {
        state.accounts[0].positions.clear();
    }),
    ("a position is out of range or unused", |state| {
        state.accounts[0].positions[0].lots = 1 << 40;
    }),
    ("a position is out of range or unused", |state| {
        state.accounts[2].positions.push(PositionState::empty(SYMBOL));
    }),
    ("an order must have an account", |state| {
        state.accounts.remove(0);
    }),
    ("an open order has an id that was not used", |state| {
        state.accounts[0].last_order = OrderId(2);
    }),
    ("all cash must be at most the largest sum of deposits", |state| {
        state.accounts[2].cash = MAX_CASH;
    }),
    ("a position must have a book", |state| {
        let lots = PositionState { lots: 1, ..PositionState::empty(SymbolId(8)) };
        state.accounts[2].positions.push(lots);
    }),
    ("the positions must sum to 0", |state| state.accounts[1].positions[0].lots -= 1),
];

#[test]
fn a_state_that_no_exchange_can_be_in_is_refused() {
    assert!(Engine::from_state(&state()).is_ok());
    for (rule, change) in CASES {
        let mut state = state();
        change(&mut state);
        let error = state.check().expect_err(rule).to_string();
        assert!(error.starts_with(rule), "expected {rule:?}, found {error:?}");
        assert!(Engine::from_state(&state).is_err(), "{rule}");
    }
}

/// Hashes are compared between machines and versions, so they are part of the format.
#[test]
fn the_hash_of_a_state_never_changes() {
    assert_eq!(format!("{:016x}", State::default().hash()), "f189720b526ed5eb");
    assert_eq!(format!("{:016x}", state().hash()), "017703fb280f0ef1");
}
