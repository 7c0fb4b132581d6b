#!/usr/bin/env bash
# Checks that the tests pass as programs for other processors and with another C library: 32 and 64 bits of ARM under an
# emulator, 32 bits of x86, and musl. An emulator on x86 reorders no more than x86 does, so this shows nothing about weak
# memory ordering; the models do. It shows that the library compiles, computes and calls the system correctly there.
#
# Usage: ci/processors.sh [TARGET ...]     (default: all)
#
# Needs Linux on x86-64, rustup, and for ARM the packages of `needs`, which it installs as root on Debian. Exits with 77 if
# something is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

targets=(x86_64-unknown-linux-musl i686-unknown-linux-musl armv7-unknown-linux-gnueabihf aarch64-unknown-linux-gnu)
if (($#)); then targets=("$@"); fi
needs=(qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-arm-linux-gnueabihf libc6-dev-armhf-cross)
skip() {
    echo "processors: skipped: $1" >&2
    exit 77
}

if [[ $(rustc -vV | sed -n 's/^host: //p') != x86_64-unknown-linux-gnu ]]; then skip 'needs Linux on x86-64'; fi
command -v rustup >/dev/null || skip 'rustup is not installed'
for program in qemu-aarch64 qemu-arm aarch64-linux-gnu-gcc arm-linux-gnueabihf-gcc; do
    command -v "$program" >/dev/null && continue
    [[ $(id -u) == 0 ]] && { apt-get update && apt-get install --yes "${needs[@]}"; } >/dev/null 2>&1 ||
        skip "$program is missing (Debian: apt-get install ${needs[*]})"
done

export CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_LINKER=rust-lld
export CARGO_TARGET_I686_UNKNOWN_LINUX_MUSL_LINKER=rust-lld
export CARGO_TARGET_ARMV7_UNKNOWN_LINUX_GNUEABIHF_LINKER=arm-linux-gnueabihf-gcc
export CARGO_TARGET_ARMV7_UNKNOWN_LINUX_GNUEABIHF_RUNNER='qemu-arm -L /usr/arm-linux-gnueabihf'
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER='qemu-aarch64 -L /usr/aarch64-linux-gnu'

# Optimised a little, because an emulated program is 10 to 20 times slower.
export CARGO_PROFILE_DEV_OPT_LEVEL=1 CARGO_PROFILE_DEV_DEBUG=0
export LAPWING_SLOW_TESTS=1
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}-processors"
for target in "${targets[@]}"; do
    timeout 300 rustup target add "$target" || skip "cannot install the standard library for $target"
    start=$SECONDS
    log=$(mktemp)
    cargo test --package lapwing-core --package lapwing --target "$target" --tests | tee "$log"
    awk -v name="$target" -v seconds="$((SECONDS - start))" '/^test result: ok/ { tests += $4 }
        END { print "processors: " name ": " tests + 0 " tests passed, " seconds " s" }' "$log"
    rm "$log"
done
