#!/usr/bin/env bash
# Fuzzes rings against the sequential model of proof/ for FUZZ_SECONDS: libFuzzer changes scripts towards code that none
# has reached yet, and each runs under AddressSanitizer. It starts from the corpus in proof/fuzz/corpus, which it leaves
# as it is. FUZZ_KEEP=1 replaces the corpus by the fewest inputs that reach everything found so far.
# Needs a nightly toolchain and cargo-fuzz. Exits with 77 without them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../proof"

if ! cargo +nightly fuzz --version >/dev/null 2>&1; then
    echo 'fuzz: not run: it needs a nightly toolchain and "cargo install cargo-fuzz --locked"' >&2
    exit 77
fi
corpus=fuzz/corpus/one_thread
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/found" "$work/kept"

fuzz() { cargo +nightly fuzz run one_thread "$@" -max_len=1024 -timeout=10 >"$work/log" 2>&1; }

if ! fuzz "$work/found" "$corpus" -- -max_total_time="${FUZZ_SECONDS:-60}" -print_final_stats=1; then
    tail -100 "$work/log" >&2
    exit 1
fi
grep -E $'^#[0-9]+\t(INITED|DONE)|^stat::(number|average)' "$work/log"
if [[ ${FUZZ_KEEP:-0} == 1 ]]; then
    fuzz "$work/kept" "$work/found" "$corpus" -- -set_cover_merge=1
    rm -f "$corpus"/*
    cp "$work"/kept/* "$corpus"
    echo "fuzz: the corpus has $(ls "$corpus" | wc -l) inputs, $(cat "$corpus"/* | wc -c) bytes"
fi
