#!/usr/bin/env bash
# Checks that each model can fail. Breaks one ordering, fence or re-check at a time, and checks that its models fail. A
# model that cannot fail proves nothing. MUTANTS=all also checks that no model sees a survivor, which takes hours.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

python3 ci/mutants.py
if [[ ${MUTANTS:-} == all ]]; then python3 ci/mutants.py --search survivors; fi
