#!/usr/bin/env bash
# Do the library, its examples and the quick evaluation compile with the oldest compiler that Cargo.toml promises (`rust-version`)?
# The laboratory in perf/ makes no such promise: it takes what its rivals need, and says so in its Cargo.toml.
# Needs rustup and that toolchain; where neither is to be had, says so and exits with 77.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
if [[ -z $version ]]; then
    echo 'msrv: Cargo.toml declares no rust-version' >&2
    exit 1
fi
skip() {
    echo "msrv: skipped: $1" >&2
    exit 77
}

command -v rustup >/dev/null || skip 'rustup is not installed'
if ! rustup run "$version" rustc --version >/dev/null 2>&1; then
    timeout 120 rustup toolchain install "$version" --profile minimal --no-self-update ||
        skip "Rust $version cannot be installed here"
fi

export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}-msrv"
cargo "+$version" check --locked --package lapwing --package lapwing-examples --package lapwing-quick
