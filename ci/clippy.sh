#!/usr/bin/env bash
# Checks that every target compiles without a warning, under the lints of Cargo.toml and clippy.toml.
# Further passes check the code that Linux does not use (no futex, no membarrier), the models, and the build
# without tuning.
# `--locked`: a Cargo.lock that does not match the manifests fails the check instead of being updated.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo clippy --version >/dev/null 2>&1 || rustup component add clippy
cargo clippy --locked --workspace --all-targets -- -D warnings
cargo clippy --locked --package lapwing --features predicted-branch -- -D warnings

target="${CARGO_TARGET_DIR:-target}"
pass() { # pass <cfg> <suffix of the target directory, which another script shares>
    RUSTFLAGS="${RUSTFLAGS:-} --cfg $1" CARGO_TARGET_DIR="$target-$2" \
        cargo clippy --locked --package lapwing --all-targets -- -D warnings
}
pass lapwing_portable portable
pass loom loom
pass lapwing_plain plain
