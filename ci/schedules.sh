#!/usr/bin/env bash
# Runs whole topologies under a controlled scheduler: rings with all their threads, in thousands of orders in which the
# threads may run. Each topology checks what every consumer saw. Half of the schedules are random, half follow PCT.
#
# Usage: ci/schedules.sh [TEST]     (default: every topology)
#
# LAPWING_SCHEDULES sets the number of schedules of each topology and scheduler. LAPWING_SCHEDULER=random or =PCT runs one
# scheduler. A failure writes its schedule to a file. LAPWING_SCHEDULE=FILE ci/schedules.sh TEST repeats it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}-shuttle" # shared with lint.sh
mkdir -p "$CARGO_TARGET_DIR"
log="$CARGO_TARGET_DIR/schedules.log"
# Shuttle cannot block a thread on a futex, hence the portable path.
RUSTFLAGS="${RUSTFLAGS:-} --cfg lapwing_shuttle --cfg lapwing_portable" \
    cargo test --profile model --package lapwing-proof --test schedules -- --nocapture "$@" 2>&1 | tee "$log"

held=$(sed -n 's/.* holds in \([0-9]*\) .* schedules.*/\1/p' "$log")
if [[ -z $held ]]; then
    echo 'schedules: no topology ran' >&2
    exit 1
fi
awk '{ total += $1 } END { print "schedules: " total " in all, and none failed" }' <<<"$held"
