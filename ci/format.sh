#!/usr/bin/env bash
# Is every file as rustfmt writes it? Then a diff shows what was changed and nothing else. And does each mutant still
# find the text that it breaks? That is known in a moment, and its own check comes a quarter of an hour later.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo fmt --version >/dev/null 2>&1 || rustup component add rustfmt
cargo fmt --all --check
python3 ci/mutants.py --texts
