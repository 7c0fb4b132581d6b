#!/usr/bin/env bash
# Checks that every memory ordering does what its row of an ordering table says. Loom runs each model test through
# every schedule of its threads and every value that the memory model allows a load to return, up to a number of
# preemptions. Fails if no model ran, or if a row names a model that did not pass.
#
# The models of the core prove the laws of the protocol, and those of the library what is built on it. Those of `shared`
# prove the protocol between processes, which has a table of its own. MODELS_OF=lapwing-core runs only the first,
# without the check of the tables and of the edits. MODELS=plain runs the first two on the protocol without its tuning;
# the one between processes has none.
#
# A model that cannot fail proves nothing. So each edit of ci/mutants_list.py then breaks one ordering, fence or re-check,
# and its models must fail. MUTANTS=all also checks that no model sees a survivor, which takes hours.
#
# Each model runs in its own process: loom maps new thread stacks for each schedule, and the threads of one process
# would contend for that.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The build that the models run on: `tuned` is the library as it ships, `plain` is the protocol without its tuning.
build_kind="${MODELS:-tuned}"
flags="--cfg loom"
if [[ $build_kind == plain ]]; then flags+=" --cfg lapwing_plain"; fi
# Two preemptions find most faults, three nearly all. Each further preemption takes several times as long.
export LOOM_MAX_PREEMPTIONS="${LOOM_MAX_PREEMPTIONS:-2}"
# The flags differ from those of other checks, so this needs its own target directory.
folder="${CARGO_TARGET_DIR:-target}"
export CARGO_TARGET_DIR="$folder-loom"
if [[ $build_kind == plain ]]; then CARGO_TARGET_DIR+=-plain; fi
packages='lapwing-core lapwing'
tables=(lapwing/src/docs/memory_ordering.rs)
if [[ $build_kind == tuned ]]; then
    packages+=' lapwing-shared'
    tables+=(shared/src/docs/memory_ordering.rs)
fi
packages="${MODELS_OF:-$packages}"
mkdir -p "$CARGO_TARGET_DIR"
log="$CARGO_TARGET_DIR/models.log"

# Builds the test program of each package and prints its path.
build() {
    # shellcheck disable=SC2086 # each word is a package
    RUSTFLAGS="${RUSTFLAGS:-} $flags" cargo test --profile model $(printf -- '--package %s ' $packages) --lib --no-run \
        --message-format json-render-diagnostics | sed -n 's/.*"executable":"\([^"]*\)".*/\1/p'
}

# Runs one model of a program. Prints its verdict and the number of its executions, or its whole output if it failed.
run_model() {
    local output
    if output=$("$1" --exact "$2" --show-output 2>&1); then
        grep -E ' \.\.\. ok$|^executions: ' <<<"$output"
    else
        printf '%s\n' "$output"
        return 1
    fi
}
export -f run_model

programs=$(build)
models=$(while read -r program; do
    "$program" --list --format terse | sed -n "s,^\(.*loom_.*\): test\$,$program \1,p"
done <<<"$programs")
if [[ -z $models ]]; then
    echo 'models: there is no model test' >&2
    exit 1
fi
xargs -P "$(nproc)" -L1 bash -c 'run_model "$@"' run_model <<<"$models" 2>&1 | tee "$log"

passed=$(grep -cE '^test .*\bloom_[a-z0-9_]+( - should panic)? \.\.\. ok$' "$log" || true)
if ((passed == 0)); then
    echo 'models: no model test ran' >&2
    exit 1
fi

executions=$(awk '/^executions: / { sum += $2 } END { print sum + 0 }' "$log")
verdict="models: $passed passed in $executions executions on the $build_kind build"
verdict+=", with at most $LOOM_MAX_PREEMPTIONS preemptions"
if [[ -n ${MODELS_OF:-} ]]; then
    echo "$verdict"
    exit
fi

missing=0
for table in "${tables[@]}"; do
    # With `|| true`, the next test reports an empty table.
    rows=$(grep -E '^//! \|[ *`]*[OP][0-9]+' "$table" || true)
    named=$(grep -oE 'loom_[a-z0-9_]+' <<<"$rows" | sort -u || true)
    if [[ -z $named ]]; then
        echo "models: no row of $table names a model" >&2
        exit 1
    fi
    for model in $named; do
        if ! grep -qE "^test (.*::)?$model( - should panic)? \.\.\. ok\$" "$log"; then
            echo "models: a row of $table names $model, which did not pass" >&2
            missing=1
        fi
    done
done
if ((missing)); then exit 1; fi
echo "$verdict"
if [[ $build_kind == plain ]]; then exit; fi

export CARGO_TARGET_DIR="$folder" # the program adds the suffix itself
export LOOM_MAX_PREEMPTIONS=3      # some edits show with the third
python3 ci/mutants.py
if [[ ${MUTANTS:-} == all ]]; then python3 ci/mutants.py --search survivors; fi
