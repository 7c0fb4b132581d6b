#!/usr/bin/env bash
# Do the ends of lapwing-aeron carry every event once, and is each failure an error or a notice? Does a follower of the
# exchange have every command, and take over? Builds the crates with the C client of Aeron, and runs their tests,
# doctests, an example and the check of the exchange against the Java media driver. AERON=long adds the measurement.
# Needs clang, a C compiler, Java, and CMake 3.30, which it puts below aeron/target if it is absent. AERON=long installs
# the first two as root on Debian. Exits with 77 without them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../aeron"

target=${CARGO_TARGET_DIR:-target}

cannot_run() {
    echo "aeron: not run: $1" >&2
    exit 77
}

# Installs what apt has, as root on Debian.
install_packages() {
    [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null &&
        { apt-get update && apt-get install --yes "$@"; } >/dev/null 2>&1
}

if [[ ${AERON:-short} == long && ! -f /usr/include/bsd/stdlib.h ]]; then
    install_packages clang libclang-dev libbsd-dev gcc || true
fi
./tools.sh --fetch-cmake true

# One driver shows whether the jar is there.
probe=$(mktemp -d)
trap './driver.sh stop "$probe/aeron" || true; rm -rf "$probe"' EXIT
status=0
./driver.sh start "$probe/aeron" || status=$?
if ((status == 77)); then cannot_run 'the jar of Aeron is missing'; fi
((status == 0)) || exit 1
./driver.sh stop "$probe/aeron"

# One profile for all, so that the C client is built once.
./tools.sh cargo test --release --lib --test driver
./tools.sh cargo test --release --package exchange-replica
./tools.sh cargo build --release --examples
./tools.sh cargo test --release --doc
"$target/release/examples/two_processes"
# The program that starts and checks them is the one that `ci/test.sh` has built.
(cd .. && cargo build --workspace --bins --examples)
"${CARGO_TARGET_DIR:-../target}/debug/exchange" replicated --seconds 1
if [[ ${AERON:-quick} == long ]]; then "$target/release/examples/speed"; fi
