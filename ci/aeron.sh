#!/usr/bin/env bash
# Do the ends of lapwing-aeron carry every event once, and is each failure an error or a notice? Builds the crate with
# the C client of Aeron, and runs its tests, doctests and example against the Java media driver. AERON=long adds the
# other example, which measures.
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

cmake_is_new_enough() {
    local version
    version=$("$1" --version 2>/dev/null | sed -n 's/^cmake version //p') || return 1
    [[ -n $version && $(printf '%s\n' 3.30 "$version" | sort -V | head -1) == 3.30 ]]
}

# Sets CMAKE, which the build of the C client uses.
find_cmake() {
    local own=$target/cmake/bin/cmake
    export CMAKE
    for CMAKE in "${CMAKE:-cmake}" "$PWD/$own" "$own"; do
        if cmake_is_new_enough "$CMAKE"; then return 0; fi
    done
    python3 -m venv "$target/cmake" >/dev/null 2>&1 && "$target/cmake/bin/pip" install --quiet cmake &&
        CMAKE=$(cd "$target" && pwd)/cmake/bin/cmake && cmake_is_new_enough "$CMAKE"
}

# libclang reads the headers of Aeron, libbsd has its random numbers.
if ! command -v clang >/dev/null || ! command -v cc >/dev/null || [[ ! -f /usr/include/bsd/stdlib.h ]]; then
    [[ ${AERON:-short} == long ]] && install_packages clang libclang-dev libbsd-dev gcc ||
        cannot_run 'clang, a C compiler or libbsd is missing (Debian: apt-get install clang libclang-dev libbsd-dev gcc)'
fi
command -v java >/dev/null || cannot_run 'Java is missing (Debian: apt-get install openjdk-17-jre-headless)'
find_cmake || cannot_run 'CMake 3.30 is missing, and pip cannot install it'

# One driver shows whether the jar is there.
probe=$(mktemp -d)
trap './driver.sh stop "$probe/aeron" || true; rm -rf "$probe"' EXIT
status=0
./driver.sh start "$probe/aeron" || status=$?
if ((status == 77)); then cannot_run 'the jar of Aeron is missing'; fi
((status == 0)) || exit 1
./driver.sh stop "$probe/aeron"

# One profile for all, so that the C client is built once.
cargo test --release --lib --test driver
cargo build --release --examples
cargo test --release --doc
"$target/release/examples/two_processes"
if [[ ${AERON:-quick} == long ]]; then "$target/release/examples/speed"; fi
