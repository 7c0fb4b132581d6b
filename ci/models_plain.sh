#!/usr/bin/env bash
# Does the protocol alone, with the plain advice, pass every model? As models.sh otherwise.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

MODELS=plain exec bash ci/models.sh
