//! The model's plan becomes IR: `if (check) { new loops } else { original loops }`.
//!
//! The picture, in control flow; everything but the region is made here:
//! ```text
//!        entering          params and base pointers frozen, slots filled
//!           │
//!        check 0 ──────┐   one block per term; false or overflow leaves at once
//!        check 1 ──────┤
//!        memory ───────┤   where the new code needs some of its own, and there is none
//!           │          │
//!        new code   original ─▶ region ─▶ original exit
//!           │                                  │
//!           └────────────▶ merge ◀─────────────┘
//!                            │
//!                          exit
//! ```
//! Nothing here decides anything: what is legal was decided by the plan, what is where by the reader. What contradicts them is
//! an error, and the caller then restores the function.

mod check;
mod elsewhere;
mod errno;
mod expression;
mod ir;
mod loops;
mod parallel;
mod statement;
mod stats;
mod tags;
mod temporary;
#[cfg(test)]
mod tests;
mod versions;

use crate::analyses::Analyses;
use crate::body::ReadRegion;
use crate::facts::{BlockId, ValueId};
use check::Ends;
use indexmap::IndexMap;
use inkwell::llvm_sys::prelude::{LLVMBasicBlockRef, LLVMValueRef};
use ir::{Block, Builder, Type, Value};
use model::loop_ast::Counter;
use model::plan::{Extent, Plan};
use model::scop::{ArrayId, StatementId};
use parallel::Worker;
use std::collections::{HashMap, HashSet};
use tags::Tags;
use thiserror::Error;

/// The way from the reader's ids back to LLVM's objects.
pub trait Anchors {
    fn function(&self) -> LLVMValueRef;
    fn value(&self, id: ValueId) -> LLVMValueRef;
    fn block(&self, id: BlockId) -> LLVMBasicBlockRef;
}

impl Anchors for Analyses {
    fn function(&self) -> LLVMValueRef {
        self.function_ref()
    }
    fn value(&self, id: ValueId) -> LLVMValueRef {
        self.value_ref(id)
    }
    fn block(&self, id: BlockId) -> LLVMBasicBlockRef {
        self.block_ref(id)
    }
}

#[derive(Clone, Debug)]
pub struct WriteOptions {
    /// Distribute loops that the plan marked parallel over the threads of the OpenMP runtime.
    pub parallel: bool,
    /// Count at run time which side was taken.
    pub stats: bool,
    /// The check is a function of its own, so that what it costs can be measured.
    pub outline: bool,
    /// A parallel loop of fewer iterations runs on the calling thread.
    pub min_parallel_trip: u64,
}

impl Default for WriteOptions {
    fn default() -> Self {
        WriteOptions { parallel: false, stats: false, outline: false, min_parallel_trip: 4 }
    }
}

/// What was written, for the report and for the caller's bookkeeping.
#[derive(Debug, Default)]
pub struct Written {
    /// The check is not empty: the original is kept as the other way.
    pub guarded: bool,
    /// Loops handed to the OpenMP runtime.
    pub parallel_loops: usize,
    /// Values of the region used behind it, and the φ that now stands for them there. A region behind this one that was read
    /// before must use the φ.
    pub replaced: Vec<(ValueId, LLVMValueRef)>,
    /// The function calls malloc and free now.
    pub allocates: bool,
}

#[derive(Debug, Error)]
pub enum WriteError {
    #[error("the region's edges cannot be split: {0}")]
    Shape(String),
    #[error("the reader's description does not fit the code: {0}")]
    Reader(String),
    #[error("the plan cannot be written as machine arithmetic: {0}")]
    Plan(String),
}

/// Requires: `region` describes the function behind `anchors` as it is now, and `plan` is legal for it under its check.
/// Ensures: where every term of the check holds, the new loops run, else the original ones; what follows sees the same either way.
/// On `Err` the function may be half changed: the caller restores it from its backup.
pub fn write_region(
    anchors: &impl Anchors,
    region: &ReadRegion,
    plan: &Plan,
    options: &WriteOptions,
) -> Result<Written, WriteError> {
    Writer::new(anchors, region, plan, options).write(plan)
}

/// A scalar that crosses statements lives in one stack slot; SROA makes registers of them all afterwards.
#[derive(Clone, Copy)]
struct Slot {
    ty: Type,
    pointer: Value,
}

struct Writer<'a, A> {
    anchors: &'a A,
    region: &'a ReadRegion,
    options: &'a WriteOptions,
    build: Builder,
    function: Value,
    blocks: Vec<Block>,
    inside: HashSet<Block>,
    /// Where edges of the region to its exit lead once they are split.
    original_exit: Option<Block>,
    /// Parameters as i64, frozen where they could be poison; defined in `entering` or behind a preload.
    params: HashMap<usize, Value>,
    /// The extents that the check has computed.
    extents: Vec<(Extent, Ends)>,
    /// Values of the region that are loaded before it, and the load that stands for them.
    preloaded: HashMap<Value, Value>,
    /// A value from outside and the frozen copy that new code uses instead.
    frozen: HashMap<Value, Value>,
    slots: IndexMap<ArrayId, Slot>,
    /// Where our own memory begins, and its parts.
    memory: Option<Value>,
    temporaries: HashMap<ArrayId, Value>,
    counters: HashMap<Counter, Value>,
    tags: Tags,
    /// Some while the body of a parallel loop is written into a function of its own.
    worker: Option<Worker>,
    /// φs to which the same is brought on all edges, and what that is.
    twins: HashMap<Value, Value>,
    written: Written,
}

fn preloaded(anchors: &impl Anchors, region: &ReadRegion) -> HashMap<Value, Value> {
    let value = |id: ValueId| Value(anchors.value(id));
    let all = region.invariants.iter().zip(&region.scop.invariants).filter(|(_, model)| model.preload.is_some());
    all.flat_map(|((load, same), _)| same.iter().chain([load]).map(|&v| (value(v), value(*load)))).collect()
}

impl<'a, A: Anchors> Writer<'a, A> {
    fn new(anchors: &'a A, region: &'a ReadRegion, plan: &Plan, options: &'a WriteOptions) -> Self {
        let function = Value(anchors.function());
        let build = Builder::new(function);
        let blocks: Vec<Block> = region.blocks.iter().map(|&b| Block(anchors.block(b))).collect();
        Writer {
            anchors,
            region,
            options,
            function,
            inside: blocks.iter().copied().collect(),
            original_exit: None,
            blocks,
            params: HashMap::new(),
            extents: Vec::new(),
            preloaded: preloaded(anchors, region),
            frozen: HashMap::new(),
            slots: IndexMap::new(),
            memory: None,
            temporaries: HashMap::new(),
            counters: HashMap::new(),
            tags: Tags::new(&build, region, plan),
            worker: None,
            twins: region.twins.iter().map(|(&a, &b)| (Value(anchors.value(a)), Value(anchors.value(b)))).collect(),
            written: Written::default(),
            build,
        }
    }

    fn write(mut self, plan: &Plan) -> Result<Written, WriteError> {
        let errors: Vec<Block> = self.region.errors.iter().map(|&b| self.block(b)).collect();
        let joints =
            ir::split_region(self.block(self.region.entry), &self.blocks, &errors).map_err(WriteError::Shape)?;
        self.original_exit = Some(joints.original_exit);
        self.build.set_location(self.function.artificial_location());
        self.make_slots()?;
        let first_of_check =
            (self.options.outline && !plan.check.is_empty()).then(|| self.build.new_block(c"lw.check"));
        let first_new = self.write_check(joints, first_of_check, plan)?;
        self.build.at_end(first_new);
        self.fill_slots(joints)?;
        self.write_node(&plan.body)?;
        self.release();
        self.join(joints)?;
        self.tags.declare_before(first_new.instructions()[0]);
        if self.options.stats {
            self.write_stats(joints.original, first_new);
        }
        if let Some(first) = first_of_check
            && !first.outline_up_to([joints.original, first_new])
        {
            return Err(WriteError::Shape("the check cannot be a function of its own".into()));
        }
        Ok(self.written)
    }

    fn value(&self, id: ValueId) -> Value {
        Value(self.anchors.value(id))
    }
    /// What a φ is, if the same is brought to it on all edges.
    fn stands_for(&self, value: Value) -> Value {
        self.twins.get(&value).copied().unwrap_or(value)
    }
    fn block(&self, id: BlockId) -> Block {
        Block(self.anchors.block(id))
    }
    fn body(&self, statement: StatementId) -> Result<&'a crate::body::Body, WriteError> {
        let known = self.region.bodies.get(&statement);
        known.ok_or_else(|| WriteError::Reader(format!("statement {statement} has no body")))
    }
}
