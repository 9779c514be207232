//! What [`crate::read`] tells [`crate::write`] about a region beyond its model: which instructions a statement is made of,
//! and how the values they use come about.

use crate::facts::{BlockId, FunctionFacts, LoopId};
use indexmap::IndexMap;
use model::delicm::{Changed, Element, Fetch, Home, Operand, Outcome, Program, ValueId};
use model::polynomial::{Polynomial, Var};
use model::refusal::Refusal;
use model::scop::{ArrayId, Predicate, Scop, StatementId};
use std::collections::{BTreeSet, HashMap};

/// A region read into the model, with the way back to the IR.
#[derive(Clone)]
pub struct ReadRegion {
    /// The values behind its parameters are defined outside the region, or computed in it from such values without side effects, so
    /// that they can be computed before it.
    pub scop: Scop,
    /// First block of the region; dominates all its blocks. Edges into it from `blocks` are back edges; without any, its φs
    /// count as defined outside: split the block behind them.
    pub entry: BlockId,
    /// The one block outside that all edges leaving the region go to, but for `errors`; not part of it.
    pub exit: BlockId,
    /// Reverse post-order.
    pub blocks: Vec<BlockId>,
    /// Where else edges of the original lead that new code never takes.
    pub errors: Vec<BlockId>,
    /// Blocks with another way on than the one here, which they never take: for good, once there is new code.
    pub decided: Vec<(BlockId, BlockId)>,
    /// The blocks that control gets to only over the edges to `errors`.
    pub error_paths: Vec<BlockId>,
    pub bodies: IndexMap<StatementId, Body>,
    /// The base pointer of each memory array without rows behind pointers; defined outside the region (or a global).
    pub bases: IndexMap<ArrayId, ValueId>,
    /// The loads of the pointers of each array with such rows.
    pub row_loads: IndexMap<ArrayId, Vec<ValueId>>,
    /// Arrays of which some bytes are used as several types: new code must not say of what types its accesses are, since LLVM would take
    /// that for leave to swap them, and they may have come close to each other.
    pub retyped: BTreeSet<ArrayId>,
    /// The array that stands for errno: it has no base, but is where the C library says.
    pub errno: Option<ArrayId>,
    /// Scalar slots that hold a value before the first statement runs: φs of the region entered from outside.
    pub initial: Vec<(ArrayId, ValueId)>,
    pub live_outs: Vec<LiveOut>,
    /// φs to which the same is brought on all edges, and what that is. A statement that does not copy the φ computes the other.
    pub twins: HashMap<ValueId, ValueId>,
    /// What the statements compute, for who moves values between them.
    pub program: Program,
    /// Arrays with polynomial addresses for which no shape was found.
    pub unshaped: Vec<Refusal>,
}

impl ReadRegion {
    /// Some loops are not modelled: other regions may be found in them.
    pub fn hides_loops(&self, facts: &FunctionFacts) -> bool {
        self.bodies.values().any(|body| match &body.kind {
            BodyKind::Boxed { blocks, .. } => facts.loops.iter().any(|l| l.blocks.iter().all(|b| blocks.contains(b))),
            BodyKind::Instructions(_) => false,
        })
    }

    /// Takes over what became of the statements when values were moved between them.
    pub fn adopt(&mut self, outcome: Outcome) {
        if outcome.statements.is_empty() {
            return;
        }
        self.program.adopt(&outcome.statements);
        let before = std::mem::take(&mut self.bodies);
        for (id, changed) in outcome.statements {
            let mut body = before[&changed.from].clone();
            body.adopt(changed);
            self.bodies.insert(id, body);
        }
    }
}

#[derive(Clone)]
pub enum LiveOut {
    /// An instruction of the region used behind it: the slot holds its last value.
    Value { value: ValueId, slot: ArrayId },
    /// A φ in `exit` with incoming edges from the region: the slot holds what arrives over the edge that was taken. `only` is what
    /// arrives over all of them, where that is one value.
    ExitPhi { phi: ValueId, slot: ArrayId, only: Option<ValueId> },
}

/// The code of one statement. To run an instance: compute `inductions`, load `reads` and what is `elsewhere`, clone `kind` in
/// order, then store `writes`.
/// An operand is, in this order: a clone made in this instance, an induction, a read slot, or the very value defined outside the region.
#[derive(Clone)]
pub struct Body {
    pub kind: BodyKind,
    /// `loops[d]` is counted by dimension d of the domain.
    pub loops: Vec<LoopId>,
    pub inductions: Vec<Induction>,
    pub reads: Vec<ScalarAccess>,
    /// In order. `value` may be a constant or a value defined outside the region.
    pub writes: Vec<ScalarAccess>,
    /// Pure instructions of other blocks that run here under another condition: their clones lose all poison-generating flags.
    pub recomputed: Vec<ValueId>,
    /// The operation of each update that may be reordered, and the load of its old content: what they promise of values on the way from
    /// the first to the last holds for the original order only.
    pub updating: Vec<ValueId>,
    pub elsewhere: Elsewhere,
    /// An instance does nothing unless all of these hold. They are looked at one after the other: what one is computed from may only be
    /// touched where those before it hold, and all that is not needed for them where all do.
    pub predicates: Vec<Predicate>,
}

/// Values that cross statements without a slot.
#[derive(Clone, Default)]
pub struct Elsewhere {
    /// Done first, in order; each may use those before it.
    pub fetched: Vec<Fetch>,
    /// Values that are found in what was fetched.
    pub bindings: Vec<(ValueId, Operand)>,
    /// Values that are read from an array element.
    pub loads: Vec<(ValueId, Element)>,
    /// Values that are written to an array element at the end.
    pub stores: Vec<(ValueId, Element)>,
}

impl Body {
    /// Is all that the predicates are computed from the same for all instances that agree in the first so many counters?
    pub fn predicates_need_only(&self, depth: usize) -> bool {
        let within = |p: &Polynomial| p.vars().all(|v| !matches!(v, Var::Counter(d) if d as usize >= depth));
        let place = |e: &Element| within(&e.offset) && e.row.as_ref().is_none_or(within);
        let operand = |o: &Operand| match o {
            Operand::Counter(counter) => within(&counter.offset),
            Operand::Fetched(_) | Operand::Outside(_) => true,
        };
        self.predicates.iter().all(|predicate| {
            let mut open: Vec<&Operand> =
                self.elsewhere.bindings.iter().filter(|b| b.0 == predicate.condition).map(|b| &b.1).collect();
            let by_element = self.elsewhere.loads.iter().filter(|l| l.0 == predicate.condition);
            let mut fits = by_element.into_iter().all(|(_, element)| place(element));
            while let Some(next) = open.pop() {
                fits &= operand(next);
                if let Operand::Fetched(n) = next {
                    match &self.elsewhere.fetched[*n] {
                        Fetch::Load { element, .. } => fits &= place(element),
                        Fetch::Copy { operands, .. } => open.extend(operands.iter().map(|(_, operand)| operand)),
                    }
                }
            }
            fits
        }) && (!self.recomputes_predicates() || self.inductions.iter().all(|i| within(&i.offset)))
    }

    /// Is some predicate computed here, from counters and values from outside?
    pub fn recomputes_predicates(&self) -> bool {
        self.predicates.iter().any(|p| self.recomputed.contains(&p.condition))
    }

    fn adopt(&mut self, changed: Changed) {
        let Changed { from: _, fetched, bindings, reads, writes, operations, updating } = changed;
        let split = |accesses: Vec<(ValueId, Home)>| {
            let (mut slots, mut elements) = (Vec::new(), Vec::new());
            for (value, place) in accesses {
                match place {
                    Home::Scalar(slot) => slots.push(ScalarAccess { value, slot }),
                    Home::Element(element) => elements.push((value, element)),
                }
            }
            (slots, elements)
        };
        let (reads, loads) = split(reads);
        self.reads = reads;
        self.elsewhere = Elsewhere { fetched, bindings, loads, stores: Vec::new() };
        // Inside a box nothing changed, but what it reads may come from elsewhere.
        if let BodyKind::Instructions(instructions) = &mut self.kind {
            instructions.retain(|id| operations.contains(id));
            self.updating.extend(updating);
            (self.writes, self.elsewhere.stores) = split(writes);
        }
    }
}

#[derive(Clone)]
pub enum BodyKind {
    /// Instructions in dependence order, terminators and φs excluded; pure ones may be recomputed here from other blocks.
    Instructions(Vec<ValueId>),
    /// A whole single-entry part of the control flow, cloned block by block: from `entry` up to, not including, `exit`.
    /// The body's `recomputed` instructions are cloned, in order, before it. A φ of `entry` that is neither a read nor an induction
    /// nor known before the region starts from its one incoming value from outside `blocks`. `edge_writes` are stored at the end of the clone of the block they
    /// name (whose edge leads to `exit`).
    Boxed { entry: BlockId, exit: BlockId, blocks: Vec<BlockId>, edge_writes: Vec<(BlockId, ScalarAccess)> },
}

/// The φ `value` equals `base` (a pointer, or nothing) plus `offset`, a polynomial in the counters of the statement and the
/// parameters, modulo 2^(its width): wrapping 64-bit arithmetic truncated to its type is exact. For pointers it counts bytes.
#[derive(Clone)]
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
