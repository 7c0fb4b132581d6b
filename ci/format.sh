#!/usr/bin/env bash
# Is every file as rustfmt writes it? Then a diff shows what was changed and nothing else.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo fmt --all --check
