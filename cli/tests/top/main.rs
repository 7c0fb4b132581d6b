//! `lapwing top` beside rings of other processes.

#![cfg(target_os = "linux")]

mod once;
mod pseudo_terminal;
mod ring;
mod terminal;
