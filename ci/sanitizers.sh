#!/usr/bin/env bash
# Checks with ThreadSanitizer that the tests have no data race, and with AddressSanitizer that they have no invalid
# access and no leak. Both instrument the build for Linux, with its futex, its membarrier and its assembly. They see the
# one schedule that runs. Neither has a suppression. With a relaxed store of the cursor (O1), ThreadSanitizer reports a
# race within 200 random programs.
#
# The short run has the unit tests, and for ThreadSanitizer the random scripts and programs of proof/. SANITIZERS=all runs
# every test, and LAPWING_PROGRAMS of the random ones. ThreadSanitizer needs an instrumented standard library, and a full
# run of AddressSanitizer has one too.
# Usage: ci/sanitizers.sh [thread] [address]      (default: both)
#
# Needs a nightly toolchain with the sources of the standard library. Exits with 77 if there is none.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target=x86_64-unknown-linux-gnu
if [[ $(rustc -vV | sed -n 's/^host: //p') != "$target" ]]; then
    echo "sanitizers: skipped: needs $target" >&2
    exit 77
fi
source ci/lib/nightly.sh
install_nightly rust-src || exit 77

if [[ ${SANITIZERS:-quick} == all ]]; then export PROPTEST_CASES="${LAPWING_PROGRAMS:-4000}"; fi
folder="${CARGO_TARGET_DIR:-target}"
# Optimised a little: without it, the instrumented tests take several times as long.
export CARGO_PROFILE_DEV_OPT_LEVEL=1 CARGO_PROFILE_DEV_DEBUG=line-tables-only
export LAPWING_SLOW_TESTS=1
# A test asks for more memory than there is, and expects a refusal.
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 TSAN_OPTIONS=allocator_may_return_null=1
tests() {
    cargo +nightly test "${std[@]}" --target "$target" "$@"
}

# One at a time: each build takes gigabytes.
if (($# == 0)); then set -- thread address; fi
for sanitizer in "$@"; do
    export RUSTFLAGS="-Zsanitizer=$sanitizer" CARGO_TARGET_DIR="$folder-$sanitizer"
    start=$SECONDS
    log=$(mktemp)
    std=(-Zbuild-std) programs=(--package lapwing-proof --test reference --test programs)
    if [[ ${SANITIZERS:-quick} == quick && $sanitizer == address ]]; then std=() programs=(); fi
    tests --package lapwing-core --package lapwing --lib "${programs[@]}" | tee "$log"
    if [[ ${SANITIZERS:-quick} == all ]]; then tests --package lapwing --tests | tee --append "$log"; fi
    awk -v name="$sanitizer" -v seconds="$((SECONDS - start))" '/^test result: ok/ { tests += $4 }
        END { print "sanitizers: " name ": " tests + 0 " tests passed without a report, " seconds " s" }' "$log"
    rm "$log"
done
