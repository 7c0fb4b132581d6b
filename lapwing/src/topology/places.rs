//! The places to which a stage can be added, and what its verb returns there.

use super::builder::Builder;
use super::graph::{Graph, Part};
use super::parallel::{Chain, Parallel};
use super::position::sealed::Sealed;
use super::position::{Alone, Position};
use super::settings::Settings;
use super::stage_id::StageId;
use crate::producer::Sequencer;

#[allow(private_interfaces)]
impl<'env, E: Send + 'env, S: Sequencer> Position<'env> for Builder<'env, E, S> {
    type Event = E;
    type Next = Self;

    fn place(self, stage: Settings, part: Part<'env, E>) -> Self {
        self.push(stage, part)
    }
}

impl<'env, E: Send + 'env, S: Sequencer> Alone<'env> for Builder<'env, E, S> {}

#[allow(private_interfaces)]
impl<'env, E: Send + Sync + 'env> Position<'env> for Parallel<'_, 'env, E> {
    type Event = E;
    type Next = Self;

    fn place(self, stage: Settings, part: Part<'env, E>) -> Self {
        self.push(stage, part)
    }
}

#[allow(private_interfaces)]
impl<'env, E: Send + Sync + 'env> Position<'env> for Chain<'_, 'env, E> {
    type Event = E;
    type Next = Self;

    fn place(self, stage: Settings, part: Part<'env, E>) -> Self {
        self.push(stage, part)
    }
}

#[allow(private_interfaces)]
impl<'env, E: Send + 'env> Position<'env> for &mut Graph<'env, E> {
    type Event = E;
    type Next = StageId;

    fn place(self, stage: Settings, part: Part<'env, E>) -> StageId {
        self.push(stage, part)
    }
}

impl<'env, E: Send + 'env> Alone<'env> for &mut Graph<'env, E> {}

impl<E, S> Sealed for Builder<'_, E, S> {}
impl<E> Sealed for Parallel<'_, '_, E> {}
impl<E> Sealed for Chain<'_, '_, E> {}
impl<E> Sealed for &mut Graph<'_, E> {}
