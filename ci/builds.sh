#!/usr/bin/env bash
# Checks that the two other builds of the library pass the same tests:
# - portable (`--cfg lapwing_portable`): without futex and membarrier. Other systems use this code; the cfg makes Linux use
#   it too, so that it is tested here. Runs the unit tests and those of waits.
# - plain (`--cfg lapwing_plain`): the protocol without its tuning. Runs the unit tests and the conformance tests.
#
# Usage: ci/builds.sh [portable] [plain]     (default: both). BUILDS=all runs every test.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if (($# == 0)); then set -- portable plain; fi
folder="${CARGO_TARGET_DIR:-target}"
every=()
if [[ ${BUILDS:-essential} == all ]]; then
    every=(--tests --package lapwing-proof)
    unset LAPWING_TASKS # `wake_ups` drops that many futures, with optimisation
else
    export LAPWING_SLOW_TESTS=1 # fewer repetitions: `ci/test.sh` has them
fi
for build; do
    case $build in
        portable) selection=(--lib --test waits --test wake_ups) ;;
        plain) selection=(--lib --test conformance) ;;
        *) echo "builds: there is no build $build: portable, plain" >&2 && exit 1 ;;
    esac
    # The target directory is shared with lint.sh.
    CARGO_TARGET_DIR="$folder-$build" RUSTFLAGS="${RUSTFLAGS:-} --cfg lapwing_$build" \
        cargo test --package lapwing-core --package lapwing "${selection[@]}" "${every[@]}"
done
