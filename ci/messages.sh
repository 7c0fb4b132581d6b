#!/usr/bin/env bash
# Does rustc explain the usual mistakes in the words of this library? Compiles one wrong program for each, and searches what
# rustc says for the line that helps.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target="${CARGO_TARGET_DIR:-target}-messages"
program=$(mktemp -d)
trap 'rm -rf "$program"' EXIT
mkdir "$program/src"
cat >"$program/Cargo.toml" <<TOML
[package]
name = "mistake"
edition = "2024"
[dependencies]
lapwing = { path = "$PWD/lapwing" }
[workspace]
TOML

# Compiles the body of a `main` from standard input, which must fail with a message that contains each argument.
explains() {
    local said phrase
    {
        echo '#![allow(unused)]'
        echo 'use lapwing::{Disruptor, EventHandler, Sequence, consumer::Exclusive};'
        cat
    } >"$program/src/main.rs"
    if said=$(CARGO_TARGET_DIR="$target" cargo check --quiet --manifest-path "$program/Cargo.toml" 2>&1); then
        printf 'messages: this compiles:\n%s\n' "$(cat "$program/src/main.rs")" >&2
        exit 1
    fi
    for phrase in "$@"; do
        if ! grep --quiet --fixed-strings -- "$phrase" <<<"$said"; then
            printf 'messages: rustc does not say "%s", but:\n%s\n' "$phrase" "$said" >&2
            exit 1
        fi
    done
    echo "messages: $1"
}

explains 'is not a handler for this verb' 'pass a closure to `read` or `write`' <<'RUST'
fn main() {
    let _ = Disruptor::single_producer(8, || 0_u64).stage("a").read_handler(|_: &u64, _: Sequence, _: bool| {});
}
RUST

explains 'is not a handler for this verb' 'one of `read_handler`' <<'RUST'
struct Double;
impl EventHandler<u64, Exclusive> for Double {
    fn on_event(&mut self, event: &mut u64, _: Sequence, _: bool) { *event *= 2 }
}
fn main() {
    let _ = Disruptor::single_producer(8, || 0_u64).stage("a").read_handler(Double);
}
RUST

explains '`Single: Clone`' 'which is required by `Producer<u64, Single>: Clone`' <<'RUST'
fn main() {
    let (producer, _) = Disruptor::single_producer(8, || 0_u64).stage("a").poller().build().unwrap();
    let second = producer.clone();
}
RUST

explains 'a stage beside others cannot change events' 'before or after the stages side by side' <<'RUST'
fn main() {
    let _ = Disruptor::single_producer(8, || 0_u64)
        .parallel(|parallel| parallel.stage("a").write(|event, _, _| *event += 1).stage("b").poller());
}
RUST

explains 'cannot assign' <<'RUST'
fn main() {
    let _ = Disruptor::single_producer(8, || 0_u64).stage("a").read(|event, _, _| *event += 1);
}
RUST

explains 'sum' <<'RUST'
fn main() {
    let mut sum = 0;
    let (_, consumers) =
        Disruptor::single_producer(8, || 0_u64).stage("a").read(|event, _, _| sum += event).build().unwrap();
    let running = consumers.start().unwrap();
    println!("{sum}");
}
RUST
