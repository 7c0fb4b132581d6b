#!/usr/bin/env bash
# Checks that the protocol without its tuning (`--cfg lapwing_plain`) passes the same tests: the unit tests, and those of
# each kind of producer and consumer. PLAIN=all runs every test.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tests=(conformance graph ring values waits)

selection=(--lib)
if [[ ${PLAIN:-ends} == all ]]; then
    selection+=(--tests --package lapwing-proof)
else
    for name in "${tests[@]}"; do selection+=(--test "$name"); done
fi
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}-plain"
RUSTFLAGS="${RUSTFLAGS:-} --cfg lapwing_plain" cargo test --package lapwing "${selection[@]}"
