#!/usr/bin/env bash
# Does the book hold: does every code block of docs/ compile and run, is every chapter listed, does every link between
# chapters point to a file and a heading? Where mdbook is installed, the HTML is built as well, to target/book.
#
# BOOK=all installs mdbook to target/tools if it is missing. Otherwise the HTML build is skipped, which is no failure:
# the chapters are read as Markdown too.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mdbook_version=0.5.4
tools="$(realpath -m "${CARGO_TARGET_DIR:-target}")/tools"

cargo test --package lapwing-book

export PATH="$PATH:$tools/bin"
if ! command -v mdbook >/dev/null; then
    if [[ ${BOOK:-} != all ]]; then
        echo 'book: mdbook is not installed, so the HTML build was skipped (BOOK=all installs it)'
        exit 0
    fi
    cargo install mdbook --locked --version "$mdbook_version" --no-default-features --features search --root "$tools"
fi
mdbook build docs
