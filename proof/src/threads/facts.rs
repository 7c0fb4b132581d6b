//! What the sentries and the producers of one ring share.
//!
//! Each event costs plain stores and relaxed loads of it only. A lock, or an atomic change of a word,
//! would be a full fence on x86 and could hide a missing one of the library; only faults and ends have
//! them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::board::{Board, Entry};
use super::checker::Numbers;
use super::event::LANES;
use super::faults::Fault;
use super::past::Past;
use super::program::Program;
use super::tally::{KeyOrder, Tally};

/// What the sentries and the producers of one ring share.
pub(super) struct Facts {
    pub(super) program: Arc<Program>,
    pub(super) board: Arc<Board>,
    /// The ring on the board.
    pub(super) entry: Entry,
    pub(super) seed: u64,
    is_over: AtomicBool,
    pub(super) stages: Vec<Seen>,
    pub(super) guests: Mutex<BTreeMap<usize, (Past, Numbers)>>,
    /// Events that producers were told are accepted, by producer.
    pub(super) accepted: Mutex<[u64; LANES]>,
}

/// What a stage has done.
#[derive(Default)]
pub(super) struct Seen {
    /// By worker, and for a stage that sees everything, the numbers that it has seen.
    pub(super) pasts: Mutex<BTreeMap<usize, (Past, Numbers)>>,
    /// The sums of the workers of a group.
    pub(super) tally: Mutex<Tally>,
    /// The order of keys, for a group by key.
    pub(super) keys: Arc<KeyOrder>,
    /// Whether it has left the graph, or may be about to.
    has_left: AtomicBool,
}

impl Facts {
    pub(super) fn new(program: &Arc<Program>, board: &Arc<Board>, entry: Entry, seed: u64) -> Self {
        Self {
            program: Arc::clone(program),
            board: Arc::clone(board),
            entry,
            seed,
            is_over: AtomicBool::new(false),
            stages: program.stages.iter().map(|_| Seen::default()).collect(),
            guests: Mutex::default(),
            accepted: Mutex::default(),
        }
    }

    /// Tells producers that the time of the run is over.
    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Whether the time of the run is over.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Whether the stage may have left, so that events pass it unseen.
    pub(super) fn has_left(&self, stage: usize) -> bool {
        self.stages.get(stage).is_some_and(|seen| seen.has_left.load(Ordering::Relaxed))
    }

    pub(super) fn leave(&self, stage: usize) {
        self.stages[stage].has_left.store(true, Ordering::Relaxed);
    }

    #[cold]
    pub(super) fn refuse(&self, wrong: &str, whence: &str) {
        self.board.refuse(wrong, &format!("{whence}; {}", self.entry.description()));
        self.end();
    }

    pub(super) fn sleep(&self, time: Duration) {
        self.board.injected(Fault::Stall);
        self.board.stall(time);
    }
}
