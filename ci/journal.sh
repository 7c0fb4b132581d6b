#!/usr/bin/env bash
# Checks that the example of the journal runs, and its benchmark, in which each log must have each event once. The tests
# with a simulated disk, and those that kill a process, are in `cargo test --workspace`.
#
# The short run uses what `ci/test.sh` has built. JOURNAL=long draws many more power cuts, kills a thousand processes,
# and measures with optimisation.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target="${CARGO_TARGET_DIR:-target}"
if [[ ${JOURNAL:-short} == long ]]; then
    PROPTEST_CASES=20000 LAPWING_JOURNAL_KILLS=1000 cargo test --release --package lapwing-journal --tests
    cargo run --release --package lapwing-journal --example durable_ledger
    cargo run --release --package lapwing-journal-perf
else
    # The same selection as `cargo test --workspace`. Another one would enable other features and build everything again.
    cargo build --workspace --bins --examples
    "$target/debug/examples/durable_ledger"
    "$target/debug/journal-bench" --folder "$target" --rounds 1 --seconds 0.02 --rate 10000
fi
