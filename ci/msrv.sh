#!/usr/bin/env bash
# Checks that the library, its core, the journal, the streams, segments, the metrics, `lapwing top`, the exchange, the
# examples and the quick evaluation compile with the oldest compiler that Cargo.toml supports (`rust-version`).
# The laboratory in lab/ and lapwing-aeron use the compilers that their dependencies need, as each Cargo.toml says.
# Needs rustup and that toolchain. Exits with 77 if they are not available.
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
        skip "cannot install Rust $version"
fi

export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}-msrv"
cargo "+$version" check --locked --package lapwing-core --package lapwing --package lapwing-journal \
    --package lapwing-stream --package lapwing-shared --package lapwing-metrics --package lapwing-cli --package exchange \
    --package lapwing-examples --package lapwing-quick
