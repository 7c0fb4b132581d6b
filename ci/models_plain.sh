#!/usr/bin/env bash
# Checks that the protocol without its tuning passes every model. Otherwise the same as models.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
MODELS=plain exec bash ci/models.sh
