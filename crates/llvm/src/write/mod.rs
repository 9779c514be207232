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
//!
//! The rooms, each with what it may know. All see the [`Site`], which nobody changes. `versions` opens the region up, keeps the slots of
//! scalars, and joins both versions behind it. [`Inputs`] copies what is needed from before the region; [`Check`] adds the tests
//! and loads between them. From then on the inputs are fixed, and [`CodeWriter`] writes the new loops from them, into a
//! [`target::CodeTarget`]: in place, or a function of its own (`parallel` makes one for the OpenMP runtime).

mod check;
mod code;
mod elsewhere;
mod errno;
mod expression;
mod inputs;
mod ir;
mod loops;
mod parallel;
mod rows;
mod statement;
mod stats;
mod tags;
mod target;
mod temporary;
#[cfg(test)]
mod tests;
mod versions;

use crate::analyses::Analyses;
use crate::body::{Body, ReadRegion};
use crate::facts::{BlockId, ValueId};
use check::Check;
use code::CodeWriter;
use inkwell::llvm_sys::prelude::{LLVMBasicBlockRef, LLVMValueRef};
use inputs::Inputs;
use ir::{Block, Builder, Joints, Value};
use model::plan::Plan;
use model::scop::StatementId;
use std::collections::{HashMap, HashSet};
use thiserror::Error;
use versions::Slots;

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
    /// The function may still become a part of others.
    pub before_inlining: bool,
}

impl Default for WriteOptions {
    fn default() -> Self {
        WriteOptions { parallel: false, stats: false, outline: false, min_parallel_trip: 4, before_inlining: false }
    }
}

/// What was written, for the caller's bookkeeping.
#[derive(Debug, Default)]
pub struct Written {
    /// Loops handed to the OpenMP runtime.
    pub parallel_loops: usize,
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
    anchors: &dyn Anchors,
    region: &ReadRegion,
    plan: &Plan,
    options: &WriteOptions,
) -> Result<Written, WriteError> {
    let site = Site::open(anchors, region, options)?;
    let build = &site.build;
    let slots = Slots::make(&site, plan)?;
    let apart = (options.outline && !plan.check.is_empty()).then(|| build.new_block(c"lw.check"));
    let (inputs, check_allocates) = Check::new(Inputs::freeze(&site, apart)?).write(&plan.check)?;
    let mut code = CodeWriter::new(&site, &inputs, &slots, plan);
    code.allocate(&plan.temporaries)?;
    let first_new = build.new_block(c"lw.new");
    build.branch(first_new);
    build.at_end(first_new);
    slots.fill(&site, &inputs)?;
    code.write_node(&plan.body)?;
    let mut written = code.finish();
    written.allocates |= check_allocates;
    slots.join(&site)?;
    code.tags.declare_before(first_new.instructions()[0]);
    if options.stats {
        site.write_stats(first_new);
    }
    if let Some(first) = apart
        && !first.outline_up_to([site.joints.original, first_new])
    {
        return Err(WriteError::Shape("the check cannot be a function of its own".into()));
    }
    Ok(written)
}

/// The region in its function, and the blocks that were put around it.
struct Site<'a> {
    anchors: &'a dyn Anchors,
    region: &'a ReadRegion,
    options: &'a WriteOptions,
    build: Builder,
    function: Value,
    joints: Joints,
    blocks: Vec<Block>,
    inside: HashSet<Block>,
    /// φs to which the same is brought on all edges, and what that is.
    twins: HashMap<Value, Value>,
}

impl<'a> Site<'a> {
    /// Splits the edges into and out of the region.
    fn open(
        anchors: &'a dyn Anchors,
        region: &'a ReadRegion,
        options: &'a WriteOptions,
    ) -> Result<Site<'a>, WriteError> {
        let (value, block) = (|id| Value(anchors.value(id)), |id: &BlockId| Block(anchors.block(*id)));
        let blocks: Vec<Block> = region.blocks.iter().map(block).collect();
        let errors: Vec<Block> = region.errors.iter().map(block).collect();
        let decided: Vec<(Block, Block)> = region.decided.iter().map(|(from, to)| (block(from), block(to))).collect();
        let joints = ir::split_region(block(&region.entry), &blocks, &errors, &decided).map_err(WriteError::Shape)?;
        let function = Value(anchors.function());
        let build = Builder::new(function);
        build.set_location(function.artificial_location());
        let inside = blocks.iter().copied().collect();
        let twins = region.twins.iter().map(|(&a, &b)| (value(a), value(b))).collect();
        Ok(Site { anchors, region, options, build, function, joints, blocks, inside, twins })
    }

    fn value(&self, id: ValueId) -> Value {
        Value(self.anchors.value(id))
    }
    fn block(&self, id: BlockId) -> Block {
        Block(self.anchors.block(id))
    }
    fn body(&self, statement: StatementId) -> Result<&'a Body, WriteError> {
        let known = self.region.bodies.get(&statement);
        known.ok_or_else(|| WriteError::Reader(format!("statement {statement} has no body")))
    }
    fn is_inside(&self, value: Value) -> bool {
        value.block().is_some_and(|block| self.inside.contains(&block))
    }
    /// What a φ is, if the same is brought to it on all edges.
    fn stands_for(&self, value: Value) -> Value {
        self.twins.get(&value).copied().unwrap_or(value)
    }
}
