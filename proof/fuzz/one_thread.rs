//! Runs scripts on a ring and on the model, and compares them after each step.
#![no_main]

use lapwing_proof::one_thread::{driver, script::Script};

libfuzzer_sys::fuzz_target!(|script: Script| driver::run(&script));
