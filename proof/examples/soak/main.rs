//! The soak: random rings and channels for minutes or days, under changing load and injected faults,
//! with every event checked.
//!
//! ```sh
//! cargo run --release -p lapwing-proof --example soak -- --minutes 60
//! ```
//!
//! Exit codes: 0 if every promise was kept, 1 after a violation or if the memory grows, 2 for a wrong
//! flag, 130 after Ctrl-C. It needs Linux.

#[cfg(target_os = "linux")]
mod command;

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    command::main()
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!("soak: it stops its own process and takes CPUs away, which needs Linux");
    ExitCode::from(77)
}
