# The programs that several checks run. To be sourced.

# Builds all binaries and examples, in the profile dev or in the one that is given. The selection is that of `cargo test
# --workspace`: another one would enable other features and build everything again.
build_programs() {
    cargo build --profile "${1:-dev}" --workspace --bins --examples
}
