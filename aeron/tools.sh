#!/usr/bin/env bash
# Runs a command that builds this crate, or exits with 77 and says what is missing.
#
#   tools.sh [--fetch-cmake] COMMAND [ARGUMENT ...]
#
# The build needs clang, a C compiler, libbsd and CMake 3.30, the media driver needs Java. CMAKE selects a CMake.
# --fetch-cmake installs one with pip below target/ if there is none.
set -euo pipefail
crate=$(cd "${BASH_SOURCE[0]%/*}" && pwd)

fetches_cmake=false
if [[ ${1:-} == --fetch-cmake ]]; then
    fetches_cmake=true
    shift
fi

cannot_run() {
    echo "aeron: not run: $1" >&2
    exit 77
}

cmake_is_new_enough() {
    local version
    version=$("$1" --version 2>/dev/null | sed -n 's/^cmake version //p') || return 1
    [[ -n $version && $(printf '%s\n' 3.30 "$version" | sort -V | head -1) == 3.30 ]]
}

# Sets CMAKE, which the build of the C client uses.
find_cmake() {
    local target=${CARGO_TARGET_DIR:-$crate/target}
    export CMAKE
    for CMAKE in "${CMAKE:-cmake}" "$crate/target/cmake/bin/cmake" "$target/cmake/bin/cmake"; do
        if cmake_is_new_enough "$CMAKE"; then return 0; fi
    done
    if ! $fetches_cmake; then return 1; fi
    python3 -m venv "$target/cmake" >/dev/null 2>&1 && "$target/cmake/bin/pip" install --quiet cmake &&
        CMAKE=$(cd "$target" && pwd)/cmake/bin/cmake && cmake_is_new_enough "$CMAKE"
}

# libclang reads the headers of Aeron, libbsd has its random numbers.
if ! command -v clang >/dev/null || ! command -v cc >/dev/null || [[ ! -f /usr/include/bsd/stdlib.h ]]; then
    cannot_run 'clang, a C compiler or libbsd is missing (Debian: apt-get install clang libclang-dev libbsd-dev gcc)'
fi
command -v java >/dev/null || cannot_run 'Java is missing (Debian: apt-get install openjdk-17-jre-headless)'
find_cmake || cannot_run 'CMake 3.30 is missing (pip install cmake has it, and CMAKE=/path/to/cmake selects it)'

exec "$@"
