//! The program `exchange serve`, in a process of its own.

#[cfg(target_os = "linux")]
mod descriptors;
mod ends;
#[cfg(target_os = "linux")]
mod memory;
mod secret;
mod server;
mod sessions;
mod text;

use std::fs;

use exchange::client;

use server::{Server, orders};

#[test]
fn it_ends_by_itself_if_the_disk_fails_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let server = Server::start(&["--folder", path, "--snapshot-every", "100"]);
    let address = &server.address;
    fs::remove_dir_all(folder.path().join("snapshots")).unwrap();

    let (mut sender, mut receiver) = client::connect(&**address).unwrap();
    sender.send(&orders(500)).unwrap();
    while receiver.receive().unwrap().is_some() {} // the connection ends
    let (is_success, complaints) = server.end();
    assert!(!is_success);
    assert!(complaints.starts_with("exchange: cannot make a snapshot: "), "{complaints}");
}

#[test]
fn it_ends_with_its_input() {
    let mut server = Server::start(&[]);
    let address = &server.address;
    let (mut sender, mut receiver) = client::connect(&**address).unwrap();
    let orders = orders(500);
    sender.send(&orders).unwrap();
    let last = orders.len() as u64;
    while receiver.receive().unwrap().unwrap().tag < last {}
    server.close_input();
    assert!(server.value("ended: ").starts_with(&format!("commands={last} hash=")));
    assert_eq!(server.end(), (true, String::new()));
}
