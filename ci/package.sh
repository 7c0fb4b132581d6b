#!/usr/bin/env bash
# Checks that the package of the library works outside the workspace. Packs it as `cargo publish` does, and unpacks it in
# a temporary folder. There, every target must compile, and the tests about the sources must pass. PACKAGE=all runs
# every test.
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
    # A checkout without symbolic links would pack the name of the file instead of its content.
    cmp "$file" "$unpacked/$file"
done

cd "$unpacked"
# A target directory of its own: test programs have the path of their package compiled in.
export CARGO_TARGET_DIR="$unpacked/target"
if [[ ${PACKAGE:-essential} == all ]]; then
    cargo test
else
    cargo check --tests
    cargo test --test house
fi
echo 'package: compiles and passes its tests outside the workspace'
