//! A new order as a value: where one begins, and the steps from there. Whoever has steps makes it here, and only what is legal comes
//! of it.

use super::{Fusion, Scalars};
use crate::dependence::Dependences;
use crate::names::Names;
use crate::scop::Scop;
use crate::transform::{KeptOrder, Legal, Legality, Step, StepError, Steps, Tree, check_legal_knowing};
use isl::{IslError, Schedule, UnionMap};
use thiserror::Error;

/// Where steps begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    Original,
    /// What isl's scheduler makes of the dependences.
    Scheduler {
        fusion: Fusion,
        scalars: Scalars,
    },
}

/// A new order, and how one gets there.
#[derive(Clone, Debug)]
pub struct Order {
    start: Start,
    steps: Steps,
    legal: Legal,
}

/// Why steps lead to no order.
#[derive(Clone, Debug, Error)]
pub enum OrderError {
    #[error(transparent)]
    Step(#[from] StepError),
    #[error("the order breaks dependences: {0}")]
    Violated(UnionMap),
}

impl From<IslError> for OrderError {
    fn from(error: IslError) -> OrderError {
        OrderError::Step(error.into())
    }
}

impl Order {
    /// Takes the steps: those that change the order first, then those that put labels on its loops.
    ///
    /// Requires: `tree` is what `start` says, with labelled bands; `deps` are the dependences of `scop`, and `known`, if it is known
    /// already that the order is kept, is of them.
    pub fn from_steps(
        (start, tree): (Start, &Schedule),
        steps: &[Step],
        scop: &Scop,
        deps: &Dependences,
        known: Option<&KeptOrder>,
    ) -> Result<Order, OrderError> {
        let (changes, labels) = steps.split_at(steps.iter().take_while(|step| !step.is_label()).count());
        let mut tree = tree.clone().into();
        for step in changes {
            tree = step.apply(&tree, scop)?;
        }
        let legal = match check_legal_knowing(known, &tree, scop, deps)? {
            Legality::Legal(legal) => legal,
            Legality::Violated(pairs) => return Err(OrderError::Violated(pairs)),
        };
        let mut order = Order { start, steps: changes.to_vec(), legal };
        for step in labels {
            order.add_label(step, scop)?;
        }
        Ok(order)
    }

    /// A loop is distributed over threads or meant for vectors; where that fails, nothing has changed.
    pub fn add_label(&mut self, step: &Step, scop: &Scop) -> Result<(), StepError> {
        self.legal = self.legal.with(step, scop)?;
        self.steps.push(step.clone());
        Ok(())
    }

    pub fn tree(&self) -> &Tree {
        self.legal.tree()
    }
    /// One line each, the start first.
    pub fn history(&self, names: &Names) -> Vec<String> {
        let text = |step: &Step| match step {
            Step::Pack { band, array } => format!("pack {} before {band}", names.array_in_source(*array)),
            step => step.to_string(),
        };
        let start = match self.start {
            Start::Original => "start with the original order".to_string(),
            Start::Scheduler { fusion, scalars } => {
                let scalars = if scalars == Scalars::Reordered { ", scalars reordered" } else { "" };
                format!("start with isl's order, fusion {}{scalars}", if fusion == Fusion::Min { "min" } else { "max" })
            }
        };
        [start].into_iter().chain(self.steps.iter().map(text)).collect()
    }
    pub fn is_reordered(&self) -> bool {
        self.start != Start::Original || !self.steps.iter().all(Step::is_label)
    }
    pub fn is_tiled(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Tile { .. }))
    }
    pub fn is_for_threads(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Threads { .. }))
    }
    pub fn is_for_vectors(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Vectors { .. }))
    }
}
