#!/usr/bin/env bash
# Is no wake-up lost? One event, then silence: each strategy, both kinds of producer, 0 to 2 stages in between, and a
# producer on a full ring; two thousand times each, optimised, where `ci/test.sh` tries a few hundred, not optimised.
# Then everything at once, a thousand random rings: nothing may be lost, doubled or out of order.
# The models prove that the pairs are right; this finds what they leave out, such as the system's own calls.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export LAPWING_WAKE_UPS="${LAPWING_WAKE_UPS:-2000}"
# Both side by side, as each is one unit for the compiler.
cargo test --release --package lapwing --test wake_ups --test mixed --no-run
# One at a time, since each case needs the CPUs; its output says how many events each one had.
cargo test --release --package lapwing --test wake_ups -- --nocapture --test-threads=1

export LAPWING_MIXED_SEEDS="${LAPWING_MIXED_SEEDS:-1000}"
cargo test --release --package lapwing --test mixed
