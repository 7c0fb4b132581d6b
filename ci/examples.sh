#!/usr/bin/env bash
# Checks that every example runs to its end. Readers copy these programs, so each must work as it is.
# Builds them without optimisation, since `ci/test.sh` has already built them so. EXAMPLES_PROFILE=release builds
# them as a user does.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/lib/programs.sh

target="${CARGO_TARGET_DIR:-target}"
profile="${EXAMPLES_PROFILE:-dev}"
folder="$target/${profile/#dev/debug}/examples"
limit_seconds=60
log="$target/example.log"

# Runs one example with a time limit. Prints its output only if it fails.
run() {
    local name=$1 start=$SECONDS status=0
    timeout "$limit_seconds" "$folder/$@" >"$log" 2>&1 </dev/null || status=$?
    if ((status != 0)); then
        cat "$log"
        echo "examples: $* failed with status $status (124: over $limit_seconds s)" >&2
        exit 1
    fi
    echo "example $*: $((SECONDS - start)) s"
}

mapfile -t names < <(awk -F'"' '
    /^\[/ { inside = ($0 ~ /^\[\[example\]\]/) }
    inside && /^name *=/ { print $2 }' examples/Cargo.toml)
if ((${#names[@]} == 0)); then
    echo 'examples: examples/Cargo.toml declares no example' >&2
    exit 1
fi
for file in examples/*.rs; do
    if [[ $file != examples/lib.rs ]] && ! grep -qF "\"${file#examples/}\"" examples/Cargo.toml; then
        echo "examples: $file is not declared in examples/Cargo.toml" >&2
        exit 1
    fi
done

build_programs "$profile"
for name in "${names[@]}"; do run "$name"; done

echo "examples: ${#names[@]} ran to their end"
