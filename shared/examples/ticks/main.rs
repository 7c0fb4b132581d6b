//! Prices from one process to others. Start `ticks write` in one terminal and `ticks read` in
//! others. Stop or kill any of them, and start it again.

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
