#!/usr/bin/env bash
# Tests the journal: power cuts and damage on a simulated disk, and kills of a process. Then it runs the example.
# PROPTEST_CASES sets the number of random histories, LAPWING_JOURNAL_KILLS that of kills.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export PROPTEST_CASES="${PROPTEST_CASES:-20000}" LAPWING_JOURNAL_KILLS="${LAPWING_JOURNAL_KILLS:-50}"
cargo test --release --package lapwing-journal --test faults --test graph --test kill
cargo run --release --package lapwing-journal --example durable_ledger
