#!/usr/bin/env bash
# Is the unsafe code free of undefined behaviour on the paths of the `miri_` tests? Miri interprets
# them: aliasing, data races, uninitialised memory, leaks; each seed is another schedule.
# It is far slower than a processor, so only tests made for it run: their names start with `miri_`.
# Needs a nightly toolchain with Miri; where it is not to be had, says so and exits with 77.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seeds="${MIRI_SEEDS:-0..2}"
limit_seconds="${MIRI_SECONDS:-1200}"
skip() {
    echo "miri: skipped: $1" >&2
    exit 77
}

command -v rustup >/dev/null || skip 'rustup is not installed'
rustup run nightly rustc --version >/dev/null 2>&1 || skip 'there is no nightly toolchain'
timeout 120 rustup +nightly component add miri rust-src || skip 'this nightly has no Miri'

export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}-miri"
tests=(miri test --package lapwing --lib --tests miri_)

count=$(timeout "$limit_seconds" cargo +nightly "${tests[@]}" -- --list | grep -c ': test$' || true)
if ((count == 0)); then
    echo 'miri: no test to run, or they do not compile' >&2
    exit 1
fi

status=0
MIRIFLAGS="${MIRIFLAGS:-} -Zmiri-many-seeds=$seeds" \
    timeout "$limit_seconds" cargo +nightly "${tests[@]}" || status=$?
if ((status == 124)); then
    echo "miri: not finished after $limit_seconds s: give Miri smaller tests, or set MIRI_SECONDS" >&2
fi
if ((status != 0)); then exit "$status"; fi
echo "miri: $count tests passed, seeds $seeds"
