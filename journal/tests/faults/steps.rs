//! What may happen to a journal.

use lapwing_journal::faults::{Crash, Loss};
use proptest::prelude::*;

#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    /// A batch of `count` events, after `gap` claims that were given up.
    Append { count: usize, filler: usize, gap: u64 },
    /// A batch whose write fails after `kept` bytes.
    FailWrite { count: usize, filler: usize, kept: usize },
    /// A batch on a disk without space for another segment.
    Full { count: usize, filler: usize },
    /// A sync.
    Sync,
    /// A sync that fails.
    FailSync,
    /// A batch, then a sync of the folder that fails, if either of these needs one: a sync, and the
    /// removal of old segments.
    FailFolderSync { count: usize, filler: usize, percent: u64 },
    /// Old segments are removed: those that are synced and below this share, in percent.
    Remove { percent: u64 },
    /// A clean close.
    Close,
    /// A crash. With a fault, recovery fails at first, and there is a second crash.
    Crash { crash: Crash, fault: Option<Fault> },
    /// A batch and something more, with a crash after so many calls that change the disk.
    Cut { calls: usize, crash: Crash, count: usize, filler: usize, then: Then },
    /// A new writer, which does not write again what the last one could not.
    NewWriter,
}

/// What makes recovery fail.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fault {
    Write {
        kept: usize,
    },
    Sync,
    FolderSync,
    /// It ends after so many calls that change the disk.
    Crash {
        calls: usize,
        crash: Crash,
    },
}

/// What follows a batch that a crash may cut.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Then {
    Sync,
    Remove { percent: u64 },
    Close,
}

/// Steps that make no error.
pub(crate) fn peaceful() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (1_usize..12, 0_usize..120, prop_oneof![8 => Just(0), 1 => 1_u64..4])
            .prop_map(|(count, filler, gap)| Step::Append { count, filler, gap }),
        3 => Just(Step::Sync),
        1 => Just(Step::Close),
    ]
}

/// A program of steps.
pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        10 => peaceful(),
        2 => (1_usize..12, 0_usize..120, 0_usize..900)
            .prop_map(|(count, filler, kept)| Step::FailWrite { count, filler, kept }),
        1 => (1_usize..30, 0_usize..120).prop_map(|(count, filler)| Step::Full { count, filler }),
        1 => Just(Step::FailSync),
        1 => (1_usize..30, 0_usize..120, 0_u64..=100).prop_map(
            |(count, filler, percent)| Step::FailFolderSync { count, filler, percent }),
        1 => (0_u64..=100).prop_map(|percent| Step::Remove { percent }),
        2 => (0_usize..20, crash(), 1_usize..30, 0_usize..120, then()).prop_map(
            |(calls, crash, count, filler, then)| Step::Cut { calls, crash, count, filler, then }),
        1 => Just(Step::NewWriter),
        4 => (crash(), prop::option::weighted(0.3, fault()))
            .prop_map(|(crash, fault)| Step::Crash { crash, fault }),
    ];
    prop::collection::vec(step, 1..40)
}

fn crash() -> impl Strategy<Value = Crash> {
    let loss = prop_oneof![
        Just(Loss::All),
        Just(Loss::Torn),
        Just(Loss::Sectors),
        Just(Loss::Ordered),
        Just(Loss::None)
    ];
    prop_oneof![
        1 => Just(Crash::Process),
        4 => (any::<u64>(), loss).prop_map(|(seed, loss)| Crash::Power { seed, loss }),
    ]
}

fn fault() -> impl Strategy<Value = Fault> {
    prop_oneof![
        Just(Fault::Sync),
        Just(Fault::FolderSync),
        (0_usize..900).prop_map(|kept| Fault::Write { kept }),
        (0_usize..12, crash()).prop_map(|(calls, crash)| Fault::Crash { calls, crash }),
    ]
}

fn then() -> impl Strategy<Value = Then> {
    prop_oneof![
        Just(Then::Sync),
        (0_u64..=100).prop_map(|percent| Then::Remove { percent }),
        Just(Then::Close),
    ]
}
