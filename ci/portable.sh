#!/usr/bin/env bash
# Checks that the code without futex and membarrier passes the same tests. Other systems use this code; the cfg makes
# Linux use it too, so that it is tested here. Runs the tests of waits, of what ends them, and of each kind of producer
# and consumer. PORTABLE=all runs every test.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tests=(graph values waits wake_ups)

selection=(--lib)
if [[ ${PORTABLE:-waits} == all ]]; then
    selection+=(--tests --package lapwing-proof)
else
    for name in "${tests[@]}"; do selection+=(--test "$name"); done
fi
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}-portable" # shared with clippy.sh
RUSTFLAGS="${RUSTFLAGS:-} --cfg lapwing_portable" cargo test --package lapwing "${selection[@]}"
