//! Orders from one process to the stages of a ring in another. Start `stages read` in one terminal and
//! `stages write` in another one, in any order. `write` publishes a million orders and ends.

#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    linux::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("segments are there on Linux only");
}
