#!/usr/bin/env bash
# Runs random rings and channels of proof/ under changing load and injected faults, and checks each event: exit code 1 on
# a violation, a hang or growing memory. SOAK_MINUTES sets for how long. Builds with the profile of ci/wake_ups.sh, which
# runs random programs whose every call is judged; here the number of events has no bound.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo test --profile model --package lapwing-proof --example soak
cargo run --profile model --package lapwing-proof --example soak -- --minutes "${SOAK_MINUTES:-0.2}"
