#!/usr/bin/env bash
# Checks with Miri that the unsafe code has no undefined behaviour on the paths of the `miri_` tests. Miri interprets
# them and detects aliasing violations, data races, uses of uninitialised memory and leaks. Each seed is another
# schedule. Miri is slow, so only tests whose names start with `miri_` run: the unit tests of the core and of the library,
# and those of the modules listed below. MIRI_TESTS=all runs those of every module, under each of its two models of aliasing: Stacked Borrows and
# Tree Borrows. Provenance is strict: an integer never becomes a pointer.
# Needs a nightly toolchain with Miri. Exits with 77 if there is none.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Together they claim, publish, read, poll, send, tap and share events by key, as the modules with unsafe code do.
# A module of a test program is `program::module`.
essential=(values::broadcast values::channel_drops values::tap workers::resizing ring::claims ring::pollers)
seeds="${MIRI_SEEDS:-0..1}"
limit_seconds="${MIRI_SECONDS:-1200}"

source ci/lib/nightly.sh
install_nightly miri rust-src || exit 77

export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}-miri"
models=(stacked)
if [[ ${MIRI_TESTS:-essential} == all ]]; then
    models=(stacked tree)
    mapfile -t essential < <(grep -rl 'fn miri_' lapwing/tests |
        sed 's,^lapwing/tests/,,; s,\.rs$,,; s,/main$,,; s,/mod$,,; s,/,::,g' | sort -u)
fi
mapfile -t programs < <(printf -- '--test=%s\n' "${essential[@]%%::*}" | sort -u)
cargo +nightly miri test --package lapwing-core --lib --no-run
cargo +nightly miri test --package lapwing --lib "${programs[@]}" --no-run

# Miri runs the tests of one program one after another, so several modules run in parallel.
run() {
    local output status=0 package=lapwing target=--lib filters=(miri_) group
    case $1 in
        core) package=lapwing-core ;;
        lib) ;;
        *) target="--test=${1%%::*}" ;;
    esac
    if [[ $1 == *::* ]]; then
        local module="${1#*::}"
        filters=("$module::miri_")
        for group in "" any_worker:: by_key::; do
            filters+=("$module::${group}single_producer::miri_" "$module::${group}multi_producer::miri_")
        done
    fi
    output=$(cargo +nightly miri test --package "$package" "$target" -- "${filters[@]}" 2>&1) || status=$?
    if ((status != 0)); then printf '%s\n' "$output" >&2; fi
    awk -v program="$1" '/^test result: ok/ { tests += $4 } END { print program ": " tests + 0 " passed" }' <<<"$output"
    return "$status"
}
export -f run
log="$CARGO_TARGET_DIR/miri.log"
status=0
flags="${MIRIFLAGS:-} -Zmiri-strict-provenance -Zmiri-many-seeds=$seeds"
for model in "${models[@]}"; do
    export MIRIFLAGS="$flags"
    if [[ $model == tree ]]; then MIRIFLAGS+=' -Zmiri-tree-borrows'; fi
    printf '%s\n' core lib "${essential[@]}" |
        timeout "$limit_seconds" xargs -P "$(nproc)" -I{} bash -c 'run {}' | tee "$log" || status=$?
    if ((status == 124)); then
        echo "miri: not finished after $limit_seconds s: make the tests smaller, or set MIRI_SECONDS" >&2
    fi
    if ((status != 0)); then exit "$status"; fi
    if grep -q ': 0 passed$' "$log"; then
        echo 'miri: a module has no miri_ test, or does not exist' >&2
        exit 1
    fi
    echo "miri: the core, the library and ${#essential[@]} modules passed: $model borrows, seeds $seeds"
done
