//! Prints the public API of a crate, one item a line, from the JSON that rustdoc has written.
//!
//! Usage: `public_api FILE`. `ci/supply_chain.sh` compares the output with `ci/public_api.txt`.

use std::env;
use std::process::ExitCode;

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
            api.items().for_each(|item| println!("{item}"));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("public_api: {error}");
            ExitCode::FAILURE
        }
    }
}
