//! A process that runs out of file descriptors.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;
use std::{fs, thread};

use exchange::client;
use exchange::gateway::wire::Hello;
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

use super::server::{Server, ask, in_the_end, orders};

/// A limit below all descriptors that a server has: it gets no other one.
const NONE: u64 = 3;

/// Sets the limit of descriptors of a server, and returns the one that it had.
fn limit(server: &Server, descriptors: u64) -> u64 {
    let id = Pid::from_raw(server.id().cast_signed()).unwrap();
    let maximum = getrlimit(Resource::Nofile).maximum; // the server has inherited it
    let new = Rlimit { current: Some(descriptors), maximum };
    prlimit(Some(id), Resource::Nofile, new).unwrap().current.unwrap()
}

#[test]
fn clients_are_served_after_more_have_come_than_there_are_descriptors() {
    let server = Server::start_limited(60, &[]);
    let (mut sender, mut receiver) = client::connect(&*server.address).unwrap();
    ask(&mut sender, &mut receiver).unwrap();
    let mut clients: Vec<TcpStream> = Vec::new();
    for _ in 0..80 {
        let mut client = server.connect();
        let _ = client.write_all(bytemuck::bytes_of(&Hello::orders())); // it may be refused
        clients.push(client);
    }
    ask(&mut sender, &mut receiver).unwrap();
    drop(clients);
    in_the_end("a new client is served", || server.ask().ok());
    ask(&mut sender, &mut receiver).unwrap();
}

#[test]
fn a_shutdown_without_a_descriptor_ends() {
    let mut server = Server::start(&[]);
    server.ask().unwrap();
    limit(&server, NONE);
    server.close_input();
    assert!(server.end().0);
}

#[test]
fn a_snapshot_without_a_descriptor_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let mut server = Server::start(&["--folder", path, "--snapshot-every", "100"]);
    let (mut sender, mut receiver) = client::connect(&*server.address).unwrap();
    let orders = orders(1_000);
    let (early, late) = orders.split_at(500);
    let mut send = |orders: &[_], last| {
        sender.send(orders).unwrap();
        while receiver.receive().unwrap().expect("the exchange goes on").tag < last {}
    };
    let old = limit(&server, NONE);
    send(early, 500);
    assert!(server.is_running());
    limit(&server, old);
    send(late, orders.len() as u64);
    let snapshots = folder.path().join("snapshots");
    let mut number = orders.len() as u64;
    in_the_end("a later snapshot is written", || {
        // The thread of snapshots may still have been busy with an earlier one.
        number += 1;
        ask(&mut sender, &mut receiver).unwrap();
        let names = fs::read_dir(&snapshots).unwrap().map(|entry| entry.unwrap().file_name());
        names.into_iter().find(|name| name.to_string_lossy().ends_with(".snapshot"))
    });
    server.close_input();
    assert!(server.end().0);
}

#[test]
fn a_client_that_finds_no_descriptor_is_served_later_even_if_nothing_reads_the_complaint() {
    let mut server = Server::start(&[]);
    server.ask().unwrap();
    server.close_complaints();
    let old = limit(&server, NONE);
    let waiting = server.connect();
    thread::sleep(Duration::from_millis(200)); // the server tries to accept it
    limit(&server, old);
    drop(waiting);
    in_the_end("a new client is served", || server.ask().ok());
}
