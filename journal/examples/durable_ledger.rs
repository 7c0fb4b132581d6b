//! A ledger of accounts that survives a crash: a journal, snapshots, and the replay of what came
//! after the last one.
//!
//! ```text
//! producer --> [ring] --> journal --> synced --> ledger
//!                                                  |  takes a snapshot after each 10,000 transfers
//! ```

use std::error::Error;
use std::path::Path;
use std::sync::{Arc, Mutex};

use bytemuck::{Pod, Zeroable};
use lapwing::{Disruptor, Running, Sequence, SingleProducer};
use lapwing_journal::error::FileError;
use lapwing_journal::{Journal, Options, Snapshots, SyncPolicy};

const ACCOUNTS: usize = 100;
const TRANSFERS: u64 = 25_000;
const SNAPSHOT_EACH: u64 = 10_000;

#[derive(Debug, Default, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Transfer {
    from: u32,
    to: u32,
    amount: u64,
}

/// The state: a balance for each account.
#[derive(Debug, Clone, PartialEq)]
struct Ledger {
    balances: Vec<i64>,
    /// The next transfer.
    next: Sequence,
}

impl Ledger {
    fn apply(&mut self, transfer: &Transfer, sequence: Sequence) {
        assert_eq!(sequence, self.next, "each transfer comes once, in order");
        self.balances[transfer.from as usize] -= transfer.amount as i64;
        self.balances[transfer.to as usize] += transfer.amount as i64;
        self.next = sequence + 1;
    }

    /// The latest snapshot, or an empty ledger.
    fn restore(snapshots: &Snapshots) -> Result<Self, FileError> {
        let Some(snapshot) = snapshots.latest()?.snapshot else {
            return Ok(Self { balances: vec![0; ACCOUNTS], next: 0 });
        };
        let balances = snapshot.state.chunks_exact(8).map(bytemuck::pod_read_unaligned).collect();
        Ok(Self { balances, next: snapshot.sequence })
    }
}

/// The transfer with this number.
fn transfer(number: u64) -> Transfer {
    let account = |factor: u64| (number * factor % ACCOUNTS as u64) as u32;
    Transfer { from: account(7), to: account(13), amount: number % 50 }
}

type Service = (SingleProducer<Transfer>, Running<'static>, Arc<Mutex<Ledger>>);

/// Starts the graph where the latest snapshot is, and replays what came after it.
fn start(journal: &Journal<Transfer>, folder: &Path) -> Result<Service, Box<dyn Error>> {
    let snapshots = Snapshots::open(folder)?;
    let restored = Ledger::restore(&snapshots)?;
    let from = restored.next;
    let ledger = Arc::new(Mutex::new(restored));
    let state = Arc::clone(&ledger);
    let (mut producer, consumers) = Disruptor::single_producer(4096, Transfer::default)
        .first_sequence(from)
        .stage("journal")
        .may_block()
        .read_batch_handler(journal.writer())
        .stage("synced")
        .may_block()
        .read_batch_handler(journal.syncer(SyncPolicy::EachBatch))
        .stage("ledger")
        .read(move |transfer: &Transfer, sequence, _| -> Result<(), FileError> {
            let mut ledger = state.lock().expect("no thread panics with it");
            ledger.apply(transfer, sequence);
            if ledger.next.is_multiple_of(SNAPSHOT_EACH) {
                snapshots.write(ledger.next, bytemuck::cast_slice(&ledger.balances))?;
            }
            Ok(())
        })
        .build()?;
    let running = consumers.start()?;
    let replayed = journal.replay(from)?.publish_into(&mut producer)?;
    println!("restored the state before {from}, replayed {}..{}", replayed.start, replayed.end);
    Ok((producer, running, ledger))
}

/// Publishes `TRANSFERS` more transfers, and returns the ledger.
fn run(folder: &Path) -> Result<Ledger, Box<dyn Error>> {
    let journal = Options::new().segment_bytes(1 << 20).open::<Transfer>(folder)?;
    let (mut producer, running, ledger) = start(&journal, folder)?;
    let next = journal.next_sequence();
    for number in next..next + TRANSFERS {
        producer.publish(|slot| *slot = transfer(number))?;
    }
    running.shutdown()?;
    let ledger = ledger.lock().expect("no thread panics with it").clone();
    assert_eq!(journal.synced(), ledger.next);
    Ok(ledger)
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("durable-ledger-{}", std::process::id()));
    // The second run continues where the first one ended.
    run(&folder)?;
    let ledger = run(&folder)?;
    std::fs::remove_dir_all(&folder)?;

    let mut expected = Ledger { balances: vec![0; ACCOUNTS], next: 0 };
    (0..2 * TRANSFERS).for_each(|number| expected.apply(&transfer(number), number));
    assert_eq!(ledger, expected);
    println!("{} transfers, equal to a ledger that was never stopped", ledger.next);
    Ok(())
}
