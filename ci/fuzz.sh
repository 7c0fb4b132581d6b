#!/usr/bin/env bash
# Fuzzes the sequential model of proof/ for FUZZ_SECONDS: libFuzzer changes scripts towards code that none has reached
# yet, and each runs under AddressSanitizer. It starts from the corpus in proof/fuzz/corpus, which it leaves as it is.
# FUZZ_KEEP=1 adds what was found to the corpus, reduced to the inputs that reach something new.
# Needs a nightly toolchain and cargo-fuzz. Exits with 77 without them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../proof"

if ! cargo +nightly fuzz --version >/dev/null 2>&1; then
    echo 'fuzz: not run: it needs a nightly toolchain and `cargo install cargo-fuzz --locked`' >&2
    exit 77
fi
seconds="${FUZZ_SECONDS:-60}"
corpus=fuzz/corpus/one_thread
found=$(mktemp -d)
trap 'rm -rf "$found"' EXIT

cargo +nightly fuzz run one_thread "$found" "$corpus" -- -max_total_time="$seconds" -max_len=1024 -timeout=10 \
    -print_final_stats=1 2>&1 | grep -v --line-buffered -E '^#[0-9]+\s+(NEW|REDUCE|pulse|RELOAD)'
if [[ ${FUZZ_KEEP:-0} == 1 ]]; then
    cp "$found"/* "$corpus"
    cargo +nightly fuzz cmin one_thread "$corpus" -- -max_len=1024
fi
