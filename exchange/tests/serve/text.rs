//! The line protocol, and errors of both protocols.

use std::io::{Read, Write};
use std::net::Shutdown;

use exchange::gateway::wire::{Answer, Hello};

use super::server::{Server, rejected};

const SET_UP: &str = "symbol 0 1 1000 100\naccount 1\ndeposit 10000 1\nlimits 9 99 99 9999 1\n";

impl Server {
    /// Sends bytes and no more. Returns the lines that come back, without those of levels.
    fn say(&self, bytes: &[u8]) -> Vec<String> {
        let mut socket = self.connect();
        socket.write_all(bytes).unwrap();
        socket.shutdown(Shutdown::Write).unwrap();
        let mut told = String::new();
        socket.read_to_string(&mut told).unwrap();
        told.lines().filter(|line| !line.starts_with("level")).map(str::to_owned).collect()
    }

    /// Sends bytes in a binary session, and no more. Returns what comes back.
    fn send(&self, bytes: &[u8]) -> Vec<u8> {
        let mut socket = self.connect();
        socket.write_all(bytemuck::bytes_of(&Hello::orders())).unwrap();
        socket.write_all(bytes).unwrap();
        socket.shutdown(Shutdown::Write).unwrap();
        let mut told = Vec::new();
        socket.read_to_end(&mut told).unwrap();
        told
    }
}

#[test]
fn a_line_without_its_end_is_not_carried_out() {
    let server = Server::start(&[]);
    let told = server.say(format!("{SET_UP}buy 5 at 10 0 1 1\ncancel 0 1 1").as_bytes());
    assert_eq!(told[4], "accepted buy 5 at 10 0 1 1");
    assert_eq!(told[5], "error: the connection has ended within the line: line=6");
    assert_eq!(server.say(b"cancel 0 1 1\n"), ["cancelled buy 5 at 10 0 1 1: requested"]);
}

#[test]
fn an_error_comes_behind_the_answers_to_the_lines_before_it_with_its_number() {
    let folder = tempfile::tempdir().unwrap(); // answers wait for a disk
    let server = Server::start(&["--folder", folder.path().to_str().unwrap()]);
    let mut lines = SET_UP.to_owned();
    let mut expected = 4;
    for order in 1..=200 {
        lines += &format!("buy 1 at 1 0 1 {order}\nbuy many\n\n");
        expected += 2;
    }
    let told = server.say(lines.as_bytes());
    assert_eq!(told.len(), expected);
    for (index, pair) in told[4..].chunks(2).enumerate() {
        let (order, line) = (index + 1, 4 + 3 * index + 2);
        let starts = [format!("buy 1 at 1 0 1 {order}"), format!("order {order} of account 1")];
        assert!(starts.iter().any(|start| pair[0].contains(start)), "{pair:?}");
        assert_eq!(pair[1], format!("error: QUANTITY expected: found=\"many\": line={line}"));
    }
}

#[test]
fn a_line_that_is_not_utf_8_is_an_error_and_the_next_one_is_carried_out() {
    let server = Server::start(&[]);
    let told = server.say(b"account 1\naccount \xFF2\naccount 3\n");
    assert_eq!(
        told,
        ["added account 1", "error: the line is not UTF-8: line=2", "added account 3"]
    );
}

#[test]
fn a_line_that_is_too_long_ends_the_session_with_an_error() {
    let server = Server::start(&[]);
    let told = server.say(&[b"account 1\n".as_slice(), &[b'x'; 2_000], b"\naccount 2\n"].concat());
    assert_eq!(told, ["added account 1", "error: the line is longer than 512 bytes: line=2"]);
}

#[test]
fn tag_0_ends_the_session_with_an_error_behind_the_answers() {
    let server = Server::start(&[]);
    let mut without_tag = rejected();
    without_tag.tag = 0;
    let orders = [rejected(), without_tag, rejected()];
    let mut told = server.send(bytemuck::cast_slice(&orders));
    let line = told.split_off(size_of::<Answer>());
    let error = "error: tag 0 is that of notices: commands have others\n";
    assert_eq!(String::from_utf8(line).unwrap(), error);
    let answer: Answer = bytemuck::pod_read_unaligned(&told);
    assert_eq!((answer.tag, answer.is_last), (1, 1));
}

#[test]
fn a_cut_record_is_not_carried_out_and_is_an_error() {
    let server = Server::start(&[]);
    let orders = [rejected(); 2];
    let mut told = server.send(&bytemuck::cast_slice(&orders)[..70]);
    let line = told.split_off(size_of::<Answer>());
    let error = "error: the connection has ended within a record\n";
    assert_eq!(String::from_utf8(line).unwrap(), error);
}
