#!/usr/bin/env bash
# Does every contender of the laboratory give the right answer on every workload and in `ping-pong`, and
# every case of `contention`; and is a wrong answer refused? Short runs: their speeds mean nothing on a
# machine that does other work, and no speed is judged here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target="${CARGO_TARGET_DIR:-target}"
json="$target/throughput.json"
mkdir -p "$target"
rm -f "$json"

cargo run --release --package lapwing-perf -- throughput --runs 1 --events 200000 --json "$json"
cargo run --release --package lapwing-perf -- contention --runs 1 --events 20000
cargo run --release --package lapwing-perf -- ping-pong --runs 1 --events 2000
if cargo run --release --package lapwing-perf -- contention --events 20000 --case wrong-answer; then
    echo 'throughput: a lost increment was reported as a speed' >&2
    exit 1
fi

if ! command -v python3 >/dev/null; then
    echo 'throughput: the run passed, its JSON was not checked: python3 is not installed' >&2
    exit 77
fi
python3 - "$json" <<'PYTHON'
import json
import sys

TOPOLOGIES = 5
CONTENDERS = 15
FOREIGN = {"lmax", "array-blocking-queue", "cpp-mutex-queue", "boost-lockfree", "moodycamel"}

with open(sys.argv[1], encoding="utf-8") as file:
    report = json.load(file)
results, missing = report["results"], report["missing"]
for rival in missing:
    print("not here:", rival["contender"], rival["reason"])
wrong = [result for result in results if result.get("verified") is not True]
for result in wrong:
    print("not verified:", json.dumps(result), file=sys.stderr)
unexpected = {rival["contender"] for rival in missing} - FOREIGN
if unexpected:
    print("missing without need of a tool:", *unexpected, file=sys.stderr)
expected = TOPOLOGIES * (CONTENDERS - len(missing))
if len(results) != expected:
    print(f"results: expected={expected}, found={len(results)}", file=sys.stderr)
if wrong or unexpected or len(results) != expected:
    sys.exit(1)
print(f"throughput: {len(results)} results, all verified")
PYTHON
