//! Journals on a simulated disk that loses, tears and reorders unsynced writes, fails writes and
//! syncs, and runs out of space.
//!
//! Proptest draws what happens to a journal, a model says what must be there, and a failure is
//! shrunk. `PROPTEST_CASES` sets the number of cases. Of 48 faults that were built in by hand, 47
//! were found; the other one removes a check that a second check duplicates.

mod archive; // old segments are archived
mod closed; // a closed journal that has lost its end
mod damage; // a byte that has changed
mod events; // events that tell which attempt wrote them
mod lock; // one writer at a time
mod model; // what must be there
mod play; // a journal beside the model
mod recovery; // the rules of recovery, one by one
mod snapshots; // which snapshots are there after a fault
mod steps; // what may happen
mod strays; // files that are no part of the journal
mod threads; // a power cut while threads run

use proptest::prelude::*;

use self::events::{Bytes, Words};
use self::steps::steps;

const CASES: u32 = 1_000;

fn config() -> ProptestConfig {
    let asked = ProptestConfig::default();
    let is_asked = std::env::var_os("PROPTEST_CASES").is_some();
    let cases = if is_asked { asked.cases } else { CASES };
    ProptestConfig { cases, max_shrink_iters: 3_000, failure_persistence: None, ..asked }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn synced_events_are_there_in_order_once(
        segment_bytes in 700_u64..3_000,
        ahead in prop::bool::weighted(0.1),
        is_plain in any::<bool>(),
        steps in steps(),
    ) {
        if is_plain {
            play::play::<Words>(segment_bytes, ahead, &steps);
        } else {
            play::play::<Bytes>(segment_bytes, ahead, &steps);
        }
    }

    #[test]
    fn a_changed_byte_is_damage_or_does_no_harm(
        segment_bytes in 700_u64..3_000,
        steps in prop::collection::vec(steps::peaceful(), 1..20),
        place in any::<prop::sample::Index>(),
        is_closed in any::<bool>(),
    ) {
        damage::change_a_byte(segment_bytes, &steps, place, is_closed);
    }
}
