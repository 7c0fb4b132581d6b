#!/usr/bin/env bash
# Checks that the code without futex and membarrier passes the same tests. Other systems use this code; the cfg makes
# Linux use it too, so that it is tested here. Runs the unit tests and those of waits. PORTABLE=all runs
# every test.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

selection=(--lib --test waits --test wake_ups)
if [[ ${PORTABLE:-waits} == all ]]; then
    selection+=(--tests --package lapwing-proof)
else
    export LAPWING_SLOW_TESTS=1 # fewer repetitions: `ci/test.sh` has them
fi
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}-portable" # shared with clippy.sh
RUSTFLAGS="${RUSTFLAGS:-} --cfg lapwing_portable" cargo test --package lapwing-core --package lapwing \
    "${selection[@]}"
