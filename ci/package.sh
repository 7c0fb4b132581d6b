#!/usr/bin/env bash
# Checks what a user of the packages gets: core and library outside the workspace (`packed`), with the oldest compiler
# (`msrv`), their dependencies and their public API (`supply_chain`). Each part also runs alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/lib/parts.sh
run_parts packed msrv supply_chain
