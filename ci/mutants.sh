#!/usr/bin/env bash
# Can each model fail? Breaks rows of the ordering table, one at a time, and checks that the row's model sees it. A green
# model is worth only as much as this. One edit of each row, another one for the next commit; MUTANTS=all makes each.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# A clone without history has no number of its commit: then it is always the same edit of each row.
if [[ ${MUTANTS:-one-of-each} == all ]]; then
    python3 ci/mutants.py
else
    python3 ci/mutants.py --one-of-each
fi
