//! Checks a graph before it is built: names, ids, settings, and that no stage writes beside another
//! stage.

use std::collections::HashSet;

use lapwing_core::{StageIndex, ancestors};

use super::graph::{Body, Graph, Node};
use super::settings::Settings;
use super::team::Team;
use crate::error::BuildError;
use crate::placement::is_thread_name;

/// Checks the stages of `graph`, and returns the stages that each one depends on.
///
/// # Errors
///
/// The first fault of the graph, in the order of its stages.
pub(super) fn check<'env, E: Send + 'env>(
    graph: &Graph<'env, E>,
) -> Result<Vec<Box<[StageIndex]>>, BuildError> {
    let nodes = &graph.nodes;
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
        check_settings(node)?;
        let after = graph.upstream(node);
        let after = after.ok_or_else(|| BuildError::UnknownStage { stage: name() })?;
        check_dependencies(nodes, stage, &after)?;
        upstream.push(after);
    }
    if let Some(stages) = graph.cycle.clone() {
        return Err(BuildError::Cycle { stages });
    }
    check_exclusive(nodes, &ancestors(&upstream))?;
    Ok(upstream)
}

/// Checks that no setting of a stage is without effect.
fn check_settings<E>(node: &Node<'_, E>) -> Result<(), BuildError> {
    let Node { stage, part } = node;
    let (abilities, has_handler) = (part.abilities, !matches!(part.body, Body::Poller));
    let (on_error, on_panic) = (stage.on_error.is_some(), stage.on_panic.is_some());
    // Each setting, whether it is set, whether the stage has what it needs, and what that is.
    let settings = [
        (
            "timeout_after",
            stage.timeout.is_some(),
            abilities.hears_timeouts,
            "a handler with `on_timeout`",
        ),
        ("on_error", on_error, abilities.returns_errors, "a handler that returns a `Result`"),
        ("on_panic", on_panic, has_handler, "a handler"),
        ("with_failed_events", stage.takes_failed, has_handler, "a handler"),
        ("pin", stage.pin.is_some(), has_handler, "a thread"),
        ("on_thread", stage.thread.is_some(), has_handler, "a thread"),
        ("may_block", stage.is_blocking, has_handler, "a thread"),
    ];
    let unused = settings.into_iter().find(|&(_, is_set, is_followed, _)| is_set && !is_followed);
    unused.map_or(Ok(()), |(setting, _, _, needs)| {
        Err(BuildError::UnusedSetting { stage: stage.name.clone(), setting, needs })
    })
}

/// Checks that each stage that `stage` depends on exists, and is named once.
fn check_dependencies<E>(
    nodes: &[Node<'_, E>],
    stage: &Settings,
    upstream: &[StageIndex],
) -> Result<(), BuildError> {
    let name = || stage.name.clone();
    if let Some(upstream) = stage.after_names.first() {
        return Err(BuildError::UnknownUpstream { stage: name(), upstream: upstream.clone() });
    }
    let mut seen = HashSet::new();
    match upstream.iter().find(|&&other| !seen.insert(other)) {
        Some(&twice) => {
            let upstream = nodes[twice].stage.name.clone();
            Err(BuildError::DuplicateUpstream { stage: name(), upstream })
        }
        None => Ok(()),
    }
}

/// Checks that a group has a possible number of workers, and that their names are unique.
fn check_workers<E>(
    stage: &Settings,
    workers: &Team<E>,
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

/// Checks that a stage that writes runs before or after each other stage.
fn check_exclusive<E>(
    nodes: &[Node<'_, E>],
    ancestors: &[Box<[StageIndex]>],
) -> Result<(), BuildError> {
    for (writer, node) in nodes.iter().enumerate().filter(|(_, node)| node.part.is_exclusive) {
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
