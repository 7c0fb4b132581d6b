#!/usr/bin/env bash
# Does the package of the library stand alone? Packs it as `cargo publish` does, and unpacks it outside the workspace. There
# every target has to compile, and the tests to pass that read files: the doctests, and those about the sources.
# PACKAGE=all runs every test there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target="$PWD/target-package"
if [[ -n ${CARGO_TARGET_DIR:-} ]]; then target="$(realpath -m "$CARGO_TARGET_DIR")-package"; fi
export CARGO_TARGET_DIR="$target"
rm -rf "$target/package"
cargo package --package lapwing --no-verify --allow-dirty
cargo publish --dry-run --package lapwing --no-verify --allow-dirty

unpacked=$(mktemp -d)
trap 'rm -rf "$unpacked"' EXIT
tar --extract --gzip --file "$target"/package/lapwing-*.crate --directory "$unpacked" --strip-components 1
for file in LICENSE-APACHE LICENSE-MIT README.md README.zh-CN.md; do
    # A checkout without symbolic links packs the name of a file instead of the file.
    cmp "$file" "$unpacked/$file"
done

cd "$unpacked"
if [[ ${PACKAGE:-essential} == all ]]; then
    cargo test
else
    cargo check --tests
    cargo test --test house
    cargo test --doc
fi
echo 'package: it stands alone'
