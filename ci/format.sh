#!/usr/bin/env bash
# Checks that every file is formatted by rustfmt, so that a diff shows only what was changed. Checks also that each
# edit of `mutants` and `power_cut` finds the text that it replaces. That takes a moment here, and these run later.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo fmt --version >/dev/null 2>&1 || rustup component add rustfmt
cargo fmt --all --check
python3 ci/words.py
python3 ci/mutants.py --texts
python3 ci/power_cut.py --texts
