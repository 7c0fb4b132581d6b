use super::*;
use crate::faults::{Crash, Loss};

const FOLDER: &str = "/j";

/// `/j/a` in hexadecimal, as `strace` writes it.
const A: &str = r#""\x2f\x6a\x2f\x61""#;
const B: &str = r#""\x2f\x6a\x2f\x62""#;

fn recording(traces: &[&str]) -> Recording {
    let mut recording = Recording::new(&[Path::new(FOLDER)]);
    for trace in traces {
        let trace = trace.replace("[A]", A).replace("[B]", B).replace("[J]", r#""\x2f\x6a""#);
        recording.add(&trace).unwrap();
    }
    recording
}

/// What a power cut leaves after all lines, if it loses what is unsynced.
fn left(recording: &Recording, moment: usize) -> Vec<(String, Vec<u8>)> {
    let disk = recording.disk(Path::new(FOLDER), moment);
    disk.crash(Crash::Power { seed: 0, loss: Loss::All });
    let names = disk.names().into_iter();
    names.map(|name| (name.clone(), disk.contents(&name).unwrap())).collect()
}

fn file(name: &str, contents: &[u8]) -> Vec<(String, Vec<u8>)> {
    vec![(name.to_owned(), contents.to_vec())]
}

#[test]
fn a_sync_covers_what_had_ended_when_it_began_once_it_has_returned() {
    let recording = recording(&[r#"1 openat(AT_FDCWD, [J], O_RDONLY|O_DIRECTORY) = 4
1 openat(4, "\x61", O_RDWR|O_CREAT|O_EXCL, 0666) = 3
1 fsync(4) = 0
1 pwrite64(3, "\x41", 1, 0) = 1
2 pwrite64(3, "\x42", 1, 1 <unfinished ...>
1 fdatasync(3 <unfinished ...>
2 <... pwrite64 resumed>) = 1
1 <... fdatasync resumed>) = 0
1 fdatasync(3) = 0 (DELAYED)"#]);
    assert_eq!(left(&recording, 1), []);
    assert_eq!(left(&recording, 6), file("a", b""));
    assert_eq!(left(&recording, 7), file("a", b"A"));
    assert_eq!(left(&recording, 8), file("a", b"AB"));
}

#[test]
fn a_file_keeps_its_identity_when_its_name_changes() {
    let recording = recording(&[r#"1 openat(AT_FDCWD, [A], O_RDWR|O_CREAT, 0666) = 3
1 openat(AT_FDCWD, [J], O_RDONLY) = 4
1 fallocate(3, 0, 0, 2) = 0
1 rename([A], [B]) = 0
1 pwritev(3, [{iov_base="\x41", iov_len=1}, {iov_base="\x42\x43", iov_len=2}], 2, 0) = 2
1 fsync(3) = 0
1 fsync(4) = 0
1 unlinkat(AT_FDCWD, [B], 0) = -1 EACCES (Permission denied)"#]);
    assert_eq!(left(&recording, 7), file("b", b"AB"));
}

/// The next program gets the same numbers for other files.
#[test]
fn what_a_killed_program_has_not_synced_stays_unsynced() {
    let recording = recording(&[
        r#"1 openat(AT_FDCWD, [A], O_RDWR|O_CREAT, 0666) = 3
1 write(3, "\x41", 1) = 1
1 fsync(3 <unfinished ...>"#,
        r#"1 openat(AT_FDCWD, [J], O_RDONLY) = 3
1 fsync(3) = 0
1 write(1, "\x6f\x6b", 2) = 2"#,
    ]);
    assert_eq!(left(&recording, 5), file("a", b""));
    assert_eq!(recording.sent().collect::<Vec<_>>(), [(5, 1, &b"ok"[..])]);
}

#[test]
fn a_folder_is_synced_if_the_one_above_it_is() {
    let recording = recording(&[r#"1 mkdir([J], 0777) = 0
1 openat(AT_FDCWD, "\x2f", O_RDONLY) = 3
1 fsync(3) = 0"#]);
    assert_eq!(recording.unsynced_folder(1), Some(Path::new(FOLDER)));
    assert_eq!(recording.unsynced_folder(2), None);
}

#[test]
fn what_is_not_understood_is_an_error() {
    for call in [
        r#"openat(AT_FDCWD, [A], O_RDWR) = 3"#,
        r#"openat(AT_FDCWD, [A], O_RDWR|O_CREAT|O_TRUNC) = 3"#,
        r#"write(3, "\x41"..., 2) = 2"#,
        r#"creat([A], 0666) = 3"#,
    ] {
        let call = format!("1 {}", call.replace("[A]", A));
        Recording::new(&[Path::new(FOLDER)]).add(&call).unwrap_err();
    }
}
