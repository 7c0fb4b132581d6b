//! `exchange secret`: makes a secret for the operator or for an account.

use std::path::PathBuf;

use exchange::gateway::{Actor, Login, Secret, set_secret};

use super::Result;

/// For what the secret is, and where the exchange reads its hash.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The word `operator`, or the number of an account.
    actor: Actor,
    /// The file of secrets. It gets a line with the hash, in place of an earlier line of the actor. An
    /// exchange that runs reads it again.
    file: PathBuf,
}

/// Puts the hash into the file, and prints what the client needs.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let Arguments { actor, file } = arguments;
    let secret = Secret::generate()?;
    set_secret(file, *actor, &secret)?;
    println!("{actor} {}", secret.to_hex());
    Ok(())
}

/// What a client of an exchange with secrets logs in with.
#[derive(Debug, clap::Args)]
pub(crate) struct LoginArguments {
    /// A file with what `exchange secret` has printed, for an exchange with secrets.
    #[arg(long)]
    login: Option<PathBuf>,
}

impl LoginArguments {
    /// Reads the file.
    pub(crate) fn read(&self) -> Result<Option<Login>> {
        let Some(path) = &self.login else { return Ok(None) };
        let named = |error: &dyn std::error::Error| format!("{}: {error}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| named(&error))?;
        let login = text.trim().parse().map_err(|error| named(&error))?;
        Ok(Some(login))
    }
}
