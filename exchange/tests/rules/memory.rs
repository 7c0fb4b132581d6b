//! The memory that the operator allows.

use exchange::engine::Engine;
use exchange::types::{
    AccountId, Cancel, Command, MAX_BAND, MAX_ORDERS, Memory, ORDER_BYTES, OrderId, OrderKind,
    POSITION_BYTES, PRICE_BYTES, SYMBOL_BYTES, SelfTrade, Side, SymbolId, SymbolSpec,
};

use super::desk::{ANN, BOB, Desk, SYMBOL, new};

/// A book with so many places for orders.
const fn symbol(symbol: u32, max_orders: u32) -> SymbolSpec {
    SymbolSpec { symbol: SymbolId(symbol), lowest: 1, highest: 1, max_orders }
}

/// Opens a book that leaves so many bytes of one MiB, and fewer than an order more.
fn leave(desk: &mut Desk, rest: u64) {
    desk.send(Command::SetMemory(1));
    let orders = (desk.memory().rest() - rest - SYMBOL_BYTES - PRICE_BYTES) / ORDER_BYTES;
    let spec = symbol(1, orders.try_into().unwrap());
    assert_eq!(desk.send(Command::AddSymbol(spec)).len(), 1);
}

#[test]
fn a_command_that_needs_more_than_the_limit_was_carried_out() {
    let mut desk = Desk::new();
    let largest = |symbol| {
        let (lowest, highest, max_orders) = (1, MAX_BAND, MAX_ORDERS);
        Command::AddSymbol(SymbolSpec { symbol: SymbolId(symbol), lowest, highest, max_orders })
    };
    assert_eq!(desk.send(largest(1)), ["AddSymbol NoMemory"], "it takes 3.5 GiB");
    assert_eq!(desk.send(Command::SetMemory(0)), ["MemorySet(0)"]);
    assert_eq!(desk.send(Command::AddSymbol(symbol(1, 1))), ["AddSymbol NoMemory"]);
    assert_eq!(desk.send(Command::AddAccount(AccountId(7))), ["AddAccount NoMemory"]);
    assert_eq!(desk.buy((ANN, 1), 99, 1), ["New NoMemory"]);
    assert_eq!(desk.send(Command::SetMemory(1)), ["MemorySet(1)"]);
    assert_eq!(desk.send(Command::AddAccount(AccountId(7))).len(), 1);
    assert_eq!(desk.buy((ANN, 2), 99, 1).len(), 2);
    assert_eq!(desk.send(Command::SetMemory(0)).len(), 1);
    assert_eq!(desk.buy((ANN, 3), 99, 1).len(), 2, "the account has a position");
    assert_eq!(desk.sell((BOB, 1), 99, 1), ["New NoMemory"]);
}

#[test]
fn a_position_that_is_gone_gives_its_memory_back() {
    let mut desk = Desk::new();
    leave(&mut desk, POSITION_BYTES);
    assert!(desk.memory().rest() < 2 * POSITION_BYTES);
    assert_eq!(desk.buy((ANN, 1), 99, 1).len(), 2);
    assert_eq!(desk.buy((BOB, 1), 99, 1), ["New NoMemory"]);
    desk.cancel((ANN, 1));
    assert_eq!(desk.sell((BOB, 2), 100, 1).len(), 2);
    assert_eq!(desk.buy((ANN, 2), 99, 1), ["New NoMemory"]);
    desk.send(Command::SetMemory(2));
    // A position that was bought and sold again.
    desk.cancel((ANN, 2));
    let before = *desk.memory();
    desk.buy((ANN, 3), 100, 1);
    desk.buy((BOB, 3), 99, 1);
    assert_ne!(*desk.memory(), before);
    desk.sell((ANN, 4), 99, 1);
    for account in [ANN, BOB] {
        assert_eq!(desk.account(account).positions, []);
    }
    assert_eq!(desk.memory().rest(), before.rest() + POSITION_BYTES, "bob had an order before");
}

#[test]
fn a_restored_engine_has_used_as_much_memory() {
    let mut desk = Desk::new();
    desk.send(Command::SetMemory(77));
    desk.sell((BOB, 1), 101, 10);
    desk.buy((ANN, 1), 101, 4);
    let order = Command::Cancel(Cancel { account: BOB, order: OrderId(1), symbol: SYMBOL });
    desk.send(order);
    desk.send(new((ANN, 2), OrderKind::PostOnly, Side::Buy, 99, 1, SelfTrade::CancelNewest));
    let state = desk.state();
    assert_eq!(state.memory, 77);
    let restored = Engine::from_state(&state).unwrap();
    assert_eq!(restored.memory(), desk.memory());
    assert_ne!(*restored.memory(), Memory::new(77));
}
