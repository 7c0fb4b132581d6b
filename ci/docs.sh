#!/usr/bin/env bash
# Does the public documentation build without a warning: no broken link, no link into what is private?
# Private items are left out, since a user cannot see them: a public page must not lean on them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

RUSTDOCFLAGS="${RUSTDOCFLAGS:-} -D warnings" cargo doc --workspace --no-deps
