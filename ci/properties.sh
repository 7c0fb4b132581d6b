#!/usr/bin/env bash
# Compares rings with the models of proof/, for more random scripts and programs than `cargo test` runs. PROPTEST_CASES sets
# their number.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

unset LAPWING_TASKS # `wake_ups` drops that many futures
export PROPTEST_CASES="${PROPTEST_CASES:-20000}"
cargo test --release --package lapwing-proof
