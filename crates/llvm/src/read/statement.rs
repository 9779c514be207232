//! Cutting blocks into statements, and the scalars that pass between them.
//!
//! A statement exists for its *roots*: stores, calls that write errno, values that other statements need, and what φs receive. It
//! contains what its roots are computed from. A block falls apart into several statements where its roots share no load; so loads
//! are executed once, and pure arithmetic is repeated wherever it is needed (also across blocks, if it only rests on loop counters and
//! values from outside). All else that crosses from one statement to another goes through a *slot*: one cell, written at the
//! definition, read at the use. A φ has a slot of its own that its incoming edges write.
//!
//! Parts that were one short loop before LLVM unrolled it are one statement again ([`unrolled`]).

mod unrolled;

use super::Stop;
use super::arithmetic::{Arithmetic, Framed, InductionForm, Scope};
use super::control::{Boxed, Inside, Item, Turning};
use super::memory::Accesses;
use super::values::Values;
use crate::body::Induction;
use crate::facts::{BlockId, FunctionFacts, Op, ValueId, ValueKind};
use indexmap::{IndexMap, IndexSet};
use model::polynomial::PiecewisePolynomial;
use model::refusal::RefusalKind;
use model::scop::{AccessKind, Predicate, Role};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use unrolled::Pattern;

/// Pure expressions larger than this are passed through a slot rather than repeated.
const MAX_RECOMPUTED: usize = 48;

/// A cell for one value that crosses statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Slot {
    /// The value an instruction (or φ) last had.
    Value(ValueId),
    /// What the φ will be when control reaches it.
    Phi(ValueId),
}

pub struct Draft {
    pub scope: Scope,
    pub instructions: Vec<ValueId>,
    pub boxed: Option<BoxedPart>,
    pub recomputed: Vec<ValueId>,
    pub inductions: Vec<Induction>,
    /// Without this the inductions are wrong.
    pub framed: Vec<Framed<PiecewisePolynomial>>,
    pub reads: Vec<(ValueId, Slot)>,
    pub writes: Vec<(ValueId, Slot)>,
    pub bound_to_thread: bool,
    /// Index of the unit (block or box) it is cut from, in execution order.
    pub unit: usize,
}

/// What an instruction of a draft touches memory for.
pub fn role_of(facts: &FunctionFacts, draft: &Draft, instruction: ValueId) -> Role {
    match &facts.instruction(instruction).expect("an access").op {
        _ if draft.boxed.is_some() => Role::Block(instruction),
        Op::Load { .. } => Role::Load(instruction),
        Op::Store { value, .. } => Role::Store { instruction, value: *value },
        Op::Call(_) => Role::Call(instruction),
        _ => Role::Block(instruction),
    }
}

#[derive(Clone)]
pub struct BoxedPart {
    pub blocks: BTreeSet<BlockId>,
    pub exit: BlockId,
    pub edge_writes: Vec<(BlockId, ValueId, Slot)>,
    pub inside: Inside,
}

pub struct Cut {
    pub drafts: Vec<Draft>,
    pub slots: IndexSet<Slot>,
    pub initial: Vec<(Slot, ValueId)>,
    pub live_out_values: Vec<ValueId>,
    pub exit_phis: Vec<ValueId>,
    /// Of each block that is modelled.
    predicates: BTreeMap<BlockId, Vec<Predicate>>,
}

struct Unit {
    scope: Scope,
    boxed: Option<(BTreeSet<BlockId>, BlockId, Inside)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Root {
    Effect(ValueId),
    Value(ValueId),
    Phi { phi: ValueId, value: ValueId, from: BlockId },
}

/// What a set of roots of one unit is computed from.
#[derive(Default, Clone)]
struct Closure {
    own: BTreeSet<ValueId>,
    recomputed: BTreeSet<ValueId>,
    inductions: BTreeSet<ValueId>,
    reads: BTreeSet<(ValueId, Slot)>,
}

impl Closure {
    fn add(&mut self, other: Closure) {
        self.own.extend(other.own);
        self.recomputed.extend(other.recomputed);
        self.inductions.extend(other.inductions);
        self.reads.extend(other.reads);
    }
}

/// What the order of groups of roots goes by.
struct Order<'o> {
    /// Of each root in the block.
    places: &'o [usize],
    /// The first of each two comes first.
    before: &'o [(usize, usize)],
    /// By root.
    touches: &'o [Vec<Touch>],
}

struct Cutter<'r, 'a> {
    values: &'a Values<'a>,
    arithmetic: &'r mut Arithmetic<'a>,
    /// By load or store: the array it touches, as far as is known.
    arrays: &'r HashMap<ValueId, ValueId>,
    units: Vec<Unit>,
    home: BTreeMap<BlockId, usize>,
    roots: Vec<IndexSet<Root>>,
    slots: IndexSet<Slot>,
    initial: Vec<(Slot, ValueId)>,
    /// By φ and unit: what is proved on the way rests on the instances of the unit.
    inductions: HashMap<(ValueId, usize), Option<InductionForm>>,
}

/// Cuts the blocks of the region. `arrays`: by load or store, the array it touches, as far as is known.
pub fn cut(arithmetic: &mut Arithmetic, items: &[Item], arrays: &HashMap<ValueId, ValueId>) -> Result<Cut, Stop> {
    let mut units = Vec::new();
    collect_units(items, &mut units);
    let mut home = BTreeMap::new();
    for (index, unit) in units.iter().enumerate() {
        match &unit.boxed {
            Some((blocks, ..)) => home.extend(blocks.iter().map(|&b| (b, index))),
            None => {
                home.insert(unit.scope.block, index);
            }
        }
    }
    let roots = units.iter().map(|_| IndexSet::new()).collect();
    let mut cutter = Cutter {
        values: arithmetic.values,
        arithmetic,
        arrays,
        units,
        home,
        roots,
        slots: IndexSet::new(),
        initial: Vec::new(),
        inductions: HashMap::new(),
    };
    cutter.demand_effects()?;
    let (live_out_values, exit_phis) = cutter.demand_live_outs()?;
    let drafts = cutter.drafts()?;
    let predicates_of = |unit: &usize| cutter.units[*unit].scope.predicates.clone();
    let predicates = cutter.home.iter().map(|(&block, unit)| (block, predicates_of(unit))).collect();
    Ok(Cut { drafts, slots: cutter.slots, initial: cutter.initial, live_out_values, exit_phis, predicates })
}

impl Draft {
    /// All of it runs in every instance, whatever the data.
    pub fn is_certain(&self) -> bool {
        self.boxed.is_none() && self.scope.predicates.is_empty()
    }

    /// The iterations that may get to a block in a loop of a box.
    pub fn turning_at(&self, block: BlockId) -> Option<&Turning> {
        self.boxed.as_ref()?.inside.get(&block)
    }

    /// Those of all its blocks, if it is a box.
    pub fn all_instructions(&self, facts: &FunctionFacts) -> Vec<ValueId> {
        match &self.boxed {
            Some(part) => part.blocks.iter().flat_map(|&b| facts.block(b).instructions.clone()).collect(),
            None => self.instructions.clone(),
        }
    }
}

impl Cut {
    /// The predicates under which a φ is reached; none behind the region.
    pub fn predicates_of(&self, values: &Values, phi: ValueId) -> &[Predicate] {
        let block = values.facts.instruction(phi).expect("a φ").block;
        self.predicates.get(&block).map_or(&[], |p| &p[..])
    }

    /// Would running the statements of a block one after the other swap two accesses to one array, one of them a write?
    ///
    /// Blocks are cut before addresses are read, from what pointers look like; scalar evolution sees through more.
    pub fn swaps(&self, accesses: &Accesses, facts: &FunctionFacts) -> bool {
        let place = |value: ValueId| {
            let block = facts.instruction(value).expect("an instruction").block;
            facts.block(block).instructions.iter().position(|&v| v == value)
        };
        accesses.by_base.values().any(|all| {
            let mut units: BTreeMap<usize, Vec<(usize, Option<usize>, bool)>> = BTreeMap::new();
            for access in all.iter().filter(|a| self.drafts[a.draft].boxed.is_none()) {
                let writes = access.kind != AccessKind::Read;
                let unit = units.entry(self.drafts[access.draft].unit).or_default();
                unit.push((access.draft, place(access.instruction), writes));
            }
            units.values().any(|unit| {
                unit.iter().any(|&(draft, at, writes)| {
                    let swapped = |&(other, there, also_writes): &(usize, Option<usize>, bool)| {
                        other > draft && there < at && (writes || also_writes)
                    };
                    unit.iter().any(swapped)
                })
            })
        })
    }
}

fn collect_units(items: &[Item], units: &mut Vec<Unit>) {
    for item in items {
        match item {
            Item::Block(scope) => units.push(Unit { scope: scope.clone(), boxed: None }),
            Item::Loop { body, .. } => collect_units(body, units),
            Item::Boxed(Boxed { scope, blocks, exit, inside }) => {
                units.push(Unit { scope: scope.clone(), boxed: Some((blocks.clone(), *exit, inside.clone())) });
            }
        }
    }
}

impl Cutter<'_, '_> {
    fn op(&self, value: ValueId) -> &Op {
        &self.values.facts.instruction(value).expect("an instruction").op
    }

    fn block_of(&self, value: ValueId) -> BlockId {
        self.values.facts.instruction(value).expect("an instruction").block
    }

    /// errno and thread-local variables are other ones in another thread.
    fn is_bound_to_thread(&self, value: ValueId) -> bool {
        matches!(self.op(value), Op::Call(call) if call.math_errno || !call.any_thread)
    }

    fn demand_effects(&mut self) -> Result<(), Stop> {
        for unit in 0..self.units.len() {
            if let Some((blocks, ..)) = self.units[unit].boxed.clone() {
                let closure = self.box_closure(unit, &blocks)?;
                self.demand_reads(&closure)?;
                continue;
            }
            for &value in &self.values.facts.block(self.units[unit].scope.block).instructions {
                if self.op(value).has_effect() {
                    self.demand(unit, Root::Effect(value))?;
                }
            }
        }
        Ok(())
    }

    /// Values used behind the region, and φs at its exit.
    fn demand_live_outs(&mut self) -> Result<(Vec<ValueId>, Vec<ValueId>), Stop> {
        let facts = self.values.facts;
        let mut values = IndexSet::new();
        let mut phis = Vec::new();
        let unmodelled = self.values.reached_by_errors_only();
        for (index, block) in facts.blocks.iter().enumerate() {
            let block_id = BlockId(index as u32);
            for &user in &block.instructions {
                // φs of the entry may stand before the region, and be the counters of a loop around it.
                if self.values.region.contains(block_id) && !self.values.is_defined_before(user)
                    || unmodelled.contains(&block_id)
                {
                    continue;
                }
                let instruction = facts.instruction(user).expect("an instruction");
                if let Op::Phi { incoming } = &instruction.op {
                    let mut from_region = false;
                    for (&value, &from) in instruction.operands.iter().zip(incoming) {
                        if block_id == self.values.region.exit && self.values.region.contains(from) {
                            from_region = true;
                            continue;
                        }
                        // An edge that only errors take, or nobody: it is gone once there is new code.
                        let is_passed_by =
                            || facts.block(block_id).is_error || !facts.block(from).successors.contains(&block_id);
                        if self.values.region.contains(from) && is_passed_by() || unmodelled.contains(&from) {
                            continue;
                        }
                        if !self.values.is_defined_before(value) {
                            values.insert(value);
                        }
                    }
                    if from_region {
                        phis.push(user);
                    }
                } else {
                    let operands = instruction.operands.iter().copied();
                    values.extend(operands.filter(|&value| !self.values.is_defined_before(value)));
                }
            }
        }
        for &value in &values {
            // Who uses it behind the region comes from where it was loaded, so that it is what was loaded before.
            if self.values.is_outside(value) {
                self.slots.insert(Slot::Value(value));
                self.initial.push((Slot::Value(value), value));
                continue;
            }
            self.demand_value(value)?;
        }
        for &phi in &phis {
            // A counter of the next loop that starts from 0, say: nothing of the region has to tell it that.
            match self.values.only_from_region(phi).filter(|&value| self.values.is_outside(value)) {
                Some(value) => {
                    self.slots.insert(Slot::Phi(phi));
                    self.initial.push((Slot::Phi(phi), value));
                }
                None => self.demand_phi(phi)?,
            }
        }
        Ok((values.into_iter().collect(), phis))
    }

    /// The value is needed by another statement or behind the region.
    fn demand_value(&mut self, value: ValueId) -> Result<(), Stop> {
        self.slots.insert(Slot::Value(value));
        match self.home.get(&self.block_of(value)) {
            Some(&unit) => self.demand(unit, Root::Value(value)),
            // Never computed in the modelled region: the block cannot be reached.
            None => Ok(()),
        }
    }

    /// The φ's slot is read: every edge into it must write it.
    fn demand_phi(&mut self, phi: ValueId) -> Result<(), Stop> {
        if !self.slots.insert(Slot::Phi(phi)) {
            return Ok(());
        }
        let instruction = self.values.facts.instruction(phi).expect("a φ");
        let Op::Phi { incoming } = &instruction.op else { unreachable!("demand_phi is called for φs") };
        let is_exit = instruction.block == self.values.region.exit;
        for (&value, &from) in instruction.operands.iter().zip(incoming) {
            match self.home.get(&from) {
                Some(&unit) => self.demand(unit, Root::Phi { phi, value, from })?,
                None if self.values.region.contains(from) || is_exit => {} // not reached, or another way to the exit
                None => self.initial.push((Slot::Phi(phi), value)),
            }
        }
        Ok(())
    }

    fn demand(&mut self, unit: usize, root: Root) -> Result<(), Stop> {
        if !self.roots[unit].insert(root) || self.units[unit].boxed.is_some() && matches!(root, Root::Effect(_)) {
            return Ok(());
        }
        // Looking at the closure demands, in turn, what it needs from others.
        let closure = self.closure(unit, root)?;
        self.demand_reads(&closure)
    }

    fn demand_reads(&mut self, closure: &Closure) -> Result<(), Stop> {
        for &(_, slot) in &closure.reads {
            match slot {
                Slot::Value(value) => self.demand_value(value)?,
                Slot::Phi(phi) => self.demand_phi(phi)?,
            }
        }
        Ok(())
    }

    fn box_closure(&mut self, unit: usize, blocks: &BTreeSet<BlockId>) -> Result<Closure, Stop> {
        let mut closure = Closure::default();
        self.include_predicates(unit, &mut closure)?;
        let (facts, entry) = (self.values.facts, self.units[unit].scope.block);
        for &value in blocks.iter().flat_map(|&b| &facts.block(b).instructions) {
            let instruction = facts.instruction(value).expect("an instruction");
            match &instruction.op {
                Op::Phi { incoming } if instruction.block == entry && !incoming.iter().any(|b| blocks.contains(b)) => {
                    self.include(unit, value, &mut closure)?;
                }
                Op::Phi { incoming }
                    if instruction.block == entry && incoming.iter().filter(|b| !blocks.contains(b)).count() != 1 =>
                {
                    let line = self.units[unit].scope.line;
                    let why = "a loop entered in several ways";
                    return Err(Stop::refuse(RefusalKind::Irreducible, line, why, entry));
                }
                Op::Ignorable(_) => {}
                _ => {
                    for &operand in &instruction.operands {
                        self.include(unit, operand, &mut closure)?;
                    }
                }
            }
        }
        Ok(closure)
    }

    fn closure(&mut self, unit: usize, root: Root) -> Result<Closure, Stop> {
        let mut closure = Closure::default();
        match root {
            Root::Effect(value) => self.include_own(unit, value, &mut closure)?,
            Root::Value(value) | Root::Phi { value, .. } => self.include(unit, value, &mut closure)?,
        }
        self.include_predicates(unit, &mut closure)?;
        Ok(closure)
    }

    /// What decides whether the unit does anything.
    fn include_predicates(&mut self, unit: usize, closure: &mut Closure) -> Result<(), Stop> {
        let predicates = self.units[unit].scope.predicates.clone();
        predicates.iter().try_for_each(|p| self.include(unit, p.condition, closure))
    }

    fn in_unit(&self, unit: usize, block: BlockId) -> bool {
        self.home.get(&block) == Some(&unit)
    }

    /// Adds an operand that code of `unit` uses, and all that it needs there.
    fn include(&mut self, unit: usize, value: ValueId, closure: &mut Closure) -> Result<(), Stop> {
        if self.values.is_outside(value) {
            return Ok(());
        }
        // A box copies its φs.
        let written = value;
        let value = if self.units[unit].boxed.is_some() { value } else { self.values.stands_for(value) };
        let block = self.block_of(value);
        let is_phi = self.values.facts.is_phi(value);
        if is_phi && self.induction(value, unit)?.is_some() {
            closure.inductions.insert(value);
            return Ok(());
        }
        let boxed = self.units[unit].boxed.is_some();
        if self.in_unit(unit, block) {
            if is_phi {
                let at_entry = block == self.units[unit].scope.block;
                if boxed && (!at_entry || self.enters_from_inside(unit, value)) {
                    return Ok(()); // cloned with the box
                }
                // The same from nowhere but counters, instead of a value that one statement passes to another.
                let twin = self.values.stands_for(value);
                let mut again = Closure::default();
                if twin != value
                    && !self.in_unit(unit, self.block_of(twin))
                    && self.is_recomputable(unit, twin, &mut again)?
                {
                    closure.add(again);
                    return Ok(());
                }
                closure.reads.insert((value, Slot::Phi(value)));
                return Ok(());
            }
            if boxed {
                return Ok(());
            }
            return self.include_own(unit, value, closure);
        }
        let mut again = Closure::default();
        if self.is_recomputable(unit, value, &mut again)? {
            closure.add(again);
            return Ok(());
        }
        // Nobody may have computed it that runs before: only the arms of a condition do.
        let user = self.units[unit].scope.block;
        if value != written && !self.values.facts.dominates(block, user) {
            let line = self.units[unit].scope.line;
            let what = self.values.facts.display_name(written);
            return Err(Stop::refuse(RefusalKind::UnsupportedInstruction, line, what, user));
        }
        closure.reads.insert((value, Slot::Value(value)));
        Ok(())
    }

    fn enters_from_inside(&self, unit: usize, phi: ValueId) -> bool {
        let Op::Phi { incoming } = self.op(phi) else { return false };
        incoming.iter().any(|&b| self.in_unit(unit, b))
    }

    fn include_own(&mut self, unit: usize, value: ValueId, closure: &mut Closure) -> Result<(), Stop> {
        if !closure.own.insert(value) {
            return Ok(());
        }
        for &operand in &self.values.facts.instruction(value).expect("an instruction").operands {
            self.include(unit, operand, closure)?;
        }
        Ok(())
    }

    /// Does it only compute, the same whenever it runs? Pointers to rows are taken for that: where one was loaded it can be again.
    fn is_function_of_operands(&self, value: ValueId) -> bool {
        let instruction = self.values.facts.instruction(value).expect("an instruction");
        self.values.rows.contains(&value) || instruction.pure_and_speculatable && !instruction.reads_memory
    }

    /// Can `value`, defined elsewhere in the region, be computed again in `unit` from counters and outside values alone?
    ///
    /// A counter of a loop around both places has the same value in both: the definition dominates the use in one iteration.
    fn is_recomputable(&mut self, unit: usize, value: ValueId, again: &mut Closure) -> Result<bool, Stop> {
        let value = self.values.stands_for(value);
        if self.values.is_outside(value) || again.recomputed.contains(&value) {
            return Ok(true);
        }
        if self.values.facts.is_phi(value) {
            let usable = self.induction(value, unit)?.is_some();
            if usable {
                again.inductions.insert(value);
            }
            return Ok(usable);
        }
        let instruction = self.values.facts.instruction(value).expect("an instruction");
        if !self.is_function_of_operands(value) || again.recomputed.len() >= MAX_RECOMPUTED {
            return Ok(false);
        }
        if matches!(self.values.facts.value(value).kind, ValueKind::Other) {
            return Ok(false);
        }
        for &operand in &instruction.operands {
            if !self.is_recomputable(unit, operand, again)? {
                return Ok(false);
            }
        }
        again.recomputed.insert(value);
        Ok(true)
    }

    /// How to compute a φ from the iteration counts of the loops around `unit`, if it steps evenly in one of them.
    fn induction(&mut self, phi: ValueId, unit: usize) -> Result<Option<InductionForm>, Stop> {
        let scope = self.units[unit].scope.clone();
        let block = self.block_of(phi);
        let Some(l) = self.values.facts.block(block).innermost_loop else { return Ok(None) };
        if self.values.facts.loops[l.index()].header != block || !scope.loops.contains(&l) {
            return Ok(None);
        }
        let key = (phi, unit);
        if let Some(known) = self.inductions.get(&key) {
            return Ok(known.clone());
        }
        // From a row it is no function of counters and values from outside alone.
        let from_outside = |form: &InductionForm| form.base.is_none_or(|base| !self.values.rows.contains(&base));
        let form = self.arithmetic.induction_polynomial(phi, &scope)?.filter(from_outside);
        self.inductions.insert(key, form.clone());
        Ok(form)
    }

    fn drafts(&mut self) -> Result<Vec<Draft>, Stop> {
        let mut drafts = Vec::new();
        for unit in 0..self.units.len() {
            let roots: Vec<Root> = self.roots[unit].iter().copied().collect();
            if let Some((blocks, exit, inside)) = self.units[unit].boxed.clone() {
                let mut closure = self.box_closure(unit, &blocks)?;
                let mut part = BoxedPart { blocks: blocks.clone(), exit, edge_writes: Vec::new(), inside };
                let mut writes = Vec::new();
                for root in roots {
                    match root {
                        Root::Effect(_) => {}
                        Root::Value(value) => writes.push((value, Slot::Value(value))),
                        Root::Phi { phi, value, from } => {
                            self.include(unit, value, &mut closure)?;
                            part.edge_writes.push((from, value, Slot::Phi(phi)));
                        }
                    }
                }
                let mut draft = self.draft(unit, &closure, writes)?;
                draft.bound_to_thread |= blocks.iter().any(|&b| {
                    let instructions = &self.values.facts.block(b).instructions;
                    instructions.iter().any(|&v| self.is_bound_to_thread(v))
                });
                draft.boxed = Some(part);
                drafts.push(draft);
                continue;
            }
            for group in self.group(unit, &roots)? {
                let mut closure = Closure::default();
                let mut writes = Vec::new();
                for &root in &group {
                    let part = self.closure(unit, root)?;
                    closure.add(part);
                    match root {
                        Root::Effect(_) => {}
                        Root::Value(value) => writes.push((value, Slot::Value(value))),
                        Root::Phi { phi, value, .. } => writes.push((value, Slot::Phi(phi))),
                    }
                }
                drafts.push(self.draft(unit, &closure, writes)?);
            }
        }
        Ok(drafts)
    }

    fn draft(&mut self, unit: usize, closure: &Closure, writes: Vec<(ValueId, Slot)>) -> Result<Draft, Stop> {
        let (mut inductions, mut framed) = (Vec::new(), Vec::new());
        for &value in &closure.inductions {
            let form = self.induction(value, unit)?.expect("only inductions are collected");
            inductions.push(Induction { value, base: form.base, offset: form.offset });
            framed.extend(form.framed);
        }
        let recomputed = self.in_program_order(&closure.recomputed);
        let own = self.in_program_order(&closure.own);
        let bound_to_thread = recomputed.iter().chain(&own).any(|&v| self.is_bound_to_thread(v));
        let instructions = recomputed.iter().chain(&own).copied().collect();
        let scope = self.units[unit].scope.clone();
        let lines = own.iter().filter_map(|&v| self.values.facts.instruction(v)).map(|i| i.line);
        let line = lines.filter(|l| l.is_known()).max();
        Ok(Draft {
            scope: Scope { line: line.unwrap_or(scope.line), ..scope },
            instructions,
            boxed: None,
            recomputed,
            inductions,
            framed,
            reads: closure.reads.iter().copied().collect(),
            writes,
            bound_to_thread,
            unit,
        })
    }

    /// Blocks are in reverse post-order, so definitions come before uses.
    fn in_program_order(&self, values: &BTreeSet<ValueId>) -> Vec<ValueId> {
        let mut ordered: Vec<ValueId> = values.iter().copied().collect();
        ordered.sort_by_key(|&v| self.position(v));
        ordered
    }

    fn position(&self, value: ValueId) -> (BlockId, usize) {
        let block = self.block_of(value);
        let at = self.values.facts.block(block).instructions.iter().position(|&v| v == value);
        (block, at.unwrap_or(usize::MAX))
    }

    /// Splits the roots of a block into statements, in execution order.
    fn group(&mut self, unit: usize, roots: &[Root]) -> Result<Vec<Vec<Root>>, Stop> {
        let closures = roots.iter().map(|&root| self.closure(unit, root)).collect::<Result<Vec<_>, _>>()?;
        let mut class: Vec<usize> = (0..roots.len()).collect();
        // What is computed once in the block is computed in one statement, unless it rests on counters and values from outside.
        let anchors = |c: &Closure, this: &Self| -> BTreeSet<ValueId> {
            let mut varying: BTreeSet<ValueId> = c.reads.iter().map(|(value, _)| *value).collect();
            let mut anchors = BTreeSet::new();
            for v in this.in_program_order(&c.own) {
                let instruction = this.values.facts.instruction(v).expect("an instruction");
                let rests_on_scalars = instruction.operands.iter().any(|o| varying.contains(o));
                if rests_on_scalars {
                    varying.insert(v);
                }
                let is_pure = instruction.pure_and_speculatable || this.values.rows.contains(&v);
                if rests_on_scalars || !is_pure {
                    anchors.insert(v);
                }
            }
            anchors
        };
        let anchored: Vec<BTreeSet<ValueId>> = closures.iter().map(|c| anchors(c, self)).collect();
        for a in 0..roots.len() {
            for b in 0..a {
                if !anchored[a].is_disjoint(&anchored[b]) {
                    merge(&mut class, a, b);
                }
            }
        }
        // What only passes values on to the next iteration is no statement of its own.
        let is_reader = |c: &Closure| c.reads.iter().any(|(_, slot)| matches!(slot, Slot::Phi(_)));
        let with_phis = |&root: &usize| matches!(roots[root], Root::Phi { .. }) || is_reader(&closures[root]);
        let with_phis: Vec<usize> = (0..roots.len()).filter(with_phis).collect();
        let effects = with_phis.iter().filter(|&&root| matches!(roots[root], Root::Effect(_)));
        let storing: BTreeSet<usize> = effects.map(|&root| class[root]).collect();
        if storing.len() < 2 && closures.iter().any(is_reader) {
            with_phis.windows(2).for_each(|pair| merge(&mut class, pair[0], pair[1]));
        }
        // A φ's slot may be written at the end of the very block that reads it: who reads it comes first.
        let reads =
            |reader: usize, phi: ValueId| closures[reader].reads.iter().any(|(_, slot)| *slot == Slot::Phi(phi));
        let mut before: Vec<(usize, usize)> = Vec::new();
        for (writer, root) in roots.iter().enumerate() {
            if let Root::Phi { phi, .. } = root {
                before.extend((0..roots.len()).filter(|&reader| reads(reader, *phi)).map(|reader| (reader, writer)));
            }
        }
        let place = |root: &Root| match root {
            Root::Effect(value) => self.position(*value).1,
            Root::Value(value) if self.in_unit(unit, self.block_of(*value)) && !self.values.facts.is_phi(*value) => {
                self.position(*value).1
            }
            Root::Value(_) => 0,
            Root::Phi { .. } => usize::MAX,
        };
        let places: Vec<usize> = roots.iter().map(place).collect();
        let touches: Vec<Vec<Touch>> = anchored.iter().map(|anchors| self.touches(anchors)).collect();
        let order = Order { places: &places, before: &before, touches: &touches };
        let mut ordered = settle(&mut class, &order);
        // Of what was one loop, as much is one statement as draws nothing else into it.
        for (part, next) in self.unrolled(roots, &closures, &places, &ordered) {
            let mut together = class.clone();
            merge(&mut together, part, next);
            let settled = settle(&mut together, &order);
            if settled.len() + 1 == ordered.len() {
                (class, ordered) = (together, settled);
            }
        }
        let in_order = |group: Vec<usize>| group.into_iter().map(|root| roots[root]).collect();
        Ok(ordered.into_iter().map(in_order).collect())
    }

    /// Roots of different groups that were iterations of one loop, one after the other.
    fn unrolled(
        &self,
        roots: &[Root],
        closures: &[Closure],
        places: &[usize],
        groups: &[Vec<usize>],
    ) -> Vec<(usize, usize)> {
        let mut patterns: Vec<(usize, Pattern)> = Vec::new();
        for group in groups.iter().filter(|_| groups.len() > 1) {
            let parts: Vec<(Root, &Closure)> = group.iter().map(|&root| (roots[root], &closures[root])).collect();
            patterns.extend(Pattern::of(self, &parts).map(|pattern| (group[0], pattern)));
        }
        patterns.sort_by_key(|&(root, _)| places[root]);
        let mut pairs = Vec::new();
        for (at, (part, pattern)) in patterns.iter().enumerate() {
            let next = patterns[at + 1..].iter().find(|(_, later)| pattern.is_followed_by(later));
            pairs.extend(next.map(|(next, _)| (*part, *next)));
        }
        pairs
    }

    /// What a root does to memory, and what else must keep its order.
    fn touches(&self, anchors: &BTreeSet<ValueId>) -> Vec<Touch> {
        let is_pure = |v: ValueId| {
            let instruction = self.values.facts.instruction(v);
            self.values.rows.contains(&v) || instruction.is_some_and(|i| i.pure_and_speculatable)
        };
        // Only a guess where nothing is known yet: see [`Cut::swaps`].
        let array = |v: ValueId, pointer: ValueId| match self.arrays.get(&v) {
            Some(&base) => base,
            None => self.values.root_pointer(pointer),
        };
        let touch = |&v: &ValueId| {
            let memory = match *self.op(v) {
                Op::Load { pointer, .. } => Some((array(v, pointer), false)),
                Op::Store { pointer, .. } => Some((array(v, pointer), true)),
                _ => None,
            };
            Touch { at: self.position(v), memory }
        };
        anchors.iter().filter(|v| !is_pure(**v)).map(touch).collect()
    }
}

/// Classes as groups in execution order, after merging those that cannot be told apart; each in the order of the block.
fn settle(class: &mut [usize], order: &Order) -> Vec<Vec<usize>> {
    let Order { places, before, touches } = order;
    loop {
        let mut groups: IndexMap<usize, Vec<usize>> = IndexMap::new();
        for (root, &of) in class.iter().enumerate() {
            groups.entry(of).or_default().push(root);
        }
        let mut ordered: Vec<Vec<usize>> = groups.into_values().collect();
        ordered.sort_by_key(|g| (g.iter().map(|&r| places[r]).max(), g[0]));
        let disorder = match sorted(&mut ordered, before) {
            Err(circle) => Some(circle),
            Ok(()) => first_disorder(&ordered, touches),
        };
        match disorder {
            Some((earlier, later)) => merge(class, earlier, later),
            None => {
                ordered.iter_mut().for_each(|group| group.sort_by_key(|&root| places[root]));
                return ordered;
            }
        }
    }
}

/// Something that an instruction does which may have to keep its place among others.
struct Touch {
    at: (BlockId, usize),
    /// The array, and whether it is written; nothing if it may be anything.
    memory: Option<(ValueId, bool)>,
}

impl Touch {
    fn may_conflict(&self, other: &Touch) -> bool {
        match (self.memory, other.memory) {
            (Some((p, p_writes)), Some((q, q_writes))) => (p_writes || q_writes) && p == q,
            _ => true,
        }
    }
}

/// Two roots of different groups between which running group after group would swap memory operations that may conflict.
fn first_disorder(ordered: &[Vec<usize>], touches: &[Vec<Touch>]) -> Option<(usize, usize)> {
    let is_swapped = |first: usize, then: usize| {
        let before = |a: &Touch| touches[then].iter().any(|b| b.at < a.at && a.may_conflict(b));
        touches[first].iter().any(before)
    };
    for (at, group) in ordered.iter().enumerate() {
        for later in &ordered[at + 1..] {
            for &r in group {
                if let Some(&s) = later.iter().find(|&&s| is_swapped(r, s)) {
                    return Some((r, s));
                }
            }
        }
    }
    None
}

/// Moves groups behind others where one of the pairs says so, and else keeps their order; or finds a pair in a circle of groups.
fn sorted(groups: &mut Vec<Vec<usize>>, before: &[(usize, usize)]) -> Result<(), (usize, usize)> {
    let mut left = std::mem::take(groups);
    let home = |left: &[Vec<usize>], root: usize| left.iter().position(|group| group.contains(&root));
    while !left.is_empty() {
        let waits = |group: usize| {
            let waits = |&&(first, then): &&(usize, usize)| {
                left[group].contains(&then) && home(&left, first).is_some_and(|other| other != group)
            };
            before.iter().find(waits).copied()
        };
        if let Some(next) = (0..left.len()).find(|&group| waits(group).is_none()) {
            groups.push(left.remove(next));
            continue;
        }
        // All wait: going from one to the next it waits for, one is in a circle sooner or later.
        let mut pair = waits(0).expect("all wait");
        for _ in 0..left.len() {
            let next = home(&left, pair.0).expect("it is left");
            pair = waits(next).expect("all wait");
        }
        return Err(pair);
    }
    Ok(())
}

fn merge(class: &mut [usize], a: usize, b: usize) {
    let (from, to) = (class[a].max(class[b]), class[a].min(class[b]));
    class.iter_mut().filter(|c| **c == from).for_each(|c| *c = to);
}
