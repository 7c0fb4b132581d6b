#!/usr/bin/env bash
# Does the path without futex and membarrier pass the same tests? Other systems take it; the cfg makes
# Linux take it too, so that it is tested where the checks run. The tests of waits, of what ends them, and of each kind
# of end of a ring; PORTABLE=all runs every test.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tests=(broadcast channel ends_of_waits full_ring joining lifecycle panics stopping together waiting wake_ups workers)

selection=(--lib)
if [[ ${PORTABLE:-waits} == all ]]; then
    selection+=(--tests)
else
    for name in "${tests[@]}"; do selection+=(--test "$name"); done
fi
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}-portable" # shared with clippy.sh
RUSTFLAGS="${RUSTFLAGS:-} --cfg lapwing_portable" cargo test --package lapwing "${selection[@]}"
