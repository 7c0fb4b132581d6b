#!/usr/bin/env bash
# Checks that the protocol without its tuning (`--cfg lapwing_plain`) passes the same tests: the unit tests and the
# conformance tests. PLAIN=all runs every test.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

selection=(--lib --test conformance)
if [[ ${PLAIN:-conformance} == all ]]; then
    selection+=(--tests --package lapwing-proof)
else
    export LAPWING_SLOW_TESTS=1 # fewer repetitions: `ci/test.sh` has them
fi
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}-plain"
RUSTFLAGS="${RUSTFLAGS:-} --cfg lapwing_plain" cargo test --package lapwing-core --package lapwing "${selection[@]}"
