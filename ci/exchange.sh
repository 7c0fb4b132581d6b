#!/usr/bin/env bash
# Checks that the exchange as a program keeps what it has answered: it serves commands over TCP, is killed under load,
# recovers, goes on, and must have the reports, the market data and the state of a plain exchange. It cannot see a
# missing sync, since a process that is killed loses nothing that it has written. The tests of its rules and of its
# gateway are in `cargo test --workspace`. Its example `order_flow` runs on generated orders, and again on recorded orders
# if they are available. The recording is not part of the project; LAPWING_DATA names its folder.
#
# The short run uses what `ci/test.sh` has built. EXCHANGE=long is the whole minute in a release build, and runs
# exchange-core with the same commands where Java and Maven are there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/lib/programs.sh

target="${CARGO_TARGET_DIR:-target}"
if [[ ${EXCHANGE:-short} == long ]]; then
    cargo run --release --package exchange
    cargo build --release --package exchange
    exchange/rival/compare.py --program "$target/release/exchange" --rounds 3 --json "$target/exchange-compare.json"
else
    build_programs
    "$target/debug/exchange" check --seconds 4 --rate 2000
    timeout 60 "$target/debug/examples/order_flow" >/dev/null
    for file in "${LAPWING_DATA:-../shared/data}"/*_message_*.csv; do
        if [[ -f $file ]]; then timeout 60 "$target/debug/examples/order_flow" "$file"; fi
    done
fi
