//! The rings that the tests of threads use, each from a line of text, and their threads as text.

use crate::common::Kind;
use lapwing::graph::Placement;
use lapwing::{Builder, Consumers, Sequence, Stage};

/// What the stages do that are there for their threads only.
pub(crate) fn nothing(_: &u64, _: Sequence, _: bool) {}

/// A placement on `count` threads.
pub(crate) fn threads(count: usize) -> Placement {
    Placement::threads(count)
}

/// Returns the stage of a word: "a", "disk!" which is blocking, "ticks?", "e@x" on thread "x".
pub(crate) fn stage(word: &str) -> Stage {
    let (name, thread) = word.split_once('@').unwrap_or((word, ""));
    let stage = Stage::new(name.trim_end_matches(['!', '?']));
    let stage = if name.ends_with('!') { stage.may_block() } else { stage };
    if thread.is_empty() { stage } else { stage.on_thread(thread) }
}

/// A ring of 8 with these stages in a row. A word is that of a [`stage`], and "ticks?" is a poller.
/// "hot#1" is pinned to CPU 1, "w*2" are two workers, "w*1..3" is one that may become three, and
/// "w*2#4,5" are two with these pins.
pub(crate) fn ring<'env, K: Kind>(
    placement: Placement,
    shape: &str,
) -> Builder<'env, u64, K::Sequencer> {
    let cpus = |list: &str| list.split(',').map(|cpu| cpu.parse().unwrap()).collect::<Vec<usize>>();
    shape.split(' ').fold(K::ring(8, || 0_u64).placement(placement), |ring, word| {
        let (word, pins) = word.split_once('#').unwrap_or((word, ""));
        let (word, workers) = word.split_once('*').unwrap_or((word, ""));
        let stage = stage(word);
        if !workers.is_empty() {
            let (count, most) = workers.split_once("..").unwrap_or((workers, workers));
            let group = ring.stage(stage).workers(count.parse().unwrap());
            let group = if count == most { group } else { group.up_to(most.parse().unwrap()) };
            let group = if pins.is_empty() { group } else { group.pin(cpus(pins)) };
            return group.read(|_| nothing);
        }
        let stage = if pins.is_empty() { stage } else { stage.pin(cpus(pins)[0]) };
        if word.ends_with('?') {
            ring.stage(stage).poller()
        } else {
            ring.stage(stage).read(nothing)
        }
    })
}

/// Returns the threads as text: "ring-0: a b; c: c".
pub(crate) fn threads_of(consumers: &Consumers<'_, u64>) -> String {
    let of_thread = |(thread, stages): (&str, Vec<&str>)| format!("{thread}: {}", stages.join(" "));
    consumers.threads().map(of_thread).collect::<Vec<_>>().join("; ")
}
