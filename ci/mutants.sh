#!/usr/bin/env bash
# Can each model fail? Breaks every row of the ordering table that an edit can break, one at a time, and
# checks that the row's model sees it. A green model is worth only as much as this.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

python3 ci/mutants.py
