#!/usr/bin/env bash
# Checks that the example of the journal runs, and its benchmark, in which each log must have each event once. The tests
# with a simulated disk, and those that kill a process, are in `cargo test --workspace`.
#
# The short run uses what `ci/test.sh` has built. JOURNAL=long draws many more power cuts, kills a thousand processes,
# and measures with optimisation.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/lib/programs.sh

target="${CARGO_TARGET_DIR:-target}"
if [[ ${JOURNAL:-short} == long ]]; then
    PROPTEST_CASES=20000 LAPWING_JOURNAL_KILLS=1000 cargo test --release --package lapwing-journal --tests
    cargo run --release --package lapwing-journal --example durable_ledger
    cargo run --release --package lapwing-journal-perf -- --cache "$target" --json "$target/journal.json"
else
    build_programs
    "$target/debug/examples/durable_ledger"
    "$target/debug/journal-bench" --folder "$target" --cache "$target" --rounds 1 --seconds 0.02 --rate 10000
fi
