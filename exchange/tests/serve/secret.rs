//! The program `exchange secret`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command as Process, Output};

fn secret(actor: &str, file: &Path) -> Output {
    let mut program = Process::new(env!("CARGO_BIN_EXE_exchange"));
    program.args(["secret", actor]).arg(file).output().unwrap()
}

/// Returns the actors of a file of secrets.
fn actors(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    text.lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect()
}

/// It appended a second line, with which no client could log in.
#[test]
fn a_second_secret_of_an_actor_made_the_file_invalid() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secrets");
    for actor in ["operator", "17", "5"] {
        assert!(secret(actor, &file).status.success());
    }
    let before = fs::read_to_string(&file).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    assert!(secret("17", &file).status.success());
    let after = fs::read_to_string(&file).unwrap();
    assert_eq!(actors(&file), ["operator", "17", "5"]);
    let changed = before.lines().zip(after.lines()).map(|(before, after)| before != after);
    assert_eq!(changed.collect::<Vec<_>>(), [false, true, false]);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left over");
}

/// It joined the new line to the last one.
#[test]
fn a_secret_behind_a_line_without_an_end_made_the_file_invalid() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secrets");
    let operator = format!("# ours\noperator {}", "0".repeat(64));
    fs::write(&file, &operator).unwrap();
    assert!(secret("5", &file).status.success());
    assert_eq!(actors(&file), ["#", "operator", "5"]);
    assert!(fs::read_to_string(&file).unwrap().starts_with(&format!("{operator}\n5 ")));
}

#[test]
fn a_file_of_secrets_that_is_invalid_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secrets");
    fs::write(&file, "operator 12\n").unwrap();
    let refused = secret("5", &file);
    assert!(!refused.status.success() && refused.stdout.is_empty());
    let told = String::from_utf8(refused.stderr).unwrap();
    assert!(told.contains("64 hexadecimal digits expected: length=2: line=1"), "{told}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "operator 12\n");
}
