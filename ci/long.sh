#!/usr/bin/env bash
# Runs the long versions of the checks. They contain what `.ci/run` leaves out because it is slow and rarely fails, and
# take hours on two CPUs. CONTRIBUTING.md lists the differences. Run it before a release, and after a change to a memory
# ordering, to how threads wait, or to unsafe code.
#
# Usage: ci/long.sh [CHECK ...]     (default: every check that has a long version)
#
# Does not change a variable that the caller has set.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export CLIPPY="${CLIPPY:-all}"
export BOOK="${BOOK:-all}"
export PACKAGE="${PACKAGE:-all}"
export BUILDS="${BUILDS:-all}"
export LOOM_MAX_PREEMPTIONS="${LOOM_MAX_PREEMPTIONS:-3}"
export MUTANTS="${MUTANTS:-all}"
export LAPWING_SCHEDULES="${LAPWING_SCHEDULES:-130000}"
export LAPWING_TASKS="${LAPWING_TASKS:-1000000}"
export LAPWING_WAKE_UPS="${LAPWING_WAKE_UPS:-10000}"
export LAPWING_PROGRAMS="${LAPWING_PROGRAMS:-4000}"
export SOAK_MINUTES="${SOAK_MINUTES:-60}"
export LAPWING_LITMUS="${LAPWING_LITMUS:-2000000000}"
export LAPWING_SANDBOX="${LAPWING_SANDBOX:-200000}"
export PROPTEST_CASES="${PROPTEST_CASES:-200000}"
export SUPPLY_CHAIN="${SUPPLY_CHAIN:-all}"
export SANITIZERS="${SANITIZERS:-all}"
export FUZZ_SECONDS="${FUZZ_SECONDS:-3600}"
export MIRI_TESTS="${MIRI_TESTS:-all}"
export MIRI_SEEDS="${MIRI_SEEDS:-0..16}"
export MIRI_SECONDS="${MIRI_SECONDS:-14400}"
export POWER_CUT="${POWER_CUT:-all}"
export AERON="${AERON:-long}"
export CI_LIMIT_SECONDS="${CI_LIMIT_SECONDS:-28800}"

if (($# == 0)); then
    set -- lint docs builds properties power_cut models models_plain schedules hardware miri package sanitizers fuzz \
        processors processes programs aeron
fi
exec bash .ci/run "$@"
