#!/usr/bin/env bash
# Checks that the public documentation builds without a warning: no broken link, and no link to a private item. Private
# items are not documented, since users cannot see them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

RUSTDOCFLAGS="${RUSTDOCFLAGS:-} -D warnings" cargo doc --workspace --no-deps
