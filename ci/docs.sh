#!/usr/bin/env bash
# Checks that the structure table in ARCHITECTURE.md is up to date, and that the public documentation builds without
# a warning: no broken link, and no link to a private item. Private items are not documented, since users cannot see
# them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

python3 ci/structure.py --check
RUSTDOCFLAGS="${RUSTDOCFLAGS:-} -D warnings" cargo doc --workspace --no-deps
