//! Whether a graph may be built: names, ids, and that nobody writes beside another stage.

use std::collections::{HashMap, HashSet};

use super::graph::Node;
use super::stage::Stage;
use super::workers::Workers;
use crate::control::{StageIndex, ancestors};
use crate::error::BuildError;

/// Checks `nodes` and returns the stages that each one comes after.
///
/// # Errors
///
/// The first of the graph's faults, in the order of its stages.
pub(super) fn check<E>(nodes: &[Node<'_, E>]) -> Result<Vec<Box<[StageIndex]>>, BuildError> {
    if nodes.is_empty() {
        return Err(BuildError::NoConsumers);
    }
    let mut names = HashSet::new();
    let mut upstream = Vec::with_capacity(nodes.len());
    for node in nodes {
        let stage = &node.stage;
        let name = || stage.name.clone();
        if !is_thread_name(&stage.name) {
            return Err(BuildError::InvalidName { stage: name() });
        }
        if !names.insert(name()) {
            return Err(BuildError::DuplicateName { stage: name() });
        }
        if let Some(workers) = node.workers() {
            check_workers(stage, workers, &mut names)?;
        }
        if stage.max_batch == Some(0) {
            return Err(BuildError::ZeroMaxBatch { stage: name() });
        }
        let Some(after) = &node.upstream else {
            return Err(BuildError::UnknownStage { stage: name() });
        };
        upstream.push(after.clone().into_boxed_slice());
    }
    check_threads(nodes)?;
    check_exclusive(nodes, &ancestors(&upstream))?;
    Ok(upstream)
}

/// A group has as many workers as it may, and each has a name that nobody else has.
fn check_workers<E>(
    stage: &Stage,
    workers: &Workers<E>,
    names: &mut HashSet<String>,
) -> Result<(), BuildError> {
    if workers.max().is_none() {
        let (requested, max) = workers.out_of_range();
        return Err(BuildError::Workers { stage: stage.name.clone(), requested, max });
    }
    for name in workers.names(&stage.name) {
        if !names.insert(name.clone()) {
            return Err(BuildError::DuplicateName { stage: name });
        }
    }
    Ok(())
}

/// A thread needs a name that it can have, and one CPU at most.
fn check_threads<E>(nodes: &[Node<'_, E>]) -> Result<(), BuildError> {
    let mut pins = HashMap::new();
    for Stage { name, thread, pin, .. } in nodes.iter().map(|node| &node.stage) {
        let thread = thread.as_ref().unwrap_or(name);
        if !is_thread_name(thread) {
            return Err(BuildError::InvalidName { stage: thread.clone() });
        }
        if let Some(second) = *pin {
            let first = *pins.entry(thread).or_insert(second);
            if first != second {
                let (thread, cpus) = (thread.clone(), (first, second));
                return Err(BuildError::TwoPins { thread, cpus });
            }
        }
    }
    Ok(())
}

/// Whether a thread can have this name.
pub(super) fn is_thread_name(name: &str) -> bool {
    !name.is_empty() && !name.contains('\0')
}

/// A stage that writes must be before or after each other stage.
fn check_exclusive<E>(
    nodes: &[Node<'_, E>],
    ancestors: &[Box<[StageIndex]>],
) -> Result<(), BuildError> {
    for (writer, node) in nodes.iter().enumerate().filter(|(_, node)| node.is_exclusive) {
        let is_beside = |&other: &usize| {
            other != writer
                && !ancestors[writer].contains(&other)
                && !ancestors[other].contains(&writer)
        };
        if let Some(other) = (0..nodes.len()).find(is_beside) {
            return Err(BuildError::Overlap {
                exclusive: node.stage.name.clone(),
                other: nodes[other].stage.name.clone(),
            });
        }
    }
    Ok(())
}
