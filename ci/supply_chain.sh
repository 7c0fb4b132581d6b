#!/usr/bin/env bash
# Checks what the library takes from others, and what others take from it: its dependencies, their oldest versions, the
# licences and sources of the whole workspace, and its public API, which must be the one in ci/public_api.txt.
#
# Usage: ci/supply_chain.sh            (SUPPLY_CHAIN=all installs cargo-deny if it is missing, which takes minutes)
#        ci/supply_chain.sh --accept   (writes ci/public_api.txt after a change of the API)
#
# Without cargo-deny, the licences and sources are left out. Without a nightly toolchain, the oldest versions and the public
# API are left out, and the script exits with 77.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

left_out=0

has_nightly() {
    if cargo +nightly --version >/dev/null 2>&1; then return 0; fi
    echo "supply_chain: there is no nightly toolchain: ${FUNCNAME[1]} is left out" >&2
    left_out=1
    return 1
}

only_rustix() {
    local expected='bitflags lapwing lapwing-core linux-raw-sys rustix' found
    found=$(cargo tree --locked --package lapwing --edges normal,build --all-features --prefix none --format '{p}' |
        cut -d' ' -f1 | sort -u | xargs)
    if [[ $found != "$expected" ]]; then
        echo "supply_chain: the library depends on '$found', not on '$expected'" >&2
        return 1
    fi
    echo "supply_chain: the library and its core depend on rustix only"
}

licences_and_sources() {
    if ! cargo deny --version >/dev/null 2>&1; then
        if [[ ${SUPPLY_CHAIN:-} != all ]]; then
            echo 'supply_chain: cargo-deny is not installed: licences and sources are left out' >&2
            return 0
        fi
        cargo install cargo-deny --locked
    fi
    # Without the database of advisories, which needs a network.
    cargo deny --offline --log-level error check licenses bans sources
}

# Compiles the packed core and library with the oldest versions that each Cargo.toml allows.
oldest_versions() {
    if ! has_nightly; then return 0; fi
    local unpacked
    unpacked=$(mktemp -d)
    trap 'rm -rf "$unpacked"' RETURN
    CARGO_TARGET_DIR="$unpacked" cargo package --quiet --package lapwing-core --package lapwing --no-verify --allow-dirty
    local package
    for package in lapwing-core lapwing; do
        mkdir "$unpacked/$package"
        tar --extract --gzip --file "$unpacked"/package/"$package"-[0-9]*.crate --directory "$unpacked/$package" \
            --strip-components 1
    done
    # The library takes the core that was packed with it, which no registry has yet.
    printf '\n[patch.crates-io]\nlapwing-core.path = "../lapwing-core"\n' >>"$unpacked/lapwing/Cargo.toml"
    (
        cd "$unpacked/lapwing"
        cargo +nightly update --quiet -Zminimal-versions
        cargo tree --locked --edges normal --depth 1 --prefix none
        cargo check --locked --quiet
    )
    echo 'supply_chain: compiles with the oldest versions that it allows'
}

public_api() {
    if ! has_nightly; then return 0; fi
    local found target="${CARGO_TARGET_DIR:-target}"
    found=$(mktemp)
    trap 'rm -f "$found"' RETURN
    cargo +nightly rustdoc --quiet --locked --package lapwing --lib --target-dir "$target-api" -- \
        -Zunstable-options --output-format json
    if ! cargo run --quiet --package lapwing-proof --example public_api "$target-api/doc/lapwing.json" >"$found"; then
        echo 'supply_chain: the crate public-api does not read the JSON of this nightly: the API is not compared' >&2
        left_out=1
        return 0
    fi
    if [[ ${1:-} == --accept ]]; then cp "$found" ci/public_api.txt; fi
    diff --unified=0 ci/public_api.txt "$found" || {
        echo 'supply_chain: the public API has changed: say so in CHANGELOG.md, and run ci/supply_chain.sh --accept' >&2
        return 1
    }
    echo "supply_chain: the public API has the $(wc -l <"$found") items of ci/public_api.txt"
}

only_rustix
licences_and_sources
oldest_versions
public_api "$@"
if ((left_out)); then exit 77; fi
