# The nightly toolchain of the checks that need one. To be sourced.

# Installs the nightly toolchain, unless there is one, and these COMPONENTs. Says what is missing if it fails.
install_nightly() {
    local check
    check=$(basename "$0" .sh)
    if ! command -v rustup >/dev/null; then
        echo "$check: skipped: rustup is not installed" >&2
        return 1
    fi
    if ! rustup run nightly rustc --version >/dev/null 2>&1 &&
        ! timeout 300 rustup toolchain install nightly --profile minimal --no-self-update; then
        echo "$check: skipped: cannot install a nightly toolchain" >&2
        return 1
    fi
    if ! timeout 300 rustup +nightly component add "$@"; then
        echo "$check: skipped: this nightly toolchain has no $*" >&2
        return 1
    fi
}
