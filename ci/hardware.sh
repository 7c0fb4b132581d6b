#!/usr/bin/env bash
# Checks what the models assume about this machine, and what they leave out: the fences as they are shipped (`litmus`,
# `spin`), wake-ups through the kernel (`wake_ups`), random rings under load and faults (`soak`), and the machine code of
# a publication (`hot_path`). Each part also runs alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/lib/parts.sh
run_parts spin litmus wake_ups soak hot_path
