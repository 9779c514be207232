//! New code being written: what it knows, and where it goes.

use super::elsewhere::Ahead;
use super::inputs::Inputs;
use super::ir::{Builder, Value};
use super::tags::Tags;
use super::target::CodeTarget;
use super::versions::{Slots, StackSlot};
use super::{Site, Written};
use model::delicm::Element;
use model::loop_ast::Counter;
use model::plan::Plan;
use model::scop::{ArrayId, StatementId};
use std::collections::HashMap;

pub(super) struct CodeWriter<'s> {
    pub(super) site: &'s Site<'s>,
    pub(super) build: &'s Builder,
    pub(super) inputs: &'s Inputs<'s>,
    pub(super) slots: &'s Slots,
    /// Those that the iteration being written has for itself.
    pub(super) own_slots: HashMap<ArrayId, StackSlot>,
    pub(super) target: CodeTarget,
    pub(super) tags: Tags,
    pub(super) counters: HashMap<Counter, Value>,
    /// Where our own memory begins, and its parts.
    pub(super) memory: Option<Value>,
    pub(super) temporaries: HashMap<ArrayId, Value>,
    pub(super) parallel_loops: usize,
    /// Statements whose predicates were tested before the loop that is being written.
    pub(super) guarded: Vec<StatementId>,
    /// What the calls of the innermost loop being written have from elements that were loaded before it.
    pub(super) ahead: Ahead,
    /// Where the statement being written found what it has from elements.
    pub(super) found_at: Vec<(Element, Value)>,
    /// And those of a loop yet to be written, if they were tested before it.
    pub(super) held: Option<(Counter, Vec<StatementId>)>,
}

impl<'s> CodeWriter<'s> {
    pub(super) fn new(site: &'s Site<'s>, inputs: &'s Inputs<'s>, slots: &'s Slots, plan: &Plan) -> Self {
        CodeWriter {
            site,
            build: &site.build,
            inputs,
            slots,
            own_slots: HashMap::new(),
            target: CodeTarget::InPlace,
            tags: Tags::new(&site.build, site.region, plan),
            counters: HashMap::new(),
            memory: None,
            temporaries: HashMap::new(),
            parallel_loops: 0,
            guarded: Vec::new(),
            ahead: Ahead::default(),
            found_at: Vec::new(),
            held: None,
        }
    }

    pub(super) fn finish(&self) -> Written {
        self.release();
        Written { parallel_loops: self.parallel_loops, allocates: self.memory.is_some() }
    }

    /// `value` of the region's function, where new code is written now.
    pub(super) fn local(&mut self, value: Value) -> Value {
        self.target.local(self.build, value)
    }

    /// A value defined outside the region, as new code sees it.
    pub(super) fn outside(&mut self, value: Value) -> Value {
        self.local(self.inputs.copy_of(value).unwrap_or(value))
    }
}
