#!/usr/bin/env bash
# Checks that the packages of the core and of the library work outside the workspace. Packs them as `cargo publish` does,
# the core first, and unpacks them in a temporary folder, side by side. There, every target must compile, and the tests
# about the sources must pass. PACKAGE=all runs every test.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target="$PWD/target-package"
if [[ -n ${CARGO_TARGET_DIR:-} ]]; then target="$(realpath -m "$CARGO_TARGET_DIR")-package"; fi
export CARGO_TARGET_DIR="$target"
rm -rf "$target/package"
packages=(--package lapwing-core --package lapwing)
cargo package "${packages[@]}" --no-verify --allow-dirty
cargo publish --dry-run "${packages[@]}" --no-verify --allow-dirty

unpacked=$(mktemp -d)
trap 'rm -rf "$unpacked"' EXIT
unpack() { # unpack <package> <folder> <files that are symbolic links in the repository>
    local package=$1 folder="$unpacked/$2" file
    shift 2
    mkdir "$folder"
    tar --extract --gzip --file "$target"/package/"$package"-[0-9]*.crate --directory "$folder" --strip-components 1
    for file in "$@"; do
        # A checkout without symbolic links would pack the name of the file instead of its content.
        cmp "$file" "$folder/$file"
    done
}
unpack lapwing-core core LICENSE-APACHE LICENSE-MIT
unpack lapwing lapwing LICENSE-APACHE LICENSE-MIT README.md README.zh-CN.md

# The library takes the core that was packed with it, which no registry has yet.
printf '[workspace]\nmembers = ["core", "lapwing"]\nresolver = "3"\n[patch.crates-io]\nlapwing-core.path = "core"\n' \
    >"$unpacked/Cargo.toml"
cd "$unpacked"
# A target directory of its own: test programs have the path of their package compiled in.
export CARGO_TARGET_DIR="$unpacked/target"
if [[ ${PACKAGE:-essential} == all ]]; then
    cargo test
else
    cargo check --tests
    cargo test --package lapwing --test sources
fi
echo 'package: core and library compile and pass their tests outside the workspace'
