#!/usr/bin/env bash
# Is the unsafe code free of undefined behaviour on the paths of the `miri_` tests? Miri interprets
# them: aliasing, data races, uninitialised memory, leaks; each seed is another schedule.
# It is far slower than a processor, so only tests made for it run: their names start with `miri_`. Of these, those of
# the library and of the test programs named below; MIRI_TESTS=all runs every one.
# Needs a nightly toolchain with Miri; where it is not to be had, says so and exits with 77.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Between them they claim, publish, read, poll, send, tap and share events by key: what the modules with unsafe code do.
essential=(broadcast channel_drops lifecycle monitor panics_of_callers pollers publishing tap traps_12_to_16 up_to
    workers_by_key)
seeds="${MIRI_SEEDS:-0..1}"
limit_seconds="${MIRI_SECONDS:-1200}"
skip() {
    echo "miri: skipped: $1" >&2
    exit 77
}

command -v rustup >/dev/null || skip 'rustup is not installed'
if ! rustup run nightly rustc --version >/dev/null 2>&1; then
    timeout 300 rustup toolchain install nightly --profile minimal --component miri,rust-src \
        --no-self-update || skip 'no nightly toolchain with Miri can be installed here'
fi
timeout 120 rustup +nightly component add miri rust-src || skip 'this nightly has no Miri'

export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}-miri"
selections=(--lib)
if [[ ${MIRI_TESTS:-essential} == all ]]; then
    mapfile -t essential < <(grep -rl 'fn miri_' lapwing/tests | sed 's,^lapwing/tests/,,; s,/.*,,; s,\.rs$,,' | sort -u)
fi
for name in "${essential[@]}"; do selections+=("--test=$name"); done
cargo +nightly miri test --package lapwing "${selections[@]}" --no-run

# Miri interprets the tests of one program one after another, so several programs run side by side.
run() {
    local output status=0
    output=$(cargo +nightly miri test --package lapwing "$1" miri_ 2>&1) || status=$?
    if ((status != 0)); then printf '%s\n' "$output" >&2; fi
    awk -v program="$1" '/^test result: ok/ { tests += $4 } END { print program ": " tests + 0 " passed" }' <<<"$output"
    return "$status"
}
export -f run
export MIRIFLAGS="${MIRIFLAGS:-} -Zmiri-many-seeds=$seeds"
log="$CARGO_TARGET_DIR/miri.log"
status=0
printf '%s\n' "${selections[@]}" |
    timeout "$limit_seconds" xargs -P "$(nproc)" -I{} bash -c 'run {}' | tee "$log" || status=$?
if ((status == 124)); then
    echo "miri: not finished after $limit_seconds s: give Miri smaller tests, or set MIRI_SECONDS" >&2
fi
if ((status != 0)); then exit "$status"; fi
if grep -q ': 0 passed$' "$log"; then
    echo 'miri: a test program without a miri_ test, or one that is gone' >&2
    exit 1
fi
echo "miri: ${#selections[@]} test programs passed, seeds $seeds"
