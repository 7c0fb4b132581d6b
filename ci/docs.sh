#!/usr/bin/env bash
# Checks that what users read holds:
# - The public documentation builds without a warning: no broken link, and no link to a private item. Private items are
#   not documented, because users cannot see them.
# - Every code block of docs/ compiles and runs, every chapter and every decision is listed, every link between chapters
#   points to a file and a heading. Where mdbook is installed, the HTML is built as well, to target/book. BOOK=all
#   installs mdbook.
# - rustc explains the usual mistakes in the words of the library (`messages`, which also runs alone).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/lib/parts.sh

mdbook_version=0.5.4
tools="$(realpath -m "${CARGO_TARGET_DIR:-target}")/tools"

RUSTDOCFLAGS="${RUSTDOCFLAGS:-} -D warnings" cargo doc --workspace --no-deps
cargo test --package lapwing-book
export PATH="$PATH:$tools/bin"
if ! command -v mdbook >/dev/null && [[ ${BOOK:-} == all ]]; then
    cargo install mdbook --locked --version "$mdbook_version" --no-default-features --features search --root "$tools"
fi
if command -v mdbook >/dev/null; then
    mdbook build docs
else
    echo 'docs: mdbook is not installed, so the HTML of the book was skipped (BOOK=all installs it)'
fi
run_parts messages
