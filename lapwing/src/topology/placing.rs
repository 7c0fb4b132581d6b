//! Collects what the stages of a graph ask of their threads, and assigns each stage its place. Not
//! here: the choice of the threads (`placement`).

use super::graph::{Body, Node};
use super::settings::Settings;
use crate::description::{Description, StageDescription};
use crate::dynamic_names::DynamicNames;
use crate::error::BuildError;
use crate::placement::{Placement, Plan, ThreadPlace, Wish, WishedConsumer};

/// Assigns a thread to each consumer of `nodes`, the stages of the ring named `ring`.
///
/// # Errors
///
/// A fault of the placement, or of what the stages ask of their threads.
pub(super) fn place<E>(
    placement: &Placement,
    ring: &str,
    nodes: &[Node<'_, E>],
) -> Result<Plan, BuildError> {
    let wishes: Vec<_> = nodes.iter().map(wish).collect();
    Plan::new(placement, ring, &wishes)
}

fn wish<E>(node: &Node<'_, E>) -> Wish {
    let (stage, body) = (&node.stage, &node.part.body);
    let own = |name, pin| WishedConsumer { name, pin };
    let consumers = match body {
        Body::Poller => Vec::new(),
        Body::Handler(_) => vec![own(stage.name.clone(), stage.pin)],
        Body::Workers(workers, _) => {
            let names = workers.names(&stage.name).enumerate();
            names.map(|(worker, name)| own(name, workers.pin_of(stage, worker))).collect()
        }
    };
    Wish {
        stage: stage.name.clone(),
        consumers,
        is_group: matches!(body, Body::Workers(..)),
        thread: stage.thread.clone(),
        is_blocking: stage.is_blocking,
        beside: stage.beside,
    }
}

impl Settings {
    /// The settings of one consumer at its place.
    pub(super) fn placed(mut self, place: &ThreadPlace) -> Self {
        let is_own = !place.is_shared && place.thread == self.name;
        self.thread = (!is_own).then(|| place.thread.clone());
        self.pin = place.pin;
        self
    }
}

/// What monitors show of the ring, apart from its positions.
pub(super) fn describe<E>(
    ring: String,
    nodes: &[Node<'_, E>],
    plan: &Plan,
    names: DynamicNames,
) -> Description {
    let describe = |(index, node): (usize, &Node<'_, E>)| {
        let workers = node.workers().into_iter().flat_map(|group| group.names(&node.stage.name));
        let mut threads: Vec<String> = Vec::new();
        for ThreadPlace { thread, .. } in plan.of_stage(index) {
            if !threads.contains(thread) {
                threads.push(thread.clone());
            }
        }
        let (name, workers) = (node.stage.name.clone(), workers.collect());
        StageDescription { name, threads, workers }
    };
    Description::new(ring, nodes.iter().enumerate().map(describe), names)
}
