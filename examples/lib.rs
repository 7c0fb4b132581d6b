//! Small programs, each one idea; run one with `cargo run --release --example NAME`.
