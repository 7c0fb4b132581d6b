//! How many sessions there are, and for how long.

use std::io::{ErrorKind, Read, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

use exchange::client;
use exchange::gateway::wire::Hello;

use super::server::{PATIENCE, Server, ask, in_the_end, program};

#[test]
fn a_client_above_the_limit_is_told_so_and_takes_the_next_place() {
    let server = Server::start(&["--sessions", "2"]);
    let mut clients: Vec<_> = (0..2).map(|_| client::connect(&*server.address).unwrap()).collect();
    for (sender, receiver) in &mut clients {
        ask(sender, receiver).unwrap();
    }
    let mut told = String::new();
    server.connect().read_to_string(&mut told).unwrap();
    assert_eq!(told, "error: the exchange has all its sessions: most=2\n");
    // A client of the binary protocol learns it too.
    let (_sender, mut receiver) = client::connect(&*server.address).unwrap();
    let error = receiver.receive().unwrap_err();
    assert_eq!(error.to_string(), "the exchange has all its sessions: most=2");

    drop(clients.pop());
    in_the_end("the place is free", || server.ask().ok());
    let (sender, receiver) = &mut clients[0];
    ask(sender, receiver).unwrap();
}

#[test]
fn more_sessions_than_descriptors_are_an_error_at_the_start() {
    for (arguments, complaint) in [
        (["--sessions", "0"], "allows 1 to "),
        (["--sessions", "2000000000"], "requested=2000000000"),
        (["--queue", "0"], "at least one answer must be able to wait"),
    ] {
        let refused = program().args(arguments).stdin(Stdio::null()).output().unwrap();
        assert!(!refused.status.success());
        let told = String::from_utf8(refused.stderr).unwrap();
        assert!(told.contains(complaint), "{told}");
    }
}

#[test]
fn a_client_that_is_silent_is_disconnected_unless_it_subscribes_or_sends_heartbeats() {
    let server = Server::start(&["--idle-limit", "4"]);
    let begun = Instant::now();
    let mut subscriber = server.connect();
    subscriber.write_all(bytemuck::bytes_of(&Hello::market_data(7))).unwrap();
    let (mut alive, mut answers) = client::connect(&*server.address).unwrap();
    let (mut sender, mut quiet) = client::connect(&*server.address).unwrap();
    ask(&mut sender, &mut quiet).unwrap();
    let mut silent = server.connect();
    silent.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    // The silent client is cut off. The other one has sent for as long.
    let mut told = String::new();
    while !told.ends_with('\n') {
        assert!(begun.elapsed() < PATIENCE);
        alive.send_heartbeat().unwrap();
        assert!(answers.receive().unwrap().unwrap().is_heartbeat());
        let mut bytes = [0; 100];
        match silent.read(&mut bytes) {
            Ok(read) => told.push_str(std::str::from_utf8(&bytes[..read]).unwrap()),
            // A signal may end a call with a time limit.
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) => panic!("{error}: told={told:?}"),
        }
    }
    assert_eq!(told, "error: nothing has arrived for 4s\n");
    assert!(begun.elapsed() >= Duration::from_secs(4));
    assert_eq!(quiet.receive().unwrap_err().to_string(), "nothing has arrived for 4s");
    ask(&mut alive, &mut answers).unwrap();
    subscriber.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let kind = subscriber.read(&mut [0]).unwrap_err().kind();
    assert_eq!(kind, ErrorKind::WouldBlock); // it is still connected
}

#[test]
#[cfg(target_os = "linux")]
fn the_system_checks_whether_a_silent_client_is_there() {
    let server = Server::start(&[]);
    let client = server.connect();
    let port = |address: std::net::SocketAddr| format!(":{:04X}", address.port());
    let (here, there) = (port(client.peer_addr().unwrap()), port(client.local_addr().unwrap()));
    in_the_end("a timer of keepalive", || {
        let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
        let mut sockets = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let socket = sockets.find(|words| words[1].ends_with(&here) && words[2].ends_with(&there));
        // 02 is the timer of keepalive.
        socket.filter(|words| words[5].starts_with("02:")).map(drop)
    });
}

#[test]
fn a_session_that_ends_gives_back_all_that_it_had() {
    let server = Server::start(&["--sessions", "3"]);
    // Far more than there are places, one after the other.
    for _ in 0..50 {
        in_the_end("a place is free", || server.ask().ok());
        drop(server.connect());
    }
}
