#!/usr/bin/env bash
# Checks that the tests pass, with exactly the command that the README gives to users. It includes the documentation
# tests (the examples of every public item, and the `compile_fail` ones), `lapwing/tests/sources`, which checks the
# sources against STYLE.md, and the programs: every command of the laboratory, every example, the benchmark of the journal
# and the exchange, which is killed and recovers. Then come the tests that need strace (`power_cut`, which also runs
# alone).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/lib/parts.sh

if [[ -f README.md ]] && ! grep -qF 'cargo test --workspace' README.md; then
    echo 'README.md does not give `cargo test --workspace` as the test command' >&2
    exit 1
fi
cargo test --workspace
run_parts power_cut
