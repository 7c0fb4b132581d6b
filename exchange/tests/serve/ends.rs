//! What ends the program, and what does not.

use std::io::{Read, Write};
use std::process::{Command as Process, Stdio};

use super::server::{Server, in_the_end, program};

fn kill(signal: &str, id: u32) {
    let done = Process::new("kill").args([signal, &id.to_string()]).status().unwrap();
    assert!(done.success());
}

#[test]
fn a_signal_ends_it_as_the_end_of_its_input_does() {
    for signal in ["-TERM", "-INT"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap();
        let mut server = Server::start(&["--folder", path]);
        server.ask().unwrap();
        for _ in 0..3 {
            kill(signal, server.id()); // some programs send it more than once
        }
        assert!(server.value("ended: ").starts_with("commands=1 hash="));
        assert_eq!(server.end(), (true, String::new()));
    }
}

#[test]
fn a_closed_input_is_no_end_of_a_service() {
    let file = tempfile::tempfile().unwrap();
    let mut closed = Process::new("sh");
    closed.args(["-c", "exec \"$0\" \"$@\" <&-"]);
    closed.arg(program().get_program()).args(program().get_args());
    let mut services = [program(), program(), closed];
    services[0].stdin(Stdio::null());
    services[1].stdin(file);
    for service in &mut services {
        let mut server = Server::spawn(service);
        // Until its input has been read.
        for _ in 0..20 {
            server.ask().unwrap();
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        kill("-TERM", server.id());
        assert!(server.value("ended: ").starts_with("commands=20 "));
        assert_eq!(server.end(), (true, String::new()));
    }
}

#[test]
fn a_reader_of_the_output_that_leaves_is_no_panic() {
    let server = Server::start(&[]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let load = Process::new(env!("CARGO_BIN_EXE_exchange"))
        .args(["load", "--address", &server.address, "--rate", "1000", "--seconds", "0.1"])
        .stdout(writer)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(load.stderr).unwrap(), "");
    assert!(load.status.success());
}

#[test]
fn a_server_ends_well_if_nothing_reads_what_it_prints() {
    let (reader, writer) = std::io::pipe().unwrap();
    let mut process = program();
    let mut process = process.stdin(Stdio::piped()).stdout(writer).spawn().unwrap();
    drop(reader);
    drop(process.stdin.take());
    assert!(process.wait().unwrap().success());
}

/// Sessions that ended with an error waited for it, and kept their places and the end.
#[test]
fn a_reader_of_the_complaints_that_stops_reading_stopped_sessions_and_the_end() {
    const CLIENTS: usize = 1_200; // more than a pipe and the notes that wait hold
    let mut server = Server::start(&["--sessions", "20"]);
    for _ in 0..CLIENTS {
        in_the_end("a client is told why its session ends", || {
            let mut client = server.connect();
            client.write_all(b"\0not a hello of the protocol").unwrap();
            let mut told = String::new();
            let read = client.read_to_string(&mut told);
            // A place is free a moment after a session ends.
            (read.is_ok() && !told.contains("all its sessions")).then_some(())
        });
    }
    in_the_end("it serves", || server.ask().ok());
    kill("-TERM", server.id());
    assert!(server.value("ended: ").starts_with("commands=1 hash="));
    let (is_success, complaints) = server.end();
    assert!(is_success);
    let lines = complaints.lines().filter(|line| line.contains("unknown version or kind")).count();
    assert!((1..CLIENTS).contains(&lines), "lines={lines}");
}
