#!/usr/bin/env bash
# Does the path without futex and membarrier pass the same tests? Other systems take it; the cfg makes
# Linux take it too, so that it is tested where the checks run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}-portable" # shared with clippy.sh
RUSTFLAGS="${RUSTFLAGS:-} --cfg lapwing_portable" cargo test --package lapwing --lib --tests
