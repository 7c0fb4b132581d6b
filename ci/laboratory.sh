#!/usr/bin/env bash
# Checks that every command of the laboratory ends with correct answers for every contender, that a wrong answer is
# refused, and that a report can be made of the result files. The runs are short and the machine may be busy, so
# speeds are not checked. Builds without optimisation, since `ci/test.sh` has already built the laboratory so.
# LABORATORY=long builds it with optimisation, and uses ten times as many events.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/lib/programs.sh

target="${CARGO_TARGET_DIR:-target}"
results="$target/laboratory"
json="$results/throughput.json"
rm -rf "$results"
mkdir -p "$results"

if [[ ${LABORATORY:-short} == long ]]; then
    profile=release folder=release thousand=10000 swept=()
    # The quick evaluation as a user runs it: a wrong answer ends it with an error.
    cargo run --release
else
    # Each task of a Java rival starts a JVM, and `latency` has already run these tasks.
    profile=dev folder=debug thousand=1000 swept=(--contender lapwing,disruptor,std-mpsc,cpp-mutex-queue)
fi
build_programs "$profile"
lapwing() { "$target/$folder/lapwing" "$@"; }

lapwing throughput --runs 1 --events $((20 * thousand)) --json "$json"
lapwing throughput --runs 1 --events $((20 * thousand)) --contender lapwing --placement own,auto,1 \
    --json "$results/placement.json"
lapwing contention --runs 1 --events $((2 * thousand)) --json "$results/contention.json"
lapwing limits --runs 1 --events $((2 * thousand)) --json "$results/limits.json"
lapwing ping-pong --runs 1 --events $((thousand / 5)) --json "$results/ping-pong.json"
lapwing latency --runs 1 --rate 100000 --seconds-per-run 0.02 --json "$results/latency.json" \
    --hgrm "$results/hgrm"
lapwing sweep --runs 1 --rates 10000,100000 --seconds-per-run 0.02 "${swept[@]}" --json "$results/sweep.json"
lapwing oversubscribed --runs 1 --events $((2 * thousand)) --producers 1,8 --consumers 1,8 \
    --json "$results/oversubscribed.json"
lapwing channels --rounds 1 --run-ms 10 --payload word,string --capacity 1,16 --senders 1,3 --json "$results/channels.json"
lapwing channels --rounds 1 --run-ms 10 --tails --json "$results/tails.json"
lapwing neighbours --rounds 1 --run-ms 10 --ring 256 --busy 0,2 --json "$results/neighbours.json"
lapwing idle --runs 1 --seconds-per-run 0.05 --json "$results/idle.json"
lapwing idle --runs 1 --seconds-per-run 0.05 --rate 1000 --consumers 8 --wait adaptive --placement own,auto
lapwing dispatch --quick --json "$results/dispatch.json" >/dev/null
lapwing perftest --runs 1 --events $((2 * thousand)) --json "$results/perftest.json"
lapwing report "$results"

refused() {
    if lapwing "$@"; then
        echo "laboratory: a wrong answer was reported as a number: $*" >&2
        exit 1
    fi
}
refused throughput --events 20000 --contender wrong-answer
refused contention --events 20000 --case wrong-answer
refused ping-pong --events 2000 --contender wrong-answer
refused latency --rate 100000 --seconds-per-run 0.02 --contender wrong-answer
refused oversubscribed --events 2000 --producers 2 --consumers 2 --contender wrong-answer
refused channels --rounds 1 --run-ms 10 --payload word --capacity 16 --senders 1 --contender wrong-answer
refused neighbours --rounds 1 --run-ms 10 --ring 256 --busy 0 --contender wrong-answer
refused idle --runs 1 --seconds-per-run 0.05 --rate 1000 --contender wrong-answer

if ! command -v python3 >/dev/null; then
    echo 'laboratory: the runs passed, but the JSON was not checked: python3 is not installed' >&2
    exit 77
fi
python3 - "$json" <<'PYTHON'
import json
import sys

TOPOLOGIES = 5
CONTENDERS = 17
FOREIGN = {"lmax", "array-blocking-queue", "cpp-mutex-queue", "boost-lockfree", "moodycamel"}

with open(sys.argv[1], encoding="utf-8") as file:
    report = json.load(file)
results, missing = report["results"], report["missing"]
for rival in missing:
    print("not available:", rival["contender"], rival["reason"])
wrong = [result for result in results if result.get("verified") is not True]
for result in wrong:
    print("not verified:", json.dumps(result), file=sys.stderr)
unexpected = {rival["contender"] for rival in missing} - FOREIGN
if unexpected:
    print("missing although no external tool is needed:", *unexpected, file=sys.stderr)
expected = TOPOLOGIES * (CONTENDERS - len(missing))
if len(results) != expected:
    print(f"results: expected={expected}, found={len(results)}", file=sys.stderr)
if wrong or unexpected or len(results) != expected:
    sys.exit(1)
print(f"laboratory: {len(results)} results, all verified")
PYTHON
