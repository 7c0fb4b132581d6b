#!/usr/bin/env bash
# Does every target compile without a warning, under the lints of Cargo.toml and clippy.toml?
# The second pass sees the code that Linux leaves out: the path without futex and membarrier.
# `--locked`: a Cargo.lock that does not match the manifests is a failure, not a silent update.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo clippy --locked --workspace --all-targets -- -D warnings

export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}-portable" # shared with portable.sh
RUSTFLAGS="${RUSTFLAGS:-} --cfg lapwing_portable" \
    cargo clippy --locked --package lapwing --all-targets -- -D warnings
