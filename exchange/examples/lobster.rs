//! Rebuilds the incoming orders of a recording and compares the trades that they cause with it.
//!
//! Usage: `cargo run --release -p exchange --example lobster -- MESSAGE_FILE.csv`

use std::env;
use std::error::Error;
use std::fs::File;
use std::io::BufReader;

use exchange::Exchange;
use exchange::engine::Engine;
use exchange::flows::lobster::Recording;

/// How many differences are shown.
const SHOWN: usize = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args_os().nth(1).ok_or("usage: lobster MESSAGE_FILE.csv")?;
    let recording = Recording::read(BufReader::new(File::open(path)?))?;
    println!("{:#?}", recording.counts);

    let mut engine = Engine::default();
    let outcome = recording.replay(&mut engine);
    println!("incoming orders that traded as recorded: {}", outcome.agree);
    println!("their trades: {}", outcome.trades);
    println!("other commands, without a trade: {}", outcome.quiet);
    println!("differences: {}", outcome.differences.len());
    for difference in outcome.differences.iter().take(SHOWN) {
        println!("{difference:?}");
    }
    println!("state hash: {:016x}", engine.state().hash());
    if outcome.differences.is_empty() { Ok(()) } else { Err("the recording differs".into()) }
}
