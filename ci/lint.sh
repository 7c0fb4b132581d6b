#!/usr/bin/env bash
# Checks what can be said without running anything, the fastest first: rustfmt, spelling, that each edit of `mutants` and
# `power_cut` finds the text that it replaces, and that every target compiles without a warning under the lints of
# Cargo.toml and clippy.toml.
#
# Further passes of clippy check the library, its core and their unit tests in the builds of other scripts: the code that
# Linux does not use (no futex, no membarrier), the models, also those of `shared`, and the build without tuning.
# CLIPPY=all checks every target of these builds, and the topologies under a controlled scheduler.
# `--locked`: a Cargo.lock that does not match the manifests fails the check instead of being updated.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target="${CARGO_TARGET_DIR:-target}"

# Prints the path of `typos`, installed into the target directory if it is missing.
typos() {
    if command -v typos; then return; fi
    local tools
    tools="$(realpath -m "$target")/tools/python"
    if [[ ! -x $tools/bin/typos ]]; then
        { python3 -m venv "$tools" && "$tools/bin/pip" install --quiet 'typos==1.52.0'; } >&2 || return
    fi
    echo "$tools/bin/typos"
}

cargo fmt --version >/dev/null 2>&1 || rustup component add rustfmt
cargo fmt --all --check
if speller=$(typos); then
    "$speller" .
else
    echo 'lint: typos is not installed and could not be: the spelling is left out' >&2
fi
python3 ci/mutants.py --texts
python3 ci/power_cut.py --texts

cargo clippy --version >/dev/null 2>&1 || rustup component add clippy
cargo clippy --locked --workspace --all-targets -- -D warnings

pass() { # pass <suffix of the target directory, which another script shares> <flags> <packages and targets>
    local suffix=$1 flags=$2
    shift 2
    RUSTFLAGS="${RUSTFLAGS:-} $flags" CARGO_TARGET_DIR="$target-$suffix" cargo clippy --locked "$@" -- -D warnings
}
targets=(--lib --profile test)
if [[ ${CLIPPY:-unit} == all ]]; then targets=(--all-targets); fi
packages=(--package lapwing-core --package lapwing)
pass portable '--cfg lapwing_portable' "${packages[@]}" "${targets[@]}"
pass loom '--cfg loom' "${packages[@]}" --package lapwing-shared "${targets[@]}"
pass plain '--cfg lapwing_plain' "${packages[@]}" "${targets[@]}"
if [[ ${CLIPPY:-unit} == all ]]; then
    # Most tests of the library need the threads of the system.
    pass shuttle '--cfg lapwing_shuttle --cfg lapwing_portable' \
        "${packages[@]}" --package lapwing-proof --lib --test schedules
fi
