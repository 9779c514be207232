//! Puts together what was read: arrays with their shapes, statements with their accesses, the original order.

mod arrays;
mod order;
mod program;
mod update;

use super::Stop;
use super::arithmetic::{Arithmetic, Framed};
use super::attempts::{Again, Attempt};
use super::control::Item;
use super::memory::{
    AccessSize, Accesses, AccessesByBase, Errno, InvariantRead, MemoryAccess, RowPointers, refuse_row,
};
use super::statement::{BoxedPart, Cut, Draft, Slot, role_of};
use super::values::Values;
use crate::body::{Body, BodyKind, Elsewhere, LiveOut, ReadRegion, ScalarAccess};
use crate::facts::{FloatOp, Op, Oracle, Scev, Types, ValueId};
use arrays::{Mapped, Precision, map_array};
use indexmap::IndexMap;
use isl::{DimType, Map, Set};
use model::assume::{Assumption, AssumptionKind, Assumptions};
use model::delinearize::Offset;
use model::refusal::{Refusal, RefusalKind};
use model::scop::{
    Access, AccessKind, Array, ArrayId, ArrayKind, Cell, FramedPart, Invariant, ParamId, Recovered, Role, Scop,
    Statement, StatementId,
};
use model::source::Line;
use model::turns::give_turns;
use order::original_schedule;
use planted::Fault;
use program::program;
use std::collections::{BTreeSet, HashMap};
use update::updates;

/// That a value does not change is not worth a check of more parts than this.
const MAX_UNWRITTEN_PARTS: usize = 4;

/// `shaping`: operations of isl that looking for array shapes took so far.
pub fn assemble(
    mut arithmetic: Arithmetic,
    items: &[Item],
    cut: Cut,
    accesses: Accesses,
    invariants: Vec<InvariantRead>,
    shaping: &std::cell::Cell<u64>,
) -> Result<Attempt, Stop> {
    let values = arithmetic.values;
    if cut.drafts.is_empty() {
        let line = values.facts.line_of_block(values.region.entry);
        let why = "the loops compute nothing that is kept";
        return Err(Stop::refuse(RefusalKind::NoProfit, line, why, values.region.entry));
    }
    let Accesses { mut by_base, rows, expanded_products } = accesses;
    for base in invariants.iter().filter_map(InvariantRead::base).chain(rows.values().map(|pointers| pointers.base)) {
        by_base.entry(base).or_default();
    }
    let pointers_of = |base: &ValueId| {
        let pointers = by_base.get_index_of(&rows.get(base)?.base).expect("an array");
        Some(ArrayId(pointers as u32))
    };
    let domains = statement_domains(&arithmetic, &cut)?;
    let mut mapped = Vec::new();
    for (&base, accesses) in &by_base {
        mapped.push(map_array(&mut arithmetic, (base, pointers_of(&base)), accesses, &invariants, &domains, shaping)?);
    }
    let mut assembly = Assembly {
        values,
        // Shapes may have added assumptions: from here on they hold.
        domains: statement_domains(&arithmetic, &cut)?,
        parts: cut.drafts.iter().map(|_| Parts::default()).collect(),
        cells: HashMap::new(),
        arithmetic,
        cut,
        accesses: by_base,
        rows,
        invariants,
        arrays: IndexMap::new(),
        bases: IndexMap::new(),
        row_loads: IndexMap::new(),
        retyped: BTreeSet::new(),
        errno: None,
        slots: IndexMap::new(),
        may_alias: Vec::new(),
        unshaped: Vec::new(),
    };
    assembly.add_memory(mapped)?;
    assembly.add_errno()?;
    assembly.add_slots()?;
    assembly.find_aliases()?;
    assembly.assume_unwritten()?;
    assembly.finish(items, expanded_products)
}

/// Everything that exists under the assumptions so far. A statement that never runs under them is dropped with them.
fn statement_domains(arithmetic: &Arithmetic, cut: &Cut) -> Result<IndexMap<StatementId, Set>, isl::IslError> {
    let mut domains = IndexMap::new();
    for (index, draft) in cut.drafts.iter().enumerate() {
        let id = StatementId(index as u32);
        let domain = draft.scope.domain.intersect_params(&arithmetic.known.assumed)?.coalesce()?;
        domains.insert(id, domain.set_tuple_name(&id.to_string())?);
    }
    Ok(domains)
}

/// A region, put together step by step.
struct Assembly<'a> {
    values: &'a Values<'a>,
    arithmetic: Arithmetic<'a>,
    cut: Cut,
    accesses: AccessesByBase,
    rows: IndexMap<ValueId, RowPointers>,
    invariants: Vec<InvariantRead>,
    /// Of each invariant that has a place in an array, by its load.
    cells: HashMap<ValueId, Map>,
    domains: IndexMap<StatementId, Set>,
    arrays: IndexMap<ArrayId, Array>,
    bases: IndexMap<ArrayId, ValueId>,
    row_loads: IndexMap<ArrayId, Vec<ValueId>>,
    retyped: BTreeSet<ArrayId>,
    errno: Option<ArrayId>,
    slots: IndexMap<Slot, ArrayId>,
    may_alias: Vec<(ArrayId, ArrayId)>,
    unshaped: Vec<Refusal>,
    /// Of each draft.
    parts: Vec<Parts>,
}

/// What a statement and its body are made of, beside what is in its draft.
#[derive(Default)]
struct Parts {
    accesses: Vec<Access>,
    updating: Vec<ValueId>,
}

impl Assembly<'_> {
    /// The arrays behind pointers, and the accesses to them.
    fn add_memory(&mut self, all_mapped: Vec<Mapped>) -> Result<(), Stop> {
        if !self.are_counters_tested(&all_mapped) {
            return Err(Stop::Again(Again::Unframed));
        }
        let updates = updates(self.values.facts, &self.cut, &self.accesses);
        for ((&base, accesses), mut mapped) in self.accesses.iter().zip(all_mapped) {
            let id = ArrayId(self.arrays.len() as u32);
            self.unshaped.extend(mapped.unshaped);
            if has_bytes_of_several_types(self.values.oracle, accesses, &mapped.relations)? {
                self.retyped.insert(id);
            }
            let mut rows = mapped.rows.into_iter();
            for ((access, (relation, precision)), part) in accesses.iter().zip(mapped.relations).zip(mapped.parts) {
                let exact = precision == Precision::Exact;
                let is_part = |u: &&update::Updating| [u.load, u.store].contains(&access.instruction);
                let update = updates.iter().find(is_part).map(|u| u.update);
                let statement = StatementId(access.draft as u32);
                let named = |relation: Map| {
                    relation
                        .intersect_params(&self.arithmetic.known.assumed)?
                        .set_tuple_name(DimType::In, &statement.to_string())?
                        .set_tuple_name(DimType::Out, &id.to_string())
                };
                let relation = named(relation)?;
                let domain = &self.domains[&statement];
                if precision != Precision::Anywhere && access.may_wrap() {
                    let wraps = mapped.array.may_wrap.get_or_insert_default();
                    wraps.counted.push((domain.clone(), relation.clone()));
                }
                if let (true, Some(Framed { window, .. }), Some(part)) = (exact, &access.framed, part) {
                    let wraps = mapped.array.may_wrap.get_or_insert_default();
                    let (domain, relation) = (domain.clone(), named(part)?);
                    wraps.framed.push(FramedPart { domain, relation, window: *window });
                }
                let offset = match &access.offset {
                    Some(Offset::Affine(offset)) => {
                        let statement = isl::Id::alloc(self.values.ctx, &statement.to_string(), 0)?;
                        Some(Offset::Affine(offset.set_tuple_id(DimType::In, &statement)?))
                    }
                    other => other.clone(),
                };
                let bytes = if let AccessSize::Bytes(bytes) = access.extent { bytes } else { 0 };
                // In a box it moves with counters that instances do not have, and nobody tests whether a part of it that is computed in few
                // bits is what it says.
                let is_offset = precision == Precision::Anywhere && access.turns.is_none() && access.framed.is_none();
                let unshaped = match &offset {
                    Some(Offset::Polynomial(offset)) if is_offset && bytes != 0 => Some(offset.clone()),
                    _ => None,
                };
                let kind = match access.kind {
                    AccessKind::Write if !exact => AccessKind::MayWrite,
                    kind => kind,
                };
                self.parts[access.draft].accesses.push(Access {
                    kind,
                    role: role_of(self.values.facts, &self.cut.drafts[access.draft], access.instruction),
                    array: id,
                    relation,
                    row: rows.next(),
                    offset: offset.filter(|_| bytes != 0 && exact),
                    unshaped,
                    bytes,
                    exact: exact && kind != AccessKind::MayWrite,
                    update,
                    line: access.line,
                });
            }
            for (load, relation) in mapped.invariants {
                self.cells.insert(load, relation.set_tuple_name(DimType::Out, &id.to_string())?);
            }
            let has_rows = mapped.array.rows.is_some();
            self.arrays.insert(id, mapped.array);
            match self.rows.get(&base) {
                Some(pointers) if has_rows => {
                    self.row_loads.insert(id, pointers.loads.iter().copied().collect());
                }
                // Rows that could not be numbered.
                Some(_) => return Err(refuse_row(self.values, base)),
                None => {
                    self.bases.insert(id, base);
                }
            }
        }
        for update in updates {
            let draft = self.cut.drafts.iter().position(|d| d.instructions.contains(&update.operation));
            if let Some(draft) = draft {
                self.parts[draft].updating.extend([update.operation, update.load]);
            }
        }
        Ok(())
    }

    /// Is what counters of a statement rest on tested for the sake of an access of the same statement?
    fn are_counters_tested(&self, all_mapped: &[Mapped]) -> bool {
        for (index, draft) in self.cut.drafts.iter().enumerate() {
            for framed in &draft.framed {
                let mut is_tested = false;
                for (accesses, mapped) in self.accesses.values().zip(all_mapped) {
                    for ((access, part), (_, precision)) in accesses.iter().zip(&mapped.parts).zip(&mapped.relations) {
                        let here = access.draft == index && part.is_some() && *precision == Precision::Exact;
                        is_tested |= here && access.framed.as_ref().is_some_and(|tested| framed.is_part_of(tested));
                    }
                }
                if !is_tested {
                    return false;
                }
            }
        }
        true
    }

    fn add_errno(&mut self) -> Result<(), Stop> {
        let errno = Errno::add(self.values, &self.cut, &self.accesses, &self.domains, &mut self.arrays)?;
        let Some(errno) = errno else { return Ok(()) };
        for (draft, access) in errno.writes {
            self.parts[draft].accesses.push(access);
        }
        self.errno = Some(errno.array);
        Ok(())
    }

    /// A cell for each value that crosses statements, and the accesses to it.
    fn add_slots(&mut self) -> Result<(), Stop> {
        for &slot in &self.cut.slots {
            let id = ArrayId(self.arrays.len() as u32);
            let (value, kind, live_out) = match slot {
                Slot::Value(v) => (v, ArrayKind::Value, self.cut.live_out_values.contains(&v)),
                Slot::Phi(v) => (v, ArrayKind::Phi, self.cut.exit_phis.contains(&v)),
            };
            let facts = self.values.facts.value(value);
            let name = if facts.name.is_empty() { format!("t{}", value.0) } else { facts.name.clone() };
            self.arrays.insert(
                id,
                Array {
                    name,
                    kind,
                    element: facts.type_name.clone(),
                    cell_bytes: facts.bytes,
                    rows: None,
                    inner_sizes: Vec::new(),
                    recovered: Recovered::None,
                    condition: None,
                    may_wrap: None,
                    live_out,
                },
            );
            self.slots.insert(slot, id);
        }
        for ((draft, parts), domain) in self.cut.drafts.iter().zip(&mut self.parts).zip(self.domains.values()) {
            let mut touched: IndexMap<(AccessKind, Slot), Role> = IndexMap::new();
            for &(value, slot) in &draft.reads {
                let role = Role::ReadScalar(self.values.stands_for(value));
                touched.entry((AccessKind::Read, slot)).or_insert(role);
            }
            // Which edge of a box is taken is not modelled, but one of them is: together they certainly write.
            let edge_writes = draft.boxed.iter().flat_map(|b| &b.edge_writes).map(|(_, value, slot)| (*value, *slot));
            for (value, slot) in draft.writes.iter().copied().chain(edge_writes) {
                let role = Role::WriteScalar(draft.boxed.is_none().then(|| self.values.stands_for(value)));
                // A φ behind the predicate gets something else where it does not hold.
                let is_certain = match slot {
                    Slot::Phi(phi) => self.cut.predicates_of(self.values, phi).starts_with(&draft.scope.predicates),
                    Slot::Value(_) => true,
                };
                let kind = if is_certain { AccessKind::Write } else { AccessKind::MayWrite };
                touched.entry((kind, slot)).or_insert(role);
            }
            for ((kind, slot), role) in touched {
                let id = self.slots[&slot];
                let cell = Set::read_from_str(self.values.ctx, &format!("{{ {id}[] }}"))?;
                parts.accesses.push(Access {
                    kind,
                    role,
                    array: id,
                    relation: Map::from_domain_and_range(domain, &cell)?,
                    row: None,
                    offset: None,
                    unshaped: None,
                    bytes: self.arrays[&id].cell_bytes,
                    exact: kind != AccessKind::MayWrite,
                    update: None,
                    line: draft.scope.line,
                });
            }
        }
        Ok(())
    }

    /// Ensures: where arrays may overlap, or their bytes wrap around, that may be checked.
    fn find_aliases(&mut self) -> Result<(), Stop> {
        self.may_alias = self.aliasing_pairs();
        let name = |array: &ArrayId| &self.arrays[array].name;
        let (line, entry) = (self.lines().0, self.values.region.entry);
        let beside_errno = self.may_alias.iter().find(|(_, second)| Some(*second) == self.errno);
        if let Some((array, _)) = beside_errno.filter(|_| !self.values.oracle.has_errno_location()) {
            let subject = format!("`{}` and `errno`", name(array));
            return Err(Stop::refuse(RefusalKind::AliasUnchecked, line, subject, entry));
        }
        let without_rows = |(a, b): &&(ArrayId, ArrayId)| [a, b].iter().all(|array| self.arrays[*array].rows.is_none());
        let known_bases = self.may_alias.iter().find(without_rows);
        if let Some((first, second)) = known_bases.filter(|_| !self.may_assume(AssumptionKind::AA)) {
            let what = format!("that `{}` and `{}` do not overlap", name(first), name(second));
            return Err(self.arithmetic.unassumed(AssumptionKind::AA, line, &what, entry));
        }
        let wraps = |array: &&Array| array.may_wrap.is_some() && !self.may_assume(AssumptionKind::EE);
        if let Some(array) = self.arrays.values().find(wraps) {
            let what = format!("that the bytes of `{}` can be counted", array.name);
            return Err(self.arithmetic.unassumed(AssumptionKind::EE, line, &what, entry));
        }
        Ok(())
    }

    fn may_assume(&self, kind: AssumptionKind) -> bool {
        self.arithmetic.may_assume(kind)
    }

    fn aliasing_pairs(&self) -> Vec<(ArrayId, ArrayId)> {
        let oracle = self.values.oracle;
        let mut pairs = Vec::new();
        let touching = |(&base, list): (&ValueId, &Vec<MemoryAccess>)| -> Vec<ValueId> {
            let here = self.invariants.iter().filter(|read| read.base() == Some(base));
            list.iter().map(|a| a.instruction).chain(here.flat_map(|read| read.loads.clone())).collect()
        };
        let instructions: Vec<Vec<ValueId>> = self.accesses.iter().map(touching).collect();
        let is_written = |list: &Vec<MemoryAccess>| list.iter().any(|a| a.kind != AccessKind::Read);
        let written: Vec<bool> = self.accesses.values().map(is_written).collect();
        let bases: Vec<ValueId> = self.accesses.keys().copied().collect();
        for second in 0..bases.len() {
            for first in 0..second {
                // What LLVM says of two pointers that are loaded is said of one iteration.
                let has_rows = self.rows.contains_key(&bases[first]) || self.rows.contains_key(&bases[second]);
                if (written[first] || written[second] && !planted::is(Fault::SecondWriteUnchecked))
                    && (has_rows
                        || oracle.may_alias(bases[first], &instructions[first], bases[second], &instructions[second]))
                {
                    pairs.push((ArrayId(first as u32), ArrayId(second as u32)));
                }
            }
        }
        for (number, (&base, instructions)) in bases.iter().zip(&instructions).enumerate() {
            if let Some(errno) = self.errno
                && oracle.may_be_errno(base, instructions)
                && !planted::is(Fault::ErrnoApart)
            {
                pairs.push((ArrayId(number as u32), errno));
            }
        }
        pairs
    }

    /// Takes for granted that no write hits the cell of an invariant: in its own array by what is written there, in others by their
    /// being apart, which the check finds out anyway.
    fn assume_unwritten(&mut self) -> Result<(), Stop> {
        let known = &mut self.arithmetic.known;
        for read in &self.invariants {
            let (Some(cell), Some(relation)) = (&read.cell, self.cells.get(&read.load)) else { continue };
            let array = ArrayId(self.accesses.get_index_of(&cell.base).expect("an array") as u32);
            let bytes = relation.intersect_domain(&cell.domain)?.range()?;
            let mut hit = Set::empty(&known.assumed.get_space()?)?;
            let all = self.parts.iter().flat_map(|parts| &parts.accesses);
            for write in all.filter(|a| a.array == array && a.is_write()) {
                hit = hit.union(&write.relation.range()?.intersect(&bytes)?.params()?)?;
            }
            let valid = hit.complement()?.gist(&known.assumed)?.coalesce()?;
            if known.assumed.intersect(&valid)?.is_empty()? || valid.basic_sets()?.len() > MAX_UNWRITTEN_PARTS {
                return Err(Stop::Again(Again::Varies(read.loads.clone())));
            }
            let shared = self.may_alias.iter().any(|&(a, b)| a == array || b == array);
            if shared || !valid.plain_is_universe()? {
                let because = format!("the loops do not change `{}`", shown_invariant(self.values, read));
                known.assume(Assumption {
                    kind: AssumptionKind::RT,
                    because,
                    line: read.line,
                    valid,
                    bounds: Vec::new(),
                })?;
            }
        }
        Ok(())
    }

    fn modelled_invariants(&mut self) -> IndexMap<ValueId, Invariant> {
        let (values, known) = (self.values, &self.arithmetic.known);
        let mut all = IndexMap::new();
        for read in std::mem::take(&mut self.invariants) {
            let needs_it = |value: ValueId| values.invariants_behind(value).contains(&read.load);
            let name = shown_invariant(values, &read);
            let mut preload = read.preload;
            if let Some(preload) = &mut preload {
                let params = (0..known.params.len() as u32).map(ParamId);
                preload.params = params.filter(|p| needs_it(known.params[p.index()].value)).collect();
                preload.arrays = self.bases.iter().filter(|(_, base)| needs_it(**base)).map(|(&id, _)| id).collect();
            }
            let cell = read.cell.zip(self.cells.remove(&read.load)).map(|(cell, relation)| Cell {
                array: ArrayId(self.accesses.get_index_of(&cell.base).expect("an array") as u32),
                domain: cell.domain,
                relation,
                offset: cell.offset,
                bytes: cell.bytes,
            });
            let same = values.all_the_same_as(read.load);
            all.insert(read.load, Invariant { name, line: read.line, same, cell, preload });
        }
        all
    }

    /// The first and the last line, in the file in which it begins.
    fn lines(&self) -> (Line, Line) {
        let drafts = &self.cut.drafts;
        let loops = drafts.iter().flat_map(|d| &d.scope.loops).map(|l| &self.values.facts.loops[l.index()]);
        let lines = loops.flat_map(|l| [l.line, l.end_line]).chain(drafts.iter().map(|d| d.scope.line));
        let lines: Vec<Line> = lines.filter(|line| line.is_known()).collect();
        let file = lines.first().map(|line| line.file);
        let inside = || lines.iter().copied().filter(|line| Some(line.file) == file);
        (inside().min().unwrap_or_default(), inside().max().unwrap_or_default())
    }

    /// The region, with nothing left to be assumed.
    fn finish(mut self, items: &[Item], expanded_products: bool) -> Result<Attempt, Stop> {
        let (region, ctx) = (self.values.region, self.values.ctx);
        let invariants = self.modelled_invariants();
        let schedule = original_schedule(ctx, items, &self.cut, &self.domains, &mut 0)?.expect("there are statements");
        let lines = self.lines();
        let slots = &self.slots;
        let (mut statements, mut bodies) = (IndexMap::new(), IndexMap::new());
        for ((draft, parts), (id, domain)) in self.cut.drafts.into_iter().zip(self.parts).zip(self.domains) {
            statements.insert(
                id,
                Statement {
                    line: draft.scope.line,
                    domain,
                    accesses: parts.accesses,
                    operations: products(self.values, &draft),
                    boxed: draft.boxed.is_some(),
                    loop_names: loop_names(self.values, &draft),
                    bound_to_thread: draft.bound_to_thread,
                    predicates: draft.scope.predicates.clone(),
                },
            );
            bodies.insert(id, body(draft, slots, parts.updating));
        }
        let live_values = self.cut.live_out_values.iter();
        let live_values = live_values.map(|&value| LiveOut::Value { value, slot: slots[&Slot::Value(value)] });
        let live_phis = self.cut.exit_phis.iter().map(|&phi| LiveOut::ExitPhi {
            phi,
            slot: slots[&Slot::Phi(phi)],
            only: self.values.only_from_region(phi),
        });
        let initial: Vec<(ArrayId, ValueId)> =
            self.cut.initial.iter().map(|(slot, value)| (slots[slot], *value)).collect();
        let program = program(self.values, &bodies, &initial);
        let conditional = self.arrays.values().filter(|a| a.condition.is_some()).count();
        let known = self.arithmetic.known;
        let mut assumptions = Assumptions::default();
        known.assumptions.into_iter().for_each(|a| assumptions.add(a));
        let mut region = ReadRegion {
            entry: region.entry,
            exit: region.exit,
            blocks: region.blocks.clone(),
            errors: self.values.errors().into_iter().collect(),
            decided: region.blocks.iter().filter_map(|&b| Some((b, self.values.facts.decided_way(b)?))).collect(),
            error_paths: self.values.reached_by_errors_only().into_iter().collect(),
            bodies,
            bases: self.bases,
            row_loads: self.row_loads,
            retyped: self.retyped,
            errno: self.errno,
            initial,
            live_outs: live_values.chain(live_phis).collect(),
            twins: self.values.twins.clone(),
            program,
            unshaped: self.unshaped,
            scop: Scop {
                ctx: ctx.clone(),
                params: known.params,
                context: known.context,
                arrays: self.arrays,
                statements,
                schedule,
                may_alias: self.may_alias,
                lines,
                invariants,
                assumptions,
            },
        };
        if !give_turns(&mut region.scop)? {
            return Err(refuse_row(self.values, region.row_loads[0][0]));
        }
        Ok(Attempt { region, conditional, expanded_products })
    }
}

/// Are there two accesses of which LLVM thinks that they are apart by their types, though both may touch a byte?
fn has_bytes_of_several_types(
    oracle: &dyn Oracle,
    accesses: &[MemoryAccess],
    relations: &[(Map, Precision)],
) -> Result<bool, isl::IslError> {
    // One access of each type, and what all of them touch.
    let mut types: Vec<(ValueId, Set)> = Vec::new();
    for (access, (relation, _)) in accesses.iter().zip(relations) {
        let cells = relation.range()?;
        let mut known = None;
        for (at, (other, touched)) in types.iter().enumerate() {
            match oracle.types(access.instruction, *other) {
                Types::Same => known = Some(at),
                Types::Apart if !touched.is_disjoint(&cells)? => return Ok(true),
                Types::Apart | Types::Compatible => {}
            }
        }
        match known {
            Some(at) => types[at].1 = types[at].1.union(&cells)?,
            None => types.push((access.instruction, cells)),
        }
    }
    Ok(false)
}

fn shown_invariant(values: &Values, read: &InvariantRead) -> String {
    let named = read.loads.iter().chain([&read.load]).find_map(|&l| values.name_of(l));
    named.unwrap_or_else(|| "a value in memory".into())
}

fn loop_names(values: &Values, draft: &Draft) -> Vec<String> {
    let name = |(depth, l): (usize, &crate::facts::LoopId)| {
        let name = &values.facts.loops[l.index()].counter_name;
        if name.is_empty() { format!("i{depth}") } else { name.clone() }
    };
    draft.scope.loops.iter().enumerate().map(name).collect()
}

/// Of floating point numbers, and quotients, in each of its instances: what is computed again where it is needed is the same in many, as a
/// rule.
fn products(values: &Values, draft: &Draft) -> usize {
    let is_one = |value: &&ValueId| match values.facts.instruction(**value).map(|instruction| &instruction.op) {
        Some(Op::Float(FloatOp::Mul | FloatOp::Div)) => true,
        Some(Op::Call(call)) => call.is_intrinsic && call.callee.starts_with("llvm.fm"),
        _ => false,
    };
    let own = draft.instructions.iter().filter(|value| !draft.recomputed.contains(value)).filter(is_one).count();
    own.saturating_add(draft.boxed.as_ref().map_or(0, |part| turning(values, part)))
}

/// What loops inside of a box compute, about: they take their time in any order. How often they turn is seldom known, nor whether control
/// gets to them.
fn turning(values: &Values, part: &BoxedPart) -> usize {
    /// Of a loop that counts, and of one that waits for something.
    const COUNTED: usize = 64;
    const WAITING: usize = 8;
    let facts = values.facts;
    let turns = |l: &crate::facts::Loop| match l.backedge_taken_count {
        Scev::Constant { value, .. } => usize::try_from(value).unwrap_or(COUNTED).saturating_add(1),
        Scev::Other { .. } => WAITING,
        _ => COUNTED,
    };
    let in_loops = part.inside.keys().map(|&block| {
        let mut times = 1usize;
        let mut at = facts.block(block).innermost_loop;
        let is_inside = |l: &&crate::facts::Loop| l.blocks.iter().all(|b| part.blocks.contains(b));
        while let Some(l) = at.map(|l| &facts.loops[l.index()]).filter(is_inside) {
            times = times.saturating_mul(turns(l));
            at = l.parent;
        }
        times.saturating_mul(facts.block(block).instructions.len())
    });
    in_loops.fold(0, usize::saturating_add)
}

fn body(draft: Draft, slots: &IndexMap<Slot, ArrayId>, updating: Vec<ValueId>) -> Body {
    let scalar = |(value, slot): &(ValueId, Slot)| ScalarAccess { value: *value, slot: slots[slot] };
    let kind = match draft.boxed {
        None => BodyKind::Instructions(draft.instructions),
        Some(part) => BodyKind::Boxed {
            entry: draft.scope.block,
            exit: part.exit,
            blocks: part.blocks.iter().copied().collect(),
            edge_writes: part
                .edge_writes
                .iter()
                .map(|(from, value, slot)| (*from, ScalarAccess { value: *value, slot: slots[slot] }))
                .collect(),
        },
    };
    Body {
        kind,
        loops: draft.scope.loops,
        inductions: draft.inductions,
        reads: draft.reads.iter().map(scalar).collect(),
        writes: draft.writes.iter().map(scalar).collect(),
        recomputed: draft.recomputed,
        updating,
        elsewhere: Elsewhere::default(),
        predicates: draft.scope.predicates,
    }
}
