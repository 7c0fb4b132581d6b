#!/usr/bin/env bash
# Do the tests pass? The command is the one that the README gives, word for word, so that what a user
# is told to run is what is checked. It includes the documentation tests (the examples of every public
# item, and the `compile_fail` ones) and `lapwing/tests/house.rs`, which holds the sources to STYLE.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ -f README.md ]] && ! grep -qF 'cargo test --workspace' README.md; then
    echo 'README.md does not give `cargo test --workspace` as the test command' >&2
    exit 1
fi
cargo test --workspace
