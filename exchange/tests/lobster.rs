//! Incoming orders are rebuilt from a recording, and trade as it says.
#![cfg(not(miri))]

use std::env;
use std::fs::{self, File};
use std::io::BufReader;

use exchange::Exchange;
use exchange::engine::Engine;
use exchange::flows::lobster::{Counts, Recording};
use exchange::plain::PlainExchange;
use exchange::types::{Command, OrderKind, Side};

fn read(text: &str) -> Recording {
    Recording::read(text.as_bytes()).expect("memory can be read")
}

/// Two bids and three asks of 10 each: 11 at 1.00, 12 at 0.99, 21 and 22 at 1.01, 23 at 1.02.
const FIVE_ORDERS: &str = "\
    1,1,11,10,10000,1\n\
    2,1,12,10,9900,1\n\
    3,1,21,10,10100,-1\n\
    4,1,22,10,10100,-1\n\
    5,1,23,10,10200,-1\n";

/// Replays the messages on both exchanges, which must agree with them and with each other.
fn replayed(more: &str) -> (Recording, Engine) {
    let recording = read(&format!("{FIVE_ORDERS}{more}"));
    let (mut engine, mut plain) = (Engine::default(), PlainExchange::default());
    let outcome = recording.replay(&mut engine);
    assert_eq!(outcome.differences, []);
    assert_eq!(outcome, recording.replay(&mut plain));
    assert_eq!(engine.state(), plain.state());
    (recording, engine)
}

/// Returns the last command, if it is a new order.
fn last_order(recording: &Recording) -> (Side, OrderKind, u32, u32) {
    match recording.steps.last().map(|step| step.command) {
        Some(Command::New(new)) => (new.side, new.kind, new.price, new.quantity),
        other => panic!("the last command must be a new order: {other:?}"),
    }
}

#[test]
fn executions_of_one_time_and_side_are_one_incoming_order() {
    let (recording, engine) =
        replayed("6,4,21,10,10100,-1\n6,4,22,10,10100,-1\n6,4,23,4,10200,-1\n");
    assert_eq!(last_order(&recording), (Side::Buy, OrderKind::ImmediateOrCancel, 102, 24));
    assert_eq!((recording.counts.incoming, recording.counts.out_of_turn), (1, 0));
    assert_eq!(engine.state().books[0].asks[0].open, 6);
}

#[test]
fn executions_of_another_time_or_side_are_another_order() {
    let (recording, _) = replayed("6,4,21,10,10100,-1\n7,4,22,10,10100,-1\n7,4,11,3,10000,1\n");
    assert_eq!(recording.counts.incoming, 3);
    assert_eq!(last_order(&recording), (Side::Sell, OrderKind::ImmediateOrCancel, 100, 3));
}

#[test]
fn what_an_incoming_order_leaves_is_a_part_of_it() {
    let (recording, engine) =
        replayed("6,4,21,10,10100,-1\n6,4,22,10,10100,-1\n6,1,31,5,10100,1\n7,2,31,2,10100,1\n");
    assert_eq!((recording.counts.incoming, recording.counts.incoming_rested), (1, 1));
    let best = engine.state().books[0].bids[0];
    assert_eq!((best.price, best.open, best.filled), (101, 3, 20));
}

#[test]
fn hidden_executions_do_not_divide_an_incoming_order() {
    let (recording, _) = replayed("6,4,21,10,10100,-1\n6,5,0,7,10150,-1\n6,4,22,1,10100,-1\n");
    assert_eq!(last_order(&recording), (Side::Buy, OrderKind::ImmediateOrCancel, 101, 11));
    assert_eq!((recording.counts.incoming, recording.counts.without_command), (1, 1));
}

#[test]
fn cancellations_of_parts_and_of_all_are_followed() {
    let (_, engine) = replayed("6,2,22,4,10100,-1\n7,3,21,10,10100,-1\n8,2,11,10,10000,1\n");
    let book = &engine.state().books[0];
    assert_eq!((book.asks[0].open, book.bids[0].price), (6, 99));
}

#[test]
fn an_older_order_is_entered_where_its_id_belongs() {
    // Order 20 comes into view late, and 19 is never added. Both are older than 21.
    let (recording, engine) = replayed("6,1,20,8,10100,-1\n7,4,19,3,10100,-1\n7,4,20,8,10100,-1\n");
    assert_eq!((recording.counts.older, recording.counts.out_of_turn), (2, 0));
    assert_eq!(engine.state().books[0].asks[0].open, 10);
}

#[test]
fn an_execution_out_of_turn_only_reduces_its_order() {
    let (recording, engine) =
        replayed("6,4,22,10,10100,-1\n7,4,23,4,10200,-1\n8,4,21,1,10100,-1\n");
    assert_eq!((recording.counts.incoming, recording.counts.out_of_turn), (3, 2));
    let asks: Vec<_> = engine.state().books[0].asks.iter().map(|ask| ask.open).collect();
    assert_eq!(asks, [9, 6]);
}

#[test]
fn bad_lines_and_prices_between_ticks_are_counted() {
    let (recording, _) = replayed("nothing\n\n6,1,31,5,10150,1\n7,7,0,0,0,-1\n");
    let expected = Counts { messages: 6, unusable: 3, without_command: 1, ..Counts::default() };
    assert_eq!(recording.counts, expected);
    assert_eq!(read("").replay(&mut Engine::default()).differences, []);
}

/// Any text is translated, and any translation is carried out: `LAPWING_DATA=FOLDER` names recordings.
#[test]
fn recordings_of_the_folder_trade_as_they_say() {
    let Some(folder) = env::var_os("LAPWING_DATA") else { return };
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the folder can be read").path();
        if !path.to_string_lossy().contains("_message_") {
            continue;
        }
        let file = BufReader::new(File::open(&path).expect("the file can be opened"));
        let recording = Recording::read(file).expect("the file can be read");
        let outcome = recording.replay(&mut Engine::default());
        println!("{}: {:?} agree={}", path.display(), recording.counts, outcome.agree);
        assert_eq!(outcome.differences, []);
        assert!(outcome.agree > 0);
    }
}
