#!/usr/bin/env bash
# Runs the programs with optimisation and for longer than `cargo test` does: the quick evaluation and every experiment as a
# user runs them, every example, the journal with 20,000 histories with power cuts and 1,000 kills and beside other logs,
# and the exchange for a minute and beside exchange-core where Java and Maven are there. Takes an hour.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target="${CARGO_TARGET_DIR:-target}"
cargo run --release
cargo run --release --package lapwing-lab -- all --quick "$target/laboratory"
cargo test --release --package lapwing-examples
PROPTEST_CASES=20000 LAPWING_JOURNAL_KILLS=1000 cargo test --release --package lapwing-journal --tests
cargo run --release --package lapwing-journal --example durable_ledger
cargo run --release --package lapwing-lab-journal -- --cache "$target" --json "$target/journal.json"
cargo run --release --package exchange
exchange/rival/compare.py --program "$target/release/exchange" --rounds 3 --json "$target/exchange-compare.json"
