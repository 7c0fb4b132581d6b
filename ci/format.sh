#!/usr/bin/env bash
# Checks that every file is formatted by rustfmt, so that a diff shows only what was changed. Checks also that each
# mutant finds the text that it replaces. That takes a moment here; the check `mutants` runs a quarter of an hour later.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo fmt --version >/dev/null 2>&1 || rustup component add rustfmt
cargo fmt --all --check
python3 ci/words.py
python3 ci/mutants.py --texts
