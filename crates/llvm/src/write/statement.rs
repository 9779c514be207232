//! One instance of a statement: inductions and slots become values, then the instructions are copied.

use super::WriteError;
use super::code::CodeWriter;
use super::elsewhere::Fetched;
use super::ir::{Block, Value};
use super::versions::StackSlot;
use crate::body::{Body, BodyKind, Induction, ScalarAccess};
use crate::facts::{BlockId, ValueId};
use model::delicm::Element;
use model::loop_ast::{OwnCell, PrivateScalar};
use model::polynomial::Polynomial;
use model::scop::{ArrayId, Predicate, Role, StatementId};
use planted::Fault;
use std::collections::{HashMap, HashSet};

/// One instance being written.
#[derive(Default)]
pub(super) struct Instance {
    /// Values of the region in this instance.
    pub(super) now: HashMap<Value, Value>,
    copied: HashSet<Value>,
    arrays: HashMap<Value, ArrayId>,
    weakened: HashSet<Value>,
    updating: HashSet<Value>,
    statement: Option<StatementId>,
}

impl CodeWriter<'_> {
    pub(super) fn write_statement(
        &mut self,
        statement: StatementId,
        coordinates: &[Value],
        found: &[(ValueId, OwnCell)],
    ) -> Result<(), WriteError> {
        let (site, body) = (self.site, self.site.body(statement)?);
        if coordinates.len() != body.loops.len() {
            return Err(WriteError::Plan(format!("{statement} is called with {} coordinates", coordinates.len())));
        }
        let values = |ids: &[ValueId]| ids.iter().map(|&id| site.value(id)).collect::<HashSet<_>>();
        let mut instance = Instance {
            now: HashMap::new(),
            copied: HashSet::new(),
            arrays: self.arrays_of(statement),
            weakened: values(&body.recomputed),
            updating: values(&body.updating),
            statement: Some(statement),
        };
        self.found_at.clear();
        self.read_slots(body, &mut instance)?;
        let mut fetched = Fetched::nothing(&body.elsewhere);
        let skipped = match self.guarded.contains(&statement) {
            true => None,
            false => self.write_predicates(body, coordinates, &mut instance, &mut fetched)?,
        };
        self.fetch(&body.elsewhere, coordinates, &mut instance, &mut fetched)?;
        for (load, now) in self.ahead.loads() {
            instance.now.insert(site.value(load), now);
            instance.copied.insert(site.value(load));
        }
        for (load, own) in found {
            let load = site.value(*load);
            let now = self.load_own(load.ty(), own)?;
            instance.now.insert(load, now);
            instance.copied.insert(load);
        }
        // After the reads: where a value is both, the induction counts.
        self.write_inductions(body, coordinates, &mut instance)?;
        match &body.kind {
            BodyKind::Instructions(ids) => {
                for &id in ids {
                    self.copy_instruction(&mut instance, site.value(id))?;
                }
            }
            BodyKind::Boxed { entry, exit, blocks, edge_writes } => {
                for &id in &body.recomputed {
                    self.copy_instruction(&mut instance, site.value(id))?;
                }
                let blocks: Vec<Block> = blocks.iter().map(|&b| site.block(b)).collect();
                let edges = (site.block(*entry), site.block(*exit));
                let copies = self.copy_box(&mut instance, edges, &blocks)?;
                self.write_edges(&instance, edge_writes, &copies)?;
            }
        }
        for access in &body.writes {
            let value = self.current(&instance, site.value(access.value))?;
            self.write_slot(access.slot, value)?;
        }
        for (value, element) in &body.elsewhere.stores {
            let value = self.current(&instance, site.value(*value))?;
            self.store_element(value, element, coordinates)?;
        }
        if let Some(skipped) = skipped {
            self.build.branch(skipped);
            self.place_after_current(skipped);
            self.build.at_end(skipped);
        }
        Ok(())
    }

    /// Where an instance finds the scalars that its iteration has for itself.
    pub(super) fn write_own_slots(
        &mut self,
        private: &[PrivateScalar],
    ) -> Result<HashMap<ArrayId, StackSlot>, WriteError> {
        let mut own = HashMap::new();
        for PrivateScalar { scalar, number, .. } in private {
            let StackSlot { ty, pointer } = self.slots.get(*scalar)?;
            let (bytes, alignment) = self.site.function.module().layout_of(ty);
            let size = self.build.constant(bytes.next_multiple_of(alignment.max(1)) as i64);
            let number = self.write_int(number)?;
            let pointer = self.local(pointer);
            let pointer = self.build.offset(pointer, self.build.mul(number, size));
            own.insert(*scalar, StackSlot { ty, pointer });
        }
        Ok(own)
    }

    fn read_slots(&mut self, body: &Body, instance: &mut Instance) -> Result<(), WriteError> {
        for access in &body.reads {
            let value = match self.own_slots.get(&access.slot) {
                Some(own) => {
                    let load = self.build.load(own.ty, own.pointer);
                    self.tags.mark_slot(self.build, load);
                    load
                }
                None => self.target.read_slot(self.build, access.slot, self.slots.get(access.slot)?),
            };
            instance.now.insert(self.site.value(access.value), value);
        }
        Ok(())
    }

    fn write_inductions(
        &mut self,
        body: &Body,
        coordinates: &[Value],
        instance: &mut Instance,
    ) -> Result<(), WriteError> {
        for Induction { value, base, offset } in &body.inductions {
            let now = self.write_induction(*value, *base, offset, coordinates)?;
            instance.now.insert(self.site.value(*value), now);
        }
        Ok(())
    }

    /// Goes on only where the predicates of a statement hold; returns where control is otherwise, if there are any.
    fn write_predicates(
        &mut self,
        body: &Body,
        coordinates: &[Value],
        instance: &mut Instance,
        fetched: &mut Fetched,
    ) -> Result<Option<Block>, WriteError> {
        if body.predicates.is_empty() {
            return Ok(None);
        }
        let skipped = self.build.new_block(c"lw.skipped");
        self.write_inductions(body, coordinates, instance)?;
        for Predicate { condition, truth, .. } in &body.predicates {
            self.fetch_value(*condition, &body.elsewhere, coordinates, instance, fetched)?;
            if body.recomputed.contains(condition) {
                for &id in &body.recomputed {
                    self.copy_instruction(instance, self.site.value(id))?;
                }
            }
            let holds = self.current(instance, self.site.value(*condition))?;
            let then = self.build.new_block(c"lw.predicated");
            let (first, second) = if *truth { (then, skipped) } else { (skipped, then) };
            self.build.branch_if(holds, first, second);
            self.place_after_current(then);
            self.build.at_end(then);
        }
        Ok(Some(skipped))
    }

    /// The same for the first of the statements of a loop, before the loop, whose other instances find the same there.
    pub(super) fn write_predicates_before(
        &mut self,
        statement: StatementId,
        coordinates: &[Value],
    ) -> Result<Option<Block>, WriteError> {
        let (site, body) = (self.site, self.site.body(statement)?);
        let mut instance = Instance::default();
        self.read_slots(body, &mut instance)?;
        instance.weakened = body.recomputed.iter().map(|&id| site.value(id)).collect();
        let mut fetched = Fetched::nothing(&body.elsewhere);
        self.write_predicates(body, coordinates, &mut instance, &mut fetched)
    }

    /// The array that an instruction touches, where it is one: a copy from one to another may be tagged as neither.
    fn arrays_of(&self, statement: StatementId) -> HashMap<Value, ArrayId> {
        let accesses = self.site.region.scop.statements.get(&statement).map_or(&[][..], |s| &s.accesses);
        let memory = || accesses.iter().filter_map(|access| Some((access.role.instruction()?, access.array)));
        let touches_another = |instruction, array| memory().any(|m| m.0 == instruction && m.1 != array);
        let only = memory().filter(|&(instruction, array)| !touches_another(instruction, array));
        only.map(|(instruction, array)| (self.site.value(instruction), array)).collect()
    }

    fn write_slot(&mut self, slot: ArrayId, value: Value) -> Result<(), WriteError> {
        match self.own_slots.get(&slot) {
            Some(own) => {
                let store = self.target.write_slot(self.build, slot, *own, value)?;
                self.tags.mark_slot(self.build, store);
            }
            None => {
                self.target.write_slot(self.build, slot, self.slots.get(slot)?, value)?;
            }
        }
        Ok(())
    }

    /// Wrapping 64-bit arithmetic, cut to the φ's type: exact modulo 2^width, which is all that [`Induction`] promises.
    pub(super) fn write_induction(
        &mut self,
        value: ValueId,
        base: Option<ValueId>,
        offset: &Polynomial,
        coordinates: &[Value],
    ) -> Result<Value, WriteError> {
        let sum = self.write_polynomial(offset, coordinates)?;
        let ty = self.site.value(value).ty();
        let base = base.map(|id| self.outside(self.site.value(id)));
        match (ty.is_pointer(), ty.int_bits(), base) {
            (true, _, Some(base)) => Ok(self.build.offset(base, sum)),
            (_, Some(64), None) => Ok(sum),
            (_, Some(bits), None) if bits < 64 => Ok(self.build.trunc(sum, ty)),
            _ => Err(WriteError::Reader(
                "an induction is neither an integer of at most 64 bits nor a pointer with a base".into(),
            )),
        }
    }

    /// What an operand is in this instance.
    fn current(&mut self, instance: &Instance, value: Value) -> Result<Value, WriteError> {
        let known = instance.now.get(&value).or_else(|| instance.now.get(&self.site.stands_for(value)));
        if let Some(&value) = known {
            return Ok(value);
        }
        let known = self.inputs.copy_of(value).or_else(|| self.inputs.copy_of(self.site.stands_for(value)));
        if let Some(copy) = known {
            return Ok(self.local(copy));
        }
        if self.site.is_inside(value) {
            return Err(WriteError::Reader(
                "a statement uses a value of the region that it neither computes nor reads".into(),
            ));
        }
        Ok(self.outside(value))
    }

    fn copy_instruction(&mut self, instance: &mut Instance, original: Value) -> Result<(), WriteError> {
        // One instruction may be listed twice, as a part of two operands that are recomputed.
        if original.is_hint() || !instance.copied.insert(original) {
            return Ok(());
        }
        if !original.is_instruction() || original.is_phi() || original.is_alloca() {
            return Err(WriteError::Reader("a statement contains what cannot be copied".into()));
        }
        let copy = self.copy_raw(instance, original);
        for (index, operand) in original.operands().into_iter().enumerate() {
            let operand_now = self.current(instance, operand)?;
            if operand_now != operand {
                copy.set_operand(index, operand_now);
            }
        }
        if let Some(pointer) = self.found_before(instance, original) {
            // A load has one operand, and the address is the second one of a store.
            copy.set_operand(usize::from(original.is_store()), pointer);
        }
        Ok(())
    }

    /// The address by which the instance has read the element that the load or store touches, if it has. That is the same address, but LLVM
    /// might not see that: what is stored would not be found again without going through memory.
    fn found_before(&self, instance: &Instance, original: Value) -> Option<Value> {
        if self.found_at.is_empty() || !(original.is_load() || original.is_store()) {
            return None;
        }
        let statement = self.site.region.scop.statements.get(&instance.statement?)?;
        let is_it = |role: Role| role.instruction().is_some_and(|id| self.site.value(id) == original);
        let access =
            statement.accesses.iter().find(|access| is_it(access.role) && access.exact && access.row.is_none())?;
        let offset = access.one_offset().ok()??;
        let is_there = |e: &Element| e.array == access.array && e.row.is_none() && e.offset == offset;
        self.found_at.iter().find(|(element, _)| is_there(element)).map(|(_, pointer)| *pointer)
    }

    /// The copy with its marks, but still with the original's operands.
    fn copy_raw(&mut self, instance: &mut Instance, original: Value) -> Value {
        let copy = self.target.clone_here(self.build, original);
        if instance.weakened.contains(&original) {
            copy.drop_promises();
        }
        // Partial sums in another order may wrap, or be infinite, where the original's were not; the total is the same.
        if instance.updating.contains(&original) && !planted::is(Fault::UpdatesKeepPromises) {
            copy.drop_promises_of_value();
        }
        let array = instance.arrays.get(&original);
        // What a copy of memory says of its sides was said of one iteration of the original, and of types.
        let doubtful: &[&str] = match array {
            None => &["tbaa", "tbaa.struct", "alias.scope", "noalias"],
            Some(array) if self.site.region.retyped.contains(array) => &["tbaa", "tbaa.struct"],
            // Stores that LLVM made one memset of left it their type, with which no other access was compared.
            Some(_) if !original.is_load() && !original.is_store() => &["tbaa", "tbaa.struct"],
            Some(_) => &["tbaa.struct"],
        };
        if original.touches_memory() {
            doubtful.iter().for_each(|kind| copy.drop_metadata(kind));
        }
        if let Some(&array) = array {
            self.tags.mark_array(self.build, copy, array);
        }
        if original.touches_memory() {
            self.tags.mark_independent(copy);
        }
        instance.now.insert(original, copy);
        copy
    }

    /// Copies control flow that the model does not look into. Edges to `exit` lead to a new block, where the builder stands then.
    fn copy_box(
        &mut self,
        instance: &mut Instance,
        (entry, exit): (Block, Block),
        blocks: &[Block],
    ) -> Result<HashMap<Block, Block>, WriteError> {
        let before = self.build.block();
        let mut copies: HashMap<Block, Block> = HashMap::new();
        for &block in blocks {
            copies.insert(block, self.build.new_block(c"lw.box"));
        }
        let after = self.build.new_block(c"lw.box.exit");
        let Some(&first) = copies.get(&entry) else {
            return Err(WriteError::Reader("a boxed part does not contain its entry".into()));
        };
        self.build.branch(first);

        // Values first: φs and branches backwards need them all.
        let mut phis: Vec<(Value, Value)> = Vec::new();
        let mut rest: Vec<(Value, Value)> = Vec::new();
        for &block in blocks {
            self.build.at_end(copies[&block]);
            for original in block.instructions() {
                if original.is_phi() {
                    let before_box = self.known_before_box(instance, original);
                    let arriving: Vec<_> = original.incoming();
                    if block == entry
                        && arriving.iter().all(|(_, from)| !copies.contains_key(from))
                        && before_box.is_some()
                    {
                        continue;
                    }
                    let copy = self.build.phi(original.ty());
                    copy.copy_fast_math_flags(original);
                    if block == entry {
                        let value = self.box_entry_value(instance, original, before_box, &copies)?;
                        if let Some(value) = value {
                            copy.add_incoming(value, before);
                        }
                    }
                    instance.now.insert(original, copy);
                    phis.push((original, copy));
                } else if original.is_alloca() {
                    return Err(WriteError::Reader("a boxed part allocates stack memory".into()));
                } else if !original.is_hint() {
                    let loop_id = original.copied_loop_id();
                    let copy = self.copy_raw(instance, original);
                    if let Some(id) = loop_id {
                        copy.set_metadata("llvm.loop", id);
                    }
                    rest.push((original, copy));
                }
            }
        }
        for (original, copy) in phis {
            for (value, from) in original.incoming() {
                if let Some(&from) = copies.get(&from) {
                    let value = self.current(instance, value)?;
                    copy.add_incoming(value, from);
                }
            }
        }
        // Only branches lead to the exit: where it is the latch of the loop around the box, an edge from it into the box starts the
        // next instance, which is another copy.
        copies.insert(exit, after);
        let is_last = exit == self.site.block(self.site.region.exit) && !planted::is(Fault::BoxLeftAnywhere);
        if is_last {
            copies.insert(self.site.joints.original_exit, after);
        }
        for (original, copy) in rest {
            if original.block().is_some_and(|b| b.terminator() == original) {
                for (index, target) in original.successors().into_iter().enumerate() {
                    let Some(&target) = copies.get(&target) else {
                        return Err(WriteError::Reader(
                            "a boxed part is left over an edge that is not its exit".into(),
                        ));
                    };
                    copy.set_successor(index, target);
                }
                let targets: HashSet<Block> = original.successors().into_iter().collect();
                if targets.is_empty() {
                    return Err(WriteError::Reader("a boxed part ends the function".into()));
                }
            }
            self.build.at_end(copy.block().expect("an instruction"));
            for (index, operand) in original.operands().into_iter().enumerate() {
                // Targets of branches are operands too.
                if operand.is_block() {
                    continue;
                }
                let operand_now = self.current(instance, operand)?;
                if operand_now != operand {
                    copy.set_operand(index, operand_now);
                }
            }
        }
        self.build.at_end(after);
        after.move_after(copies[blocks.last().expect("it contains its entry")]);
        Ok(copies)
    }

    /// Slots that hold what a φ behind the box takes over the edge from the named block.
    fn write_edges(
        &mut self,
        instance: &Instance,
        writes: &[(BlockId, ScalarAccess)],
        copies: &HashMap<Block, Block>,
    ) -> Result<(), WriteError> {
        let after = self.build.block();
        for (block, access) in writes {
            let Some(&copy) = copies.get(&self.site.block(*block)) else {
                return Err(WriteError::Reader("a boxed part writes on an edge that is not its own".into()));
            };
            self.build.before(copy.terminator());
            let value = self.current(instance, self.site.value(access.value))?;
            if !planted::is(Fault::EdgeWriteLost) {
                self.write_slot(access.slot, value)?;
            }
        }
        self.build.at_end(after);
        Ok(())
    }

    /// What was read or induced for a φ, or for what it stands for, or is known of it before the region.
    fn known_before_box(&mut self, instance: &Instance, phi: Value) -> Option<Value> {
        let twin = if planted::is(Fault::TwinAtBoxEntryForgotten) { phi } else { self.site.stands_for(phi) };
        let names = [phi, twin];
        let here = names.iter().find_map(|name| instance.now.get(name)).copied();
        let outside = names.iter().find_map(|&name| self.inputs.copy_of(name));
        here.or_else(|| outside.map(|value| self.local(value)))
    }

    /// What a φ at the entry of a box takes from the code before it: what is known of it there, else its one value from there.
    fn box_entry_value(
        &mut self,
        instance: &Instance,
        phi: Value,
        known: Option<Value>,
        copies: &HashMap<Block, Block>,
    ) -> Result<Option<Value>, WriteError> {
        if known.is_some() {
            return Ok(known);
        }
        let mut arriving = Vec::new();
        for (value, from) in phi.incoming() {
            if !copies.contains_key(&from) && !arriving.contains(&value) {
                arriving.push(value);
            }
        }
        match arriving[..] {
            [] => Ok(None),
            [value] => self.current(instance, value).map(Some),
            _ => Err(WriteError::Reader("a φ at the entry of a boxed part has several values from outside".into())),
        }
    }
}
