#!/usr/bin/env bash
# Checks that no wake-up is lost. Each case publishes a single event and then nothing: with each wait strategy, each kind
# of producer, 0 to 2 stages in between, and a producer on a full ring. It runs each case two thousand times in an
# optimised build; `ci/test.sh` runs a few hundred without optimisation. Then it runs a thousand random programs of
# proof/ in an optimised build: each consumer must see what the model says. LAPWING_PROGRAMS sets their number. Last, tasks
# of four executors drop futures at random polls: no value may be lost or wait for a second. LAPWING_TASKS is the number of
# futures that each call drops in each case. The models of loom prove the pairs of atomic operations; these tests also
# cover what they leave out, such as system calls.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export LAPWING_WAKE_UPS="${LAPWING_WAKE_UPS:-2000}"
cargo test --profile model --package lapwing --package lapwing-proof --test wake_ups --test programs --test tasks --no-run
cargo test --profile model --package lapwing --test wake_ups -- --nocapture --test-threads=1

export PROPTEST_CASES="${LAPWING_PROGRAMS:-1000}"
cargo test --profile model --package lapwing-proof --test programs

export LAPWING_TASKS="${LAPWING_TASKS:-5000}"
cargo test --profile model --package lapwing-proof --test tasks -- --nocapture --test-threads=1
