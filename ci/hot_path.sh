#!/usr/bin/env bash
# Does publishing one event stay free of calls, divisions and locked instructions, and below `rtrb` in their
# number? Counts instructions of the program as it is built for release; no clock is read.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ $(uname -m) != x86_64 ]] || ! command -v objdump >/dev/null || ! command -v python3 >/dev/null; then
    echo 'hot_path: not run: it needs x86-64, objdump and python3' >&2
    exit 77
fi
target="${CARGO_TARGET_DIR:-target}"
# With the feature, whose assembly is looked at as well; and the tests of that.
cargo test --package lapwing --features predicted-branch --lib predicted_branch
cargo build --release --package lapwing-hot-path --features lapwing/predicted-branch
"$target/release/lapwing-hot-path"
objdump --disassemble --no-show-raw-insn "$target/release/lapwing-hot-path" | python3 ci/hot_path.py
