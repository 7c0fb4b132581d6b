#!/usr/bin/env bash
# Kills 10,000 processes at random moments in each role of a segment, one at each of its calls of the system, and stops one
# for a minute: survivors go on, no event is lost or comes twice, and a stop evicts nobody. `ci/test.sh` has the short form,
# with 200 kills, each third call and a third of a second.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export LAPWING_KILLS="${LAPWING_KILLS:-10000}" LAPWING_STOP_SECONDS="${LAPWING_STOP_SECONDS:-60}" LAPWING_STEPS=all
cargo test --release --package lapwing-shared --test processes --test steps -- --nocapture
