//! What statements compute, as far as moving values between them needs it, and what becomes of that.

use crate::polynomial::Polynomial;
use crate::scop::{ArrayId, StatementId};
pub use crate::scop::{Role, ValueId};
use crate::update::Update;
use indexmap::IndexMap;
use std::collections::HashMap;

/// How a value comes about. Of what is the same in all instances (a constant, an argument, what was computed before the region) nothing
/// is said.
#[derive(Clone, Debug)]
pub enum Origin {
    /// Computed from others.
    Operation(Operation),
    /// Read from memory at an address that is computed from others.
    Load { operands: Vec<ValueId> },
    /// Chosen by the way control came: a φ.
    Merge,
}

#[derive(Clone, Debug)]
pub struct Operation {
    pub operands: Vec<ValueId>,
    /// Where it ran once it may run again with the same operands, any number of times and in any thread, and gives the same.
    pub repeatable: bool,
    /// In `r = a op b` with these operands at positions 0 and 1: updates of one cell by it may be reordered. `true`: either
    /// operand may be the old content, else the first only.
    pub update: Option<(Update, bool)>,
}

/// A value that steps evenly with the loops: `base` (a pointer, or nothing) plus a polynomial in the counters of its statement.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CounterValue {
    pub base: Option<ValueId>,
    pub offset: Polynomial,
}

/// The code of one statement.
#[derive(Clone, Debug, Default)]
pub struct Code {
    pub counters: IndexMap<ValueId, CounterValue>,
    /// In the order in which they run.
    pub operations: Vec<ValueId>,
    /// Those of them that are run for their effect; stores and blocks of memory included.
    pub effects: Vec<ValueId>,
}

/// The code of a region.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub origins: HashMap<ValueId, Origin>,
    pub statements: IndexMap<StatementId, Code>,
    /// What the addresses of loads and stores are promised to be multiples of, where that is more than 1.
    pub alignments: HashMap<ValueId, u64>,
    /// Scalars that hold something before the first statement runs.
    pub initial: Vec<ArrayId>,
}

impl Program {
    pub(crate) fn operands(&self, value: ValueId) -> &[ValueId] {
        match self.origins.get(&value) {
            Some(Origin::Operation(Operation { operands, .. }) | Origin::Load { operands }) => operands,
            _ => &[],
        }
    }
    /// The same region after its statements have changed.
    pub fn adopt(&mut self, changed: &IndexMap<StatementId, Changed>) {
        let before = std::mem::take(&mut self.statements);
        for (&id, Changed { from, operations, .. }) in changed {
            let mut code = before.get(from).cloned().unwrap_or_default();
            code.effects.retain(|value| operations.contains(value));
            code.operations = operations.clone();
            self.statements.insert(id, code);
        }
    }
    pub(super) fn is_outside(&self, value: ValueId) -> bool {
        !self.origins.contains_key(&value)
    }
}

/// One array element per instance of a statement.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Element {
    pub array: ArrayId,
    /// The number of the row, in an array with rows behind pointers; in the counters of the statement.
    pub row: Option<Polynomial>,
    /// Bytes from the array's base, or from the beginning of the row, in the counters of the statement.
    pub offset: Polynomial,
    pub bytes: u64,
    /// The address is a multiple of this in all instances.
    pub alignment: u64,
}

/// Where a scalar is kept.
#[derive(Clone, Debug, PartialEq)]
pub enum Home {
    /// In a cell of its own.
    Scalar(ArrayId),
    Element(Element),
}

/// An operand of something that was copied from another instance.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// The n-th thing fetched.
    Fetched(usize),
    /// In the counters of the statement that fetches.
    Counter(CounterValue),
    /// A value that is the same everywhere.
    Outside(ValueId),
}

/// Something a statement gets by itself, though another statement computed it first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Fetch {
    /// What is in the element; the value says of what type it is.
    Load { value: ValueId, element: Element },
    /// The operation, done again; operands that are not mentioned are the same everywhere.
    Copy { value: ValueId, operands: Vec<(ValueId, Operand)> },
}

/// What a statement consists of afterwards. To run it: fetch in order, read, run the operations, write.
#[derive(Clone, Debug)]
pub struct Changed {
    /// The statement that it was, or was a part of.
    pub from: StatementId,
    pub fetched: Vec<Fetch>,
    /// Values that the statement's own operations find in what was fetched.
    pub bindings: Vec<(ValueId, Operand)>,
    pub reads: Vec<(ValueId, Home)>,
    pub writes: Vec<(ValueId, Home)>,
    /// What is left of them, in order.
    pub operations: Vec<ValueId>,
    /// Operations of updates that may be reordered, and what loads the old content for them, where that is an instruction.
    pub updating: Vec<ValueId>,
}

/// How much was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Scalar writes in loops before and after.
    pub before: u64,
    pub after: u64,
    /// Operations copied to where their result is used.
    pub forwarded: u64,
    /// Values loaded again from an element that is known to contain them.
    pub reloaded: u64,
    /// Scalars that were given array elements.
    pub mapped: u64,
    /// Scalars that were given memory of their own.
    pub expanded: u64,
}
