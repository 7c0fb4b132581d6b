//! The stage that carries out commands. Not here: the rules (`engine`).

use lapwing::consumer::Shared;
use lapwing::{EventHandler, Sequence, SingleProducer};

use super::error::NotApplied;
use super::events::{Input, Output};
use super::hooks::Watch;
use super::snapshotting::Snapshotting;
use crate::engine::Engine;
use crate::types::PackedReport;

/// Applies each command to the engine, and publishes its reports into the output ring.
#[derive(Debug)]
pub(super) struct Matching {
    engine: Engine,
    output: SingleProducer<Output>,
    snapshots: Option<Snapshotting>,
    watch: Option<Watch>,
}

impl Matching {
    pub(super) fn new(
        engine: Engine,
        output: SingleProducer<Output>,
        snapshots: Option<Snapshotting>,
        watch: Option<Watch>,
    ) -> Self {
        Self { engine, output, snapshots, watch }
    }

    /// Returns the engine after the last command.
    pub(super) fn into_engine(self) -> Engine {
        self.engine
    }

    /// Publishes all reports of a command, the last one marked.
    fn carry_out(&mut self, input: &Input, sequence: Sequence) -> Result<(), NotApplied> {
        let Self { engine, output, .. } = self;
        // The gateway admits only commands that have a meaning. A leader may be of a later version.
        let command = input.command.unpack()?;
        let mut held: Option<Output> = None;
        let mut result = Ok(());
        let mut publish = |next: Output| {
            if result.is_ok() {
                result = output.publish(|slot| *slot = next).map(drop);
            }
        };
        let applied = engine.try_apply(&command, &mut |report| {
            let next = Output::new(input, sequence, PackedReport::from(&report));
            if let Some(earlier) = held.replace(next) {
                publish(earlier);
            }
        });
        applied.map_err(|error| NotApplied::OutOfMemory(command, error))?;
        if let Some(last) = held {
            publish(Output { is_last: 1, ..last });
        }
        Ok(result?)
    }
}

impl EventHandler<Input, Shared, Result<(), NotApplied>> for Matching {
    fn on_event(&mut self, input: &Input, sequence: Sequence, _: bool) -> Result<(), NotApplied> {
        self.carry_out(input, sequence)?;
        if let Some(snapshots) = &mut self.snapshots {
            snapshots.offer(sequence + 1, &self.engine);
        }
        if let Some(watch) = &mut self.watch {
            watch.offer(sequence + 1, &self.engine);
        }
        Ok(())
    }
}
