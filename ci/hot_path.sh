#!/usr/bin/env bash
# Checks that publishing an event takes no call, no division and no locked instruction, and fewer instructions than
# `rtrb`. Counts the instructions of the release build; measures no time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ $(uname -m) != x86_64 ]] || ! command -v objdump >/dev/null || ! command -v python3 >/dev/null; then
    echo 'hot_path: skipped: needs x86-64, objdump and python3' >&2
    exit 77
fi
target="${CARGO_TARGET_DIR:-target}"
cargo build --release --package lapwing-hot-path
"$target/release/lapwing-hot-path"
objdump --disassemble --no-show-raw-insn "$target/release/lapwing-hot-path" | python3 ci/hot_path.py
