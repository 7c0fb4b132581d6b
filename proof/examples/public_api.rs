//! Prints the public API of a crate, one item a line, from the JSON that rustdoc has written.
//!
//! Usage: `public_api FILE`. `ci/supply_chain.sh` compares the output with `ci/public_api.txt`. Items of `core` and `alloc`
//! have the prefix `std`, since the crate that defines an item can change with the version of Rust.

use std::env;
use std::process::ExitCode;

/// Replaces the crates `core` and `alloc` by `std`, which has the same items.
fn with_std(item: &str) -> String {
    let parts = item.split_inclusive(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
    let rename = |part: &str| match part.split_once("::") {
        Some(("core" | "alloc", rest)) => format!("std::{rest}"),
        _ => part.to_owned(),
    };
    parts.map(rename).collect()
}

fn main() -> ExitCode {
    let Some(file) = env::args_os().nth(1) else {
        eprintln!("usage: public_api FILE");
        return ExitCode::FAILURE;
    };
    let api = public_api::Builder::from_rustdoc_json(file)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build();
    match api {
        Ok(api) => {
            api.items().for_each(|item| println!("{}", with_std(&item.to_string())));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("public_api: {error}");
            ExitCode::FAILURE
        }
    }
}
