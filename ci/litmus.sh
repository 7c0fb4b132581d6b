#!/usr/bin/env bash
# Runs the two sides of each store-load pair on two CPUs, as they are shipped: a compiler fence and `membarrier`. Counts
# what each side saw of the other; that both miss each other is the forbidden outcome. Each pair also runs without
# `membarrier`, and must then show that outcome. After that, a process whose sandbox refuses `membarrier` must lose
# neither a wake-up nor an event. The tests prove nothing; they show that no machine that ran them breaks the assumption
# that the models make.
#
# LAPWING_LITMUS is the number of trials of each pair, thirty million by default; 2000000000 takes some minutes.
# LAPWING_SANDBOX is the number of events of each ring in the sandbox. Exits with 77 if there are no two CPUs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if (($(nproc) < 2)); then
    echo 'litmus: not run: a race needs two CPUs, and this process has one' >&2
    exit 77
fi
export LAPWING_SANDBOX="${LAPWING_SANDBOX:-10000}"
# The profile of the models is optimised as a release is, and compiles on all CPUs. Also builds what wake_ups.sh runs.
cargo test --profile model --package lapwing-core --package lapwing --package lapwing-proof --lib --test sandbox \
    --test wake_ups --test programs --no-run
sed -n 's/^model name[^:]*: /litmus: /p' /proc/cpuinfo | uniq
# One at a time, since each race needs two CPUs.
cargo test --quiet --profile model --package lapwing-core --lib litmus:: -- --ignored --nocapture --test-threads=1
cargo test --quiet --profile model --package lapwing-proof --test sandbox -- --test-threads=1
