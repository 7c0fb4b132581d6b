//! The bytes of packed commands and reports are a format: files and sockets keep them.

use exchange::types::{
    AccountId, Command, Deposit, NewOrder, OrderId, OrderKind, OrderRef, PackedCommand,
    PackedReport, Report, SelfTrade, Side, SymbolId, Trade, UnpackError,
};

const NEW: Command = Command::New(NewOrder {
    account: AccountId(0x0102_0304),
    order: OrderId(0x1112_1314_1516_1718),
    symbol: SymbolId(0x2122_2324),
    side: Side::Sell,
    kind: OrderKind::FillOrKill,
    self_trade: SelfTrade::Decrement,
    price: 0x3132_3334,
    quantity: 0x4142_4344,
});

#[test]
fn the_bytes_of_a_new_order_never_change() {
    let packed = PackedCommand::from(&NEW);
    let expected: [u8; 32] = [
        0, 1, 3, 2, 0x24, 0x23, 0x22, 0x21, 4, 3, 2, 1, 0x34, 0x33, 0x32, 0x31, 0x18, 0x17, 0x16,
        0x15, 0x14, 0x13, 0x12, 0x11, 0x44, 0x43, 0x42, 0x41, 0, 0, 0, 0,
    ];
    assert_eq!(bytemuck::bytes_of(&packed), expected);
    assert_eq!(packed.unpack(), Ok(NEW));
}

#[test]
fn the_bytes_of_a_trade_never_change() {
    let id = |account, order| OrderRef { account: AccountId(account), order: OrderId(order) };
    let trade = Report::Trade(Trade {
        symbol: SymbolId(1),
        maker: id(2, 3),
        taker: id(4, 5),
        taker_side: Side::Sell,
        price: 6,
        quantity: 7,
        maker_open: 8,
        taker_open: 9,
        taker_limit: 10,
    });
    let packed = PackedReport::from(&trade);
    let words: [u32; 14] = bytemuck::cast(packed);
    assert_eq!(words, [0x0102, 1, 4, 6, 5, 0, 7, 2, 3, 0, 9, 8, 10, 0]);
    assert_eq!(packed.unpack(), Ok(trade));
}

#[test]
fn bytes_without_a_meaning_are_refused() {
    let with = |index: usize, value: u8| {
        let mut bytes: [u8; 32] = bytemuck::cast(PackedCommand::from(&NEW));
        bytes[index] = value;
        bytemuck::cast::<_, PackedCommand>(bytes).unpack()
    };
    let field = |name, found| Err(UnpackError::Field { name, found });
    assert_eq!(with(0, 8), field("kind", 8));
    assert_eq!(with(1, 2), field("side", 2));
    assert_eq!(with(2, 5), field("terms", 5));
    assert_eq!(with(3, 3), field("self-trade", 3));
    assert_eq!(with(28, 1), Err(UnpackError::NotZero));
    assert_eq!(with(0, 1), Err(UnpackError::NotZero), "a cancellation has no price");
}

#[test]
fn a_negative_amount_is_packed() {
    let command = Command::Deposit(Deposit { account: AccountId(1), amount: i64::MIN });
    assert_eq!(PackedCommand::from(&command).unpack(), Ok(command));
}

/// Every 32 and every 56 bytes are a command or report, or are refused.
#[test]
fn any_bytes_unpack_or_are_refused() {
    let mut random = fastrand::Rng::with_seed(3);
    let mut valid = 0;
    for _ in 0..20_000 {
        let mut command = [0; 32];
        let mut report = [0; 56];
        // Most bytes are 0 or small, so that many values have a meaning.
        command.fill_with(|| if random.u8(0..4) == 0 { random.u8(0..12) } else { 0 });
        report.fill_with(|| if random.u8(0..4) == 0 { random.u8(0..12) } else { 0 });
        if let Ok(found) = bytemuck::cast::<_, PackedCommand>(command).unpack() {
            assert_eq!(bytemuck::bytes_of(&PackedCommand::from(&found)), command);
            valid += 1;
        }
        if let Ok(found) = bytemuck::pod_read_unaligned::<PackedReport>(&report).unpack() {
            assert_eq!(bytemuck::bytes_of(&PackedReport::from(&found)), report);
            valid += 1;
        }
    }
    assert!(valid > 500, "{valid}");
}
