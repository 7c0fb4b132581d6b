//! Children that exit, hang or send invalid replies: shell scripts instead of rivals.
#![cfg(unix)]

use std::io::Write;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::child::{Child, ChildError};
use super::{CppRival, JavaRival, Program, ToolError};

/// The timeout for a child that hangs.
const SHORT: Duration = Duration::from_millis(200);
/// The timeout for a child that answers, on a busy machine.
const LONG: Duration = Duration::from_secs(60);

/// Creates a child that is a shell script.
fn child(script: &str) -> Child {
    Child::start(Command::new("sh").args(["-c", script])).unwrap()
}

#[test]
fn each_request_has_its_reply() {
    let mut echo = child("while read line; do echo \"you said $line\"; done");
    for word in ["one", "two", "three"] {
        assert_eq!(echo.ask(word, LONG).unwrap(), format!("you said {word}"));
    }
}

#[test]
fn a_child_that_ends_is_quoted() {
    let mut dying = child("read line; echo; echo first >&2; echo second >&2; exit 3");
    assert_eq!(dying.ask("anything", LONG).unwrap(), "");
    let error = dying.ask("more", LONG).unwrap_err();
    assert_eq!(error.to_string(), "the process ended: first");

    let error = child("exit 0").ask("anything", LONG).unwrap_err();
    assert_eq!(error.to_string(), "the process ended: it said nothing");
}

#[test]
fn a_child_that_hangs_is_given_up_and_ended() {
    let started = Instant::now();
    let mut hanging = child("read line; exec sleep 1000");
    let error = hanging.ask("anything", SHORT).unwrap_err();
    assert!(matches!(error, ChildError::Silent { .. }), "{error}");
    drop(hanging); // waits for its end
    assert!(started.elapsed() < LONG);
}

#[test]
fn a_reply_that_nobody_asked_for_is_no_answer_to_the_next_request() {
    let mut talker = child("read line; echo one; echo two; read line; echo three");
    assert_eq!(talker.ask("anything", LONG).unwrap(), "one");
    // The second line arrives later. It is never used as the reply.
    let started = Instant::now();
    while started.elapsed() < LONG {
        match talker.ask("", SHORT) {
            Err(ChildError::Nonsense(line)) => return assert_eq!(line, "two"),
            Ok(line) => return assert_eq!(line, "two", "it came while the reply was waited for"),
            Err(_) => {}
        }
    }
    panic!("the second line never came");
}

#[test]
fn a_missing_program_is_an_error_value() {
    let error = Child::start(&mut Command::new("no-such-program")).unwrap_err();
    assert!(error.to_string().starts_with("cannot start no-such-program: "), "{error}");
}

/// Asserts that a child ends when its input closes, in the middle of a run of an hour. Skipped if
/// the tools are missing.
fn assert_ends_with_its_input(built: Result<Program, ToolError>) {
    let program = match built {
        Ok(program) => program,
        Err(reason) => return eprintln!("skipped: {reason}"),
    };
    let mut command = program.command();
    let mut process = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut input = process.stdin.take().unwrap();
    writeln!(input, "latency 1000000 3600000 64 free").unwrap();
    drop(input);

    let started = Instant::now();
    while process.try_wait().unwrap().is_none() {
        if started.elapsed() > LONG {
            process.kill().unwrap();
            panic!("the child goes on without its input");
        }
        thread::yield_now();
    }
}

#[test]
fn a_rival_ends_with_its_input() {
    assert_ends_with_its_input(CppRival::MutexQueue.build());
    assert_ends_with_its_input(JavaRival::ArrayBlockingQueue.build());
}

#[test]
fn a_rival_refuses_what_it_does_not_know() {
    for built in [CppRival::Bare.build(), JavaRival::Bare.build()] {
        let Ok(program) = built.map_err(|reason| eprintln!("skipped: {reason}")) else { continue };
        let mut child = Child::start(&mut program.command()).unwrap();
        for request in ["sing", "run unicast 10 8 8 one free", "ping-pong 1 many free"] {
            let reply = child.ask(request, LONG).unwrap();
            assert!(reply.starts_with("error "), "{request}: {reply}");
        }
        assert!(child.ask("ping-pong 1 5 free", LONG).unwrap().ends_with(" 15"));
    }
}
