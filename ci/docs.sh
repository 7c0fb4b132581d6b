#!/usr/bin/env bash
# Is the table of the structure in ARCHITECTURE.md true, and does the public documentation build without a warning: no broken link, no link into what is private?
# Private items are left out, since a user cannot see them: a public page must not lean on them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

python3 ci/structure.py --check
RUSTDOCFLAGS="${RUSTDOCFLAGS:-} -D warnings" cargo doc --workspace --no-deps
