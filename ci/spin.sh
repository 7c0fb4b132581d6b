#!/usr/bin/env bash
# Do the models in ci/spin hold in every interleaving, and is each fault that is built into them found? They cover what loom
# cannot: the algorithm of several producers in one piece, and the compiler fence with `membarrier` of x86.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/spin"

if ! command -v spin >/dev/null || ! command -v gcc >/dev/null; then
    # A CI machine may install packages; a developer's machine is asked to.
    if [[ $(id -u) != 0 ]] || ! { apt-get update && apt-get install --yes spin gcc; } >/dev/null 2>&1; then
        echo 'spin: not run: the programs spin and gcc are missing (Debian: apt-get install spin gcc)' >&2
        exit 77
    fi
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Runs one model with one fault; 0 is none. Prints what the verifier says.
verify() {
    local model=$1 fault=$2 folder="$work/$1-$2"
    mkdir "$folder"
    cp "$model.pml" "$folder"
    cd "$folder"
    spin -DFAULT="$fault" -a "$model.pml" >/dev/null
    gcc -O2 -DSAFETY -DCOLLAPSE -DMEMLIM=2048 -DVECTORSZ=2048 -w -o pan pan.c
    ./pan -m1000000 -n
}

failed=0
for model in publication closing parking; do
    faults=$(grep --only-matching --perl-regexp '^ \* FAULT=\K[0-9]+' "$model.pml")
    for fault in 0 $faults; do
        output=$(verify "$model" "$fault")
        errors=$(sed -n 's/.*errors: \([0-9]*\).*/\1/p' <<<"$output")
        states=$(sed -n 's/ *\([0-9.e+]*\) states, stored.*/\1/p' <<<"$output")
        if grep -q 'max search depth too small' <<<"$output"; then
            echo "spin: $model: not searched to the end" >&2
            failed=1
        elif [[ $fault == 0 && $errors == 0 ]]; then
            echo "spin: $model holds in all $states states"
        elif [[ $fault != 0 && $errors != 0 ]]; then
            echo "spin: $model, fault $fault: found after $states states"
        else
            printf 'spin: %s, fault %s: %s errors\n%s\n' "$model" "$fault" "$errors" "$output" >&2
            failed=1
        fi
    done
done
exit "$failed"
