//! The function that new code goes into. In a function of its own it sees of the region's function what it captured, and nothing else.

use super::WriteError;
use super::code::CodeWriter;
use super::ir::{Block, Builder, Value};
use super::versions::{Slots, StackSlot};
use indexmap::IndexMap;
use model::scop::ArrayId;

pub(super) enum CodeTarget {
    /// The region's function.
    InPlace,
    Outlined(Outlined),
}

/// A function that is called from the region's, and what it takes from there: each capture has a place in memory of the caller, and is
/// loaded from there before everything else.
pub(super) struct Outlined {
    function: Value,
    /// Runs first; ends in a branch.
    prologue: Block,
    /// The argument that points to the captures.
    context: Value,
    captures: IndexMap<Source, Capture>,
    bytes: u64,
    alignment: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Source {
    Value(Value),
    /// What the slot holds at the call; nobody writes it before the call returns.
    Slot(ArrayId),
}

struct Capture {
    /// In the caller's memory.
    offset: u64,
    /// In the function.
    copy: Value,
}

impl CodeTarget {
    pub(super) fn is_in_place(&self) -> bool {
        matches!(self, CodeTarget::InPlace)
    }

    /// A value of the region's function, or of the one being written.
    pub(super) fn local(&mut self, build: &Builder, value: Value) -> Value {
        let CodeTarget::Outlined(outlined) = self else { return value };
        // The address of a thread-local variable is a constant to LLVM: each thread's own. The original means its caller's.
        let anywhere = value.is_constant() && !value.is_thread_dependent();
        if anywhere || !value.is_constant() && value.function().is_none_or(|f| f == outlined.function) {
            return value;
        }
        outlined.capture(build, Source::Value(value), value.ty())
    }

    pub(super) fn read_slot(&mut self, build: &Builder, id: ArrayId, slot: StackSlot) -> Value {
        match self {
            CodeTarget::InPlace => build.load(slot.ty, slot.pointer),
            CodeTarget::Outlined(outlined) => outlined.capture(build, Source::Slot(id), slot.ty),
        }
    }

    /// Returns the store.
    pub(super) fn write_slot(
        &self,
        build: &Builder,
        id: ArrayId,
        slot: StackSlot,
        value: Value,
    ) -> Result<Value, WriteError> {
        if !self.is_in_place() {
            // All threads would share it; no loop that writes a scalar, be it in one iteration, is marked to run at once.
            return Err(WriteError::Plan(format!("a parallel loop writes the scalar {id}")));
        }
        Ok(build.store(value, slot.pointer))
    }

    /// A copy of an instruction of the region's function, with that one's operands.
    pub(super) fn clone_here(&self, build: &Builder, original: Value) -> Value {
        let copy = build.clone_here(original);
        if let CodeTarget::Outlined(outlined) = self {
            copy.move_location_to(outlined.function);
        }
        copy
    }
}

impl Outlined {
    /// Reserves room in the context and loads from it in the prologue.
    fn capture(&mut self, build: &Builder, source: Source, ty: super::ir::Type) -> Value {
        if let Some(known) = self.captures.get(&source) {
            return known.copy;
        }
        let (bytes, alignment) = self.function.module().layout_of(ty);
        let offset = self.bytes.next_multiple_of(alignment.max(1));
        self.bytes = offset + bytes;
        self.alignment = self.alignment.max(alignment);
        let end = self.prologue.terminator();
        let load = |b: &Builder| b.load(ty, b.offset(self.context, b.constant(offset as i64)));
        let copy = build.elsewhere(|b| b.before(end), load);
        self.captures.insert(source, Capture { offset, copy });
        copy
    }

    /// Puts what was captured into memory of the caller, where the builder stands, and returns the address.
    fn pass(&self, build: &Builder, slots: &Slots) -> Result<Value, WriteError> {
        let top = build.block().function().entry_block().instructions()[0];
        let memory = build.array_type(build.int(8), self.bytes.max(1));
        let context = build.elsewhere(|b| b.before(top), |b| b.alloca(memory));
        context.set_alignment(self.alignment as u32);
        for (source, capture) in &self.captures {
            let value = match *source {
                Source::Value(value) => value,
                Source::Slot(id) => {
                    let StackSlot { ty, pointer } = slots.get(id)?;
                    build.load(ty, pointer)
                }
            };
            build.store(value, build.offset(context, build.constant(capture.offset as i64)));
        }
        Ok(context)
    }
}

impl CodeWriter<'_> {
    /// Lets `write` fill `function`, a new one, whose argument of number `context` is to point to what it captures. `write` is given the
    /// place for what runs once, before everything else. Returns that argument for a call from here, where the builder stands again.
    pub(super) fn write_outlined(
        &mut self,
        function: Value,
        context: u32,
        write: impl FnOnce(&mut Self, Value) -> Result<(), WriteError>,
    ) -> Result<Value, WriteError> {
        let here = self.build.block();
        let prologue = self.build.new_block_in(function, c"");
        let start = self.build.new_block_in(function, c"lw.start");
        self.build.set_location(function.artificial_location());
        self.build.at_end(prologue);
        let first = self.build.branch(start);
        self.build.at_end(start);
        let context = function.argument(context);
        let captures = IndexMap::new();
        let outlined = Outlined { function, prologue, context, captures, bytes: 0, alignment: 1 };
        self.target = CodeTarget::Outlined(outlined);
        write(self, first)?;
        let CodeTarget::Outlined(outlined) = std::mem::replace(&mut self.target, CodeTarget::InPlace) else {
            return Err(WriteError::Plan("a function of its own inside of another".into()));
        };
        self.build.set_location(self.site.function.artificial_location());
        self.build.at_end(here);
        outlined.pass(self.build, self.slots)
    }
}
