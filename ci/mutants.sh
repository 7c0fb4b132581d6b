#!/usr/bin/env bash
# Checks that each model can fail. Breaks rows of the ordering table, one at a time, and checks that the row's model
# fails. A model that cannot fail proves nothing. Makes one edit of each row, and another one at the next commit.
# MUTANTS=all makes every edit.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# A clone without history always makes the same edit of each row, since it cannot count its commits.
if [[ ${MUTANTS:-one-of-each} == all ]]; then
    python3 ci/mutants.py
else
    python3 ci/mutants.py --one-of-each
fi
