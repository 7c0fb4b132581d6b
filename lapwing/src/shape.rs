//! The shape of a ring as its file describes it: written when the ring is made, and turned back into a
//! graph by an observer.

use lapwing_core::{Graph, View, Words};

use crate::description::{Description, StageDescription, worker_name};
use crate::dynamic_names::DynamicNames;
use crate::group::MAX_WORKERS;
use crate::ring_file::{MonitorWords, Offsets};
use crate::{MAX_DYNAMIC_STAGES, ring_file};

/// Returns where the words of an observable ring lie in its file.
pub(crate) fn offsets(
    words: &Words,
    view: &View,
    of_monitors: &MonitorWords,
    description: &Description,
) -> Offsets {
    let at = |offset: Option<usize>| offset.expect("the words lie in the file") as u64;
    let MonitorWords { waiting_producers, dropped, activities } = of_monitors;
    Offsets {
        protocol: view.offsets(words).expect("the words lie in the file"),
        waiting_producers: at(words.offset_of(&**waiting_producers)),
        dropped: at(words.offset_of(&**dropped)),
        activities: activities.iter().map(|one| at(words.offset_of(one.words()))).collect(),
        names: description.names().words().map(|line| at(words.offset_of(line))).collect(),
    }
}

/// Returns what the file of a ring says about it.
pub(crate) fn to_file(
    view: &View,
    description: &Description,
    offsets: Offsets,
) -> ring_file::Description {
    let stages = description.stages();
    let number = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
    let stage = |index| {
        let (name, threads) = description.consumer(index);
        let upstream = view.upstream_of(index).iter().filter(|&&index| index < stages);
        ring_file::Stage {
            name,
            threads,
            workers: number(view.workers_of(index).len()),
            is_acknowledged: view.acknowledgement_of(index).is_some(),
            upstream: upstream.map(|&index| number(index)).collect(),
        }
    };
    let dynamic = view.dynamic_stages();
    // A dynamic stage follows the last writer, and then the words that belong to it.
    let near = dynamic.clone().next().map(|first| view.upstream_of(first));
    ring_file::Description {
        ring: description.ring().to_owned(),
        capacity: view.capacity(),
        is_multi: view.is_multi(),
        stages: (0..stages).map(stage).collect(),
        dynamic_stages: number(dynamic.len()),
        last_writer: near.and_then(<[usize]>::first).map(|&writer| number(writer)),
        offsets,
    }
}

/// Returns the graph of a ring that a file describes. `None` if no ring has that graph.
pub(crate) fn graph_of(file: &ring_file::Description) -> Option<Graph> {
    let count = file.stages.len();
    let upstream_of = |(index, stage): (usize, &ring_file::Stage)| {
        let upstream: Box<[usize]> = stage.upstream.iter().map(|&index| index as usize).collect();
        upstream.iter().all(|&other| other < index).then_some(upstream)
    };
    let upstream = file.stages.iter().enumerate().map(upstream_of).collect::<Option<Vec<_>>>()?;
    let last_writer = file.last_writer.map(|stage| stage as usize);
    let dynamic_stages = file.dynamic_stages as usize;
    let is_possible = last_writer.is_none_or(|stage| stage < count)
        && dynamic_stages <= MAX_DYNAMIC_STAGES
        && file.stages.iter().all(|stage| stage.workers as usize <= MAX_WORKERS);
    // Checked here too, because a large graph takes time and memory.
    let parts =
        file.stages.iter().map(|stage| stage.workers as usize + usize::from(stage.is_acknowledged));
    let words = count + parts.sum::<usize>() + dynamic_stages;
    if count == 0 || !is_possible || file.offsets.protocol.sequences.len() != words {
        return None;
    }
    let mut graph = Graph::new(upstream);
    for (index, _) in file.stages.iter().enumerate().filter(|(_, stage)| stage.is_acknowledged) {
        graph.acknowledge(index);
    }
    for (index, stage) in file.stages.iter().enumerate().filter(|(_, stage)| stage.workers > 0) {
        graph.share(index, stage.workers as usize);
    }
    Some(graph.with_dynamic_stages(dynamic_stages, last_writer))
}

/// Returns what monitors show of the ring that a file describes.
pub(crate) fn description_of(file: &ring_file::Description, names: DynamicNames) -> Description {
    let stages = file.stages.iter().map(|stage| StageDescription {
        name: stage.name.clone(),
        threads: stage.threads.clone(),
        workers: (0..stage.workers as usize).map(|at| worker_name(&stage.name, at)).collect(),
    });
    Description::new(file.ring.clone(), stages, names)
}
