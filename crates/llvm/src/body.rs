//! What [`crate::read`] tells [`crate::write`] about a region beyond its model: which instructions a statement is made of,
//! and how the values they use come about.

use crate::facts::{BlockId, LoopId, ValueId};
use indexmap::IndexMap;
use model::polynomial::Polynomial;
use model::scop::{ArrayId, Scop, StatementId};

/// A region read into the model, with the way back to the IR.
pub struct ReadRegion {
    pub scop: Scop,
    /// First block of the region; dominates all its blocks. Edges into it from `blocks` are back edges; without any, its φs
    /// count as defined outside: split the block behind them.
    pub entry: BlockId,
    /// The one block outside that all edges leaving the region go to; not part of it.
    pub exit: BlockId,
    /// Reverse post-order.
    pub blocks: Vec<BlockId>,
    /// The SSA value behind each parameter, in order; defined outside the region, or computed in it from such values without
    /// side effects, so that it can be computed before it. Read as signed.
    pub params: Vec<ValueId>,
    pub bodies: IndexMap<StatementId, Body>,
    /// The base pointer of each memory array; defined outside the region (or a global).
    pub bases: IndexMap<ArrayId, ValueId>,
    /// Scalar slots that hold a value before the first statement runs: φs of the region entered from outside.
    pub initial: Vec<(ArrayId, ValueId)>,
    pub live_outs: Vec<LiveOut>,
}

pub enum LiveOut {
    /// An instruction of the region used behind it: the slot holds its last value.
    Value { value: ValueId, slot: ArrayId },
    /// A φ in `exit` with incoming edges from the region: the slot holds what arrives over the edge that was taken.
    ExitPhi { phi: ValueId, slot: ArrayId },
}

/// The code of one statement. To run an instance: compute `inductions`, load `reads`, clone `kind` in order, then store `writes`.
/// An operand is, in this order: a clone made in this instance, an induction, a read slot, or the very value defined outside the region.
pub struct Body {
    pub kind: BodyKind,
    /// `loops[d]` is counted by dimension d of the domain.
    pub loops: Vec<LoopId>,
    pub inductions: Vec<Induction>,
    pub reads: Vec<ScalarAccess>,
    /// In order. `value` may be a constant or a value defined outside the region.
    pub writes: Vec<ScalarAccess>,
    /// The loads and stores of the body whose array is known, and it.
    pub memory: Vec<(ValueId, ArrayId)>,
    /// Pure instructions of other blocks that run here under another condition: their clones lose all poison-generating flags.
    pub recomputed: Vec<ValueId>,
    /// The operation of each recognised reduction: integer ones lose nsw and nuw where they are reordered.
    pub reduction_ops: Vec<ValueId>,
}

pub enum BodyKind {
    /// Instructions in dependence order, terminators and φs excluded; pure ones may be recomputed here from other blocks.
    Instructions(Vec<ValueId>),
    /// A whole single-entry part of the control flow, cloned block by block: from `entry` up to, not including, `exit`.
    /// The body's `recomputed` instructions are cloned, in order, before it. A φ of `entry` that is neither a read nor an induction
    /// starts from its one incoming value from outside `blocks`. `edge_writes` are stored at the end of the clone of the block they
    /// name (whose edge leads to `exit`).
    Boxed { entry: BlockId, exit: BlockId, blocks: Vec<BlockId>, edge_writes: Vec<(BlockId, ScalarAccess)> },
}

/// The φ `value` equals `base` (a pointer, or nothing) plus `offset`, a polynomial in the counters of the statement and the
/// parameters, modulo 2^(its width): wrapping 64-bit arithmetic truncated to its type is exact. For pointers it counts bytes.
pub struct Induction {
    pub value: ValueId,
    pub base: Option<ValueId>,
    pub offset: Polynomial,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScalarAccess {
    pub value: ValueId,
    pub slot: ArrayId,
}
