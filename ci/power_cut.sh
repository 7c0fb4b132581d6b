#!/usr/bin/env bash
# Does a power cut at any system call keep what was confirmed? The journal and the exchange run under strace, and the
# disks that a power cut could leave are opened.
#
# POWER_CUT=all also removes one sync, or one wait for a sync, at a time. Each run must then fail.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ $(uname) != Linux ]]; then
    echo 'power_cut: not run: it needs Linux' >&2
    exit 77
fi
if ! command -v strace >/dev/null; then
    # A CI machine may install packages; a developer's machine is asked to.
    if [[ $(id -u) != 0 ]] || ! { apt-get update && apt-get install --yes strace; } >/dev/null 2>&1; then
        echo 'power_cut: not run: the program strace is missing (Debian: apt-get install strace)' >&2
        exit 77
    fi
fi
if ! strace -qq -e trace=none true; then
    echo 'power_cut: not run: the system does not let strace follow a program' >&2
    exit 77
fi
# The selection of `cargo test --workspace`: another one would build everything again.
cargo test --workspace --test power_cut -- --ignored
if [[ ${POWER_CUT:-short} == all ]]; then
    python3 ci/power_cut.py
fi
