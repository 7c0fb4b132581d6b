#!/usr/bin/env bash
# Does every target compile without a warning, under the lints of Cargo.toml and clippy.toml?
# The second pass sees the code that Linux leaves out, the path without futex and membarrier; the third
# one the models; the fourth one the plain build.
# `--locked`: a Cargo.lock that does not match the manifests is a failure, not a silent update.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo clippy --version >/dev/null 2>&1 || rustup component add clippy
cargo clippy --locked --workspace --all-targets -- -D warnings
cargo clippy --locked --package lapwing --features predicted-branch -- -D warnings

target="${CARGO_TARGET_DIR:-target}"
pass() { # pass <what is compiled in> <target directory, shared with another script>
    RUSTFLAGS="${RUSTFLAGS:-} --cfg $1" CARGO_TARGET_DIR="$target-$2" \
        cargo clippy --locked --package lapwing --all-targets -- -D warnings
}
pass lapwing_portable portable
pass loom loom
pass lapwing_plain plain
