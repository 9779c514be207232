//! Puts together what was read: arrays with their shapes, statements with their accesses, the original order.

use super::access::{AccessesByBase, Extent, MemoryAccess};
use super::domain::Item;
use super::polynomial::Window;
use super::preload::{InvariantRead, Place};
use super::reduction::{Updating, use_counts};
use super::statement::{Cut, Draft, Slot};
use super::{Attempt, Reader, Stop};
use crate::body::{Body, BodyKind, Elsewhere, LiveOut, ReadRegion, ScalarAccess};
use crate::facts::{BlockId, Op, Types, ValueId};
use indexmap::{IndexMap, IndexSet};
use isl::{DimType, Map, MultiUnionPwAff, PwAff, Schedule, Set, UnionMap, UnionSet, Val};
use model::assume::{Assumption, AssumptionKind};
use model::delinearize::{Block, LinearAccess, Offset, Shape, between, flat_shape, recover_shape};
use model::polynomial::{PiecewisePolynomial, Polynomial, Var};
use model::refusal::{Refusal, RefusalKind};
use model::scop::{
    Access, AccessKind, Array, ArrayId, ArrayKind, Cell, Invariant, ParamId, Recovered, Role, Scop, Statement,
    StatementId,
};
use model::update::Update;
use planted::Fault;
use std::collections::BTreeSet;

/// Operations of isl, about a second's worth, after which a function's arrays keep flat offsets.
const MAX_SHAPING: u64 = 1_000_000;

/// That a value does not change is not worth a check of more parts than this.
const MAX_UNWRITTEN_PARTS: usize = 4;

/// A memory array with the relation of each of its accesses.
struct Mapped {
    array: Array,
    /// And whether it says exactly what is touched.
    relations: Vec<(Map, bool)>,
    /// The cell of each invariant in it, by number.
    invariants: Vec<(usize, Map)>,
    /// Some address is a polynomial that fits no shape.
    unshaped: Option<Refusal>,
}

impl Reader<'_> {
    pub(super) fn assemble(
        mut self,
        items: &[Item],
        cut: Cut,
        mut accesses: AccessesByBase,
        invariants: Vec<InvariantRead>,
    ) -> Result<Attempt, Stop> {
        if cut.drafts.is_empty() {
            let line = self.facts.line_of_block(self.region.entry);
            let why = "the loops compute nothing that is kept";
            return Err(Stop::refuse(RefusalKind::NoProfit, line, why, self.region.entry));
        }
        for draft in &cut.drafts {
            // A statement that never runs under the assumptions is dropped with them.
            debug_assert_eq!(draft.scope.domain.dim(DimType::Set)?, draft.scope.loops.len());
        }
        let domains = self.statement_domains(&cut)?;
        for base in invariants.iter().filter_map(InvariantRead::base) {
            accesses.entry(base).or_default();
        }
        let mut all_mapped = Vec::new();
        for (&base, accesses) in &accesses {
            all_mapped.push(self.map_array(base, accesses, &invariants, &domains)?);
        }
        // Shapes may have added assumptions: from here on they hold.
        let domains = self.statement_domains(&cut)?;
        let mut arrays: IndexMap<ArrayId, Array> = IndexMap::new();
        let mut bases = IndexMap::new();
        let mut per_draft: Vec<Vec<Access>> = cut.drafts.iter().map(|_| Vec::new()).collect();
        let mut memory: Vec<Vec<(ValueId, ArrayId)>> = cut.drafts.iter().map(|_| Vec::new()).collect();
        let mut updating: Vec<Vec<ValueId>> = cut.drafts.iter().map(|_| Vec::new()).collect();
        let updates = self.updates(&cut, &accesses)?;
        let mut unshaped = Vec::new();
        let mut retyped = BTreeSet::new();
        let mut cells: Vec<Option<Map>> = invariants.iter().map(|_| None).collect();
        for ((&base, accesses), mut mapped) in accesses.iter().zip(all_mapped) {
            let id = ArrayId(arrays.len() as u32);
            unshaped.extend(mapped.unshaped);
            if self.has_bytes_of_several_types(accesses, &mapped.relations)? {
                retyped.insert(id);
            }
            for (access, (relation, exact)) in accesses.iter().zip(mapped.relations) {
                let update = update_of(access, &updates);
                let statement = StatementId(access.draft as u32);
                let relation = relation
                    .intersect_params(&self.context_assumed)?
                    .set_tuple_name(DimType::In, &statement.to_string())?
                    .set_tuple_name(DimType::Out, &id.to_string())?;
                if exact && access.may_wrap() {
                    let wraps = mapped.array.may_wrap.get_or_insert_default();
                    wraps.touched.push((domains[&statement].clone(), relation.clone()));
                    wraps.window = [wraps.window, access.window].into_iter().flatten().reduce(common);
                }
                let offset = match &access.offset {
                    Some(Offset::Affine(offset)) => {
                        let statement = isl::Id::alloc(&self.ctx, &statement.to_string(), 0)?;
                        Some(Offset::Affine(offset.set_tuple_id(DimType::In, &statement)?))
                    }
                    other => other.clone(),
                };
                let bytes = if let Extent::Bytes(bytes) = access.extent { bytes } else { 0 };
                let kind = match access.kind {
                    AccessKind::Write if !exact => AccessKind::MayWrite,
                    kind => kind,
                };
                per_draft[access.draft].push(Access {
                    kind,
                    role: Role::Block,
                    array: id,
                    relation,
                    offset: offset.filter(|_| bytes != 0 && exact),
                    bytes,
                    exact: exact && kind != AccessKind::MayWrite,
                    update,
                    line: access.line,
                });
                memory[access.draft].push((access.instruction, id));
            }
            for (index, relation) in mapped.invariants {
                cells[index] = Some(relation.set_tuple_name(DimType::Out, &id.to_string())?);
            }
            arrays.insert(id, mapped.array);
            bases.insert(id, base);
        }
        for update in updates.values() {
            let draft = cut.drafts.iter().position(|d| d.instructions.contains(&update.operation));
            if let Some(draft) = draft {
                updating[draft].extend([update.operation, update.load]);
            }
        }
        let errno = self.add_errno(&cut, &accesses, &domains, &mut arrays)?;
        for (draft, call, access) in errno.iter().flat_map(|errno| &errno.writes) {
            memory[*draft].push((*call, access.array));
            per_draft[*draft].push(access.clone());
        }
        let errno = errno.map(|errno| errno.array);
        let slots = self.add_slots(&cut, &mut arrays);
        for (index, draft) in cut.drafts.iter().enumerate() {
            let statement = StatementId(index as u32);
            let edge_writes = draft.boxed.iter().flat_map(|b| &b.edge_writes).map(|(_, value, slot)| (*value, *slot));
            // Which edge of a box is taken is not modelled, but one of them is: together they certainly write.
            let writes: IndexSet<Slot> =
                draft.writes.iter().copied().chain(edge_writes).map(|(_, slot)| slot).collect();
            let reads: IndexSet<Slot> = draft.reads.iter().map(|(_, slot)| *slot).collect();
            for (slots_touched, kind) in [(reads, AccessKind::Read), (writes, AccessKind::Write)] {
                for slot in slots_touched {
                    let id = slots[&slot];
                    let cell = Set::read_from_str(&self.ctx, &format!("{{ {id}[] }}"))?;
                    per_draft[index].push(Access {
                        kind,
                        role: Role::Block,
                        array: id,
                        relation: Map::from_domain_and_range(&domains[&statement], &cell)?,
                        offset: None,
                        bytes: arrays[&id].cell_bytes,
                        exact: true,
                        update: None,
                        line: draft.scope.line,
                    });
                }
            }
        }
        let may_alias = self.aliasing_pairs(&accesses, &invariants, errno);
        let beside_errno = may_alias.iter().find(|(_, second)| Some(*second) == errno);
        if let Some((array, _)) = beside_errno.filter(|_| !self.oracle.has_errno_location()) {
            let subject = format!("`{}` and `errno`", arrays[array].name);
            return Err(Stop::refuse(RefusalKind::AliasUnchecked, self.lines(&cut).0, subject, self.region.entry));
        }
        if let Some((first, second)) = may_alias.first().filter(|_| !self.may_assume(AssumptionKind::AA)) {
            let what = format!("that `{}` and `{}` do not overlap", arrays[first].name, arrays[second].name);
            return Err(self.unassumed(AssumptionKind::AA, self.lines(&cut).0, &what, self.region.entry));
        }
        if let Some(array) = arrays.values().find(|a| a.may_wrap.is_some() && !self.may_assume(AssumptionKind::EE)) {
            let what = format!("that the bytes of `{}` can be counted", array.name);
            return Err(self.unassumed(AssumptionKind::EE, self.lines(&cut).0, &what, self.region.entry));
        }
        self.assume_unwritten(&invariants, &cells, &accesses, &per_draft, &may_alias)?;
        let same_values: Vec<(ValueId, Vec<ValueId>)> =
            invariants.iter().map(|read| (read.load, self.all_the_same_as(read.load))).collect();
        let invariants = self.modelled_invariants(invariants, cells, &accesses, &bases);
        let mut unit = 0;
        let schedule = self.original_schedule(items, &cut, &domains, &mut unit)?.ok_or_else(|| {
            Stop::refuse(RefusalKind::NoProfit, 0, "the loops compute nothing that is kept", self.region.entry)
        })?;
        let mut statements = IndexMap::new();
        let mut bodies = IndexMap::new();
        let lines = self.lines(&cut);
        for (index, draft) in cut.drafts.into_iter().enumerate() {
            let id = StatementId(index as u32);
            statements.insert(
                id,
                Statement {
                    line: draft.scope.line,
                    domain: domains[&id].clone(),
                    accesses: std::mem::take(&mut per_draft[index]),
                    boxed: draft.boxed.is_some(),
                    loop_names: self.loop_names(&draft),
                    bound_to_thread: draft.bound_to_thread,
                },
            );
            let body = body(draft, &slots, std::mem::take(&mut memory[index]), std::mem::take(&mut updating[index]));
            bodies.insert(id, body);
        }
        let values =
            cut.live_out_values.iter().map(|&value| LiveOut::Value { value, slot: slots[&Slot::Value(value)] });
        let phis = cut.exit_phis.iter().map(|&phi| LiveOut::ExitPhi {
            phi,
            slot: slots[&Slot::Phi(phi)],
            only: self.only_from_region(phi),
        });
        let live_outs = values.chain(phis).collect();
        let initial: Vec<(ArrayId, ValueId)> = cut.initial.iter().map(|(slot, value)| (slots[slot], *value)).collect();
        let program = self.program(&mut statements, &bodies, &initial);
        let successors = self.region.blocks.iter().flat_map(|&b| &self.facts.block(b).successors).copied();
        let errors: BTreeSet<BlockId> = successors.filter(|&b| self.facts.block(b).is_error).collect();
        let (entry, exit, blocks) = (self.region.entry, self.region.exit, self.region.blocks.clone());
        let conditional = arrays.values().filter(|a| a.condition.is_some()).count();
        let expanded_products = self.expanded_products;
        let region = ReadRegion {
            entry,
            exit,
            blocks,
            errors: errors.into_iter().collect(),
            error_paths: self.reached_by_errors_only().into_iter().collect(),
            params: std::mem::take(&mut self.param_values),
            bodies,
            bases,
            retyped,
            errno,
            initial,
            invariants: same_values,
            live_outs,
            twins: std::mem::take(&mut self.twins),
            program,
            scop: Scop {
                ctx: self.ctx.clone(),
                params: std::mem::take(&mut self.params),
                context: self.context.clone(),
                arrays,
                statements,
                schedule,
                may_alias,
                lines,
                invariants,
                assumptions: self.into_assumptions(),
            },
        };
        Ok(Attempt { region, unshaped, conditional, expanded_products })
    }

    fn statement_domains(&self, cut: &Cut) -> Result<IndexMap<StatementId, Set>, Stop> {
        let mut domains = IndexMap::new();
        for (index, draft) in cut.drafts.iter().enumerate() {
            let id = StatementId(index as u32);
            let domain = draft.scope.domain.intersect_params(&self.context_assumed)?.coalesce()?;
            domains.insert(id, domain.set_tuple_name(&id.to_string())?);
        }
        Ok(domains)
    }

    fn map_array(
        &mut self,
        base: ValueId,
        accesses: &[MemoryAccess],
        invariants: &[InvariantRead],
        domains: &IndexMap<StatementId, Set>,
    ) -> Result<Mapped, Stop> {
        let invariants: Vec<(usize, &InvariantRead, &Place)> = invariants
            .iter()
            .enumerate()
            .filter_map(|(number, read)| Some((number, read, read.place.as_ref().filter(|p| p.base == base)?)))
            .collect();
        let unnamed = |access: &MemoryAccess| domains[&StatementId(access.draft as u32)].reset_tuple_id();
        // A block of varying length has flat cells, or is a box of the shape that the others have; else it may touch anything.
        let varying = accesses.iter().any(|a| matches!(a.extent, Extent::Affine(_)) && a.offset.is_some());
        let has_flat = !accesses.iter().any(|a| matches!(a.offset, Some(Offset::Polynomial(_))));
        let is_sized = |a: &MemoryAccess| a.offset.is_some() && matches!(a.extent, Extent::Bytes(_));
        let mut relations: Vec<Option<Map>> = accesses.iter().map(|_| None).collect();
        let (cell_bytes, inner_sizes);
        let (mut condition, mut why) = (None, None);
        let mut cells: Vec<(usize, Map)> = Vec::new();
        if varying && has_flat {
            let mut granule = self.granule(accesses)?;
            for (_, _, place) in &invariants {
                granule = gcd(gcd(granule, place.bytes), common_divisor(&place.offset)?).max(1);
            }
            for (number, _, place) in &invariants {
                let extent = Extent::Bytes(place.bytes);
                cells.push((*number, self.flat_cells(&place.offset, &extent, granule, &place.domain)?));
            }
            for (access, relation) in accesses.iter().zip(&mut relations) {
                if let Some(Offset::Affine(offset)) = &access.offset {
                    *relation = Some(self.flat_cells(offset, &access.extent, granule, &unnamed(access)?)?);
                }
            }
            (cell_bytes, inner_sizes) = (granule, Vec::new());
        } else {
            let mut linear = Vec::new();
            for access in accesses {
                if let (Some(offset), Extent::Bytes(bytes)) = (&access.offset, &access.extent) {
                    linear.push(LinearAccess { domain: unnamed(access)?, offset: offset.clone(), bytes: *bytes });
                }
            }
            for (_, _, place) in &invariants {
                let domain = place.domain.intersect_params(&self.context_assumed)?;
                linear.push(LinearAccess { domain, offset: Offset::Affine(place.offset.clone()), bytes: place.bytes });
            }
            let mut shape = self.shape_of(&linear)?;
            if !shape.condition.plain_is_universe()? && !self.may_assume(AssumptionKind::IB) {
                shape = flat_shape(&self.ctx, &linear, &self.context_assumed)?;
            }
            if !shape.condition.plain_is_universe()? {
                condition = Some(shape.condition.clone());
                let line = accesses.iter().map(|a| a.line).find(|&l| l != 0).unwrap_or(0);
                self.assume_shape(base, &shape.inner_sizes, &shape.condition, line)?;
            }
            why = shape.refusal;
            let mut found = shape.relations.into_iter();
            for (access, relation) in accesses.iter().zip(&mut relations) {
                if is_sized(access) {
                    *relation = found.next().flatten();
                }
            }
            for ((number, read, _), relation) in invariants.iter().zip(found) {
                let Some(relation) = relation else { return Err(Stop::Varies(read.loads.clone())) };
                cells.push((*number, relation));
            }
            (cell_bytes, inner_sizes) = (shape.cell_bytes, shape.inner_sizes);
            for (access, relation) in accesses.iter().zip(&mut relations) {
                if let Some(block) = block(access)? {
                    let domain = unnamed(access)?.intersect_params(&self.context_assumed)?;
                    *relation = block.cells(&domain, cell_bytes, &inner_sizes)?;
                }
            }
        }
        let anywhere = Set::universe(&super::affine::set_space(&self.ctx, 1 + inner_sizes.len())?)?;
        let mut complete = Vec::new();
        let mut unshaped = None;
        for (access, relation) in accesses.iter().zip(relations) {
            complete.push(match relation {
                Some(relation) => (relation, true),
                None => {
                    if let (Some(Offset::Polynomial(_)), true, None) = (&access.offset, is_sized(access), &unshaped) {
                        let subject = match &why {
                            Some(why) => format!("`{}` ({why})", self.array_name(base)),
                            None => format!("`{}`", self.array_name(base)),
                        };
                        unshaped = Some(Refusal::new(RefusalKind::NoShape, access.line, subject));
                    }
                    (Map::from_domain_and_range(&unnamed(access)?, &anywhere)?, false)
                }
            });
        }
        let element = accesses.iter().find_map(|a| self.element_type(a.instruction)).unwrap_or_else(|| "char".into());
        let recovered = match inner_sizes.iter().map(Polynomial::degree).max() {
            None => Recovered::None,
            Some(0) => Recovered::Constant,
            Some(_) => Recovered::Parametric,
        };
        let array = Array {
            name: self.array_name(base),
            kind: ArrayKind::Memory,
            element,
            cell_bytes,
            inner_sizes,
            recovered,
            condition,
            may_wrap: None,
            live_out: true,
        };
        Ok(Mapped { array, relations: complete, invariants: cells, unshaped })
    }

    /// Are there two accesses of which LLVM thinks that they are apart by their types, though both may touch a byte?
    fn has_bytes_of_several_types(&self, accesses: &[MemoryAccess], relations: &[(Map, bool)]) -> Result<bool, Stop> {
        // One access of each type, and what all of them touch.
        let mut types: Vec<(ValueId, Set)> = Vec::new();
        for (access, (relation, _)) in accesses.iter().zip(relations) {
            let cells = relation.range()?;
            let mut known = None;
            for (at, (other, touched)) in types.iter().enumerate() {
                match self.oracle.types(access.instruction, *other) {
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

    /// Looks for a shape as long as the function's allowance lasts.
    fn shape_of(&self, accesses: &[LinearAccess]) -> Result<Shape, Stop> {
        if self.shaping.get() > MAX_SHAPING {
            return Ok(flat_shape(&self.ctx, accesses, &self.context_assumed)?);
        }
        let before = self.ctx.operations_left().unwrap_or(0);
        let shape = recover_shape(&self.ctx, accesses, &self.context_assumed)?;
        self.shaping.set(self.shaping.get() + before.saturating_sub(self.ctx.operations_left().unwrap_or(0)));
        Ok(shape)
    }

    fn assume_shape(&mut self, base: ValueId, sizes: &[Polynomial], condition: &Set, line: u32) -> Result<(), Stop> {
        let valid = condition.gist(&self.context_assumed)?.coalesce()?;
        self.context_assumed = self.context_assumed.intersect(&valid)?;
        let shape: String = sizes.iter().map(|size| format!("[{}]", self.shown(size))).collect();
        let because = format!("the subscripts of {}[]{shape} stay inside its rows", self.array_name(base));
        self.assumptions.push(Assumption { kind: AssumptionKind::IB, because, line, valid });
        Ok(())
    }

    /// With the source's names.
    fn shown(&self, size: &Polynomial) -> String {
        size.show(&|var| match var {
            Var::Param(id) => self.params[id.index()].name.clone(),
            counter => counter.to_string(),
        })
    }

    fn array_name(&self, base: ValueId) -> String {
        self.name_of(base).unwrap_or_else(|| format!("m{}", base.0))
    }

    fn element_type(&self, instruction: ValueId) -> Option<String> {
        let facts = self.facts;
        match &facts.instruction(instruction)?.op {
            Op::Load { .. } => Some(facts.value(instruction).type_name.clone()),
            Op::Store { value, .. } => Some(facts.value(*value).type_name.clone()),
            _ => None,
        }
    }

    /// The largest number of bytes that divides all sizes and all coefficients of offsets and extents.
    fn granule(&self, accesses: &[MemoryAccess]) -> Result<u64, Stop> {
        let mut granule = 0u64;
        for access in accesses {
            let extent = match &access.extent {
                Extent::Bytes(bytes) => {
                    granule = gcd(granule, *bytes);
                    None
                }
                Extent::Affine(extent) => Some(extent),
                Extent::Product(_) | Extent::Unknown => None,
            };
            let offset = access.offset.as_ref().and_then(Offset::as_affine);
            for function in offset.into_iter().chain(extent) {
                granule = gcd(granule, common_divisor(function)?);
            }
        }
        Ok(granule.max(1))
    }

    /// `{ i -> e : offset(i) <= granule·e < offset(i) + extent(i) }`, exact when the granule divides both.
    fn flat_cells(&self, offset: &PwAff, extent: &Extent, granule: u64, domain: &Set) -> Result<Map, Stop> {
        let granule = Val::int_from_si(&self.ctx, granule as i64)?;
        let end = match extent {
            Extent::Bytes(bytes) => offset.add(&constant_like(offset, *bytes as i64)?)?,
            Extent::Affine(extent) => offset.add(extent)?,
            Extent::Product(_) => unreachable!("in arrays of several dimensions only"),
            Extent::Unknown => unreachable!("an unknown extent has no offset"),
        };
        let (first, end) = (offset.scale_down_val(&granule)?.floor()?, end.scale_down_val(&granule)?.ceil()?);
        Ok(between(&first, &end)?.intersect_domain(domain)?)
    }

    fn add_slots(&self, cut: &Cut, arrays: &mut IndexMap<ArrayId, Array>) -> IndexMap<Slot, ArrayId> {
        let mut slots = IndexMap::new();
        for &slot in &cut.slots {
            let id = ArrayId(arrays.len() as u32);
            let (value, kind, live_out) = match slot {
                Slot::Value(v) => (v, ArrayKind::Value, cut.live_out_values.contains(&v)),
                Slot::Phi(v) => (v, ArrayKind::Phi, cut.exit_phis.contains(&v)),
            };
            let facts = self.facts.value(value);
            let name = if facts.name.is_empty() { format!("t{}", value.0) } else { facts.name.clone() };
            arrays.insert(
                id,
                Array {
                    name,
                    kind,
                    element: facts.type_name.clone(),
                    cell_bytes: facts.bytes,
                    inner_sizes: Vec::new(),
                    recovered: Recovered::None,
                    condition: None,
                    may_wrap: None,
                    live_out,
                },
            );
            slots.insert(slot, id);
        }
        slots
    }

    fn aliasing_pairs(
        &self,
        accesses: &AccessesByBase,
        invariants: &[InvariantRead],
        errno: Option<ArrayId>,
    ) -> Vec<(ArrayId, ArrayId)> {
        let mut pairs = Vec::new();
        let touching = |(&base, list): (&ValueId, &Vec<MemoryAccess>)| -> Vec<ValueId> {
            let loads = invariants.iter().filter(|read| read.base() == Some(base)).flat_map(|read| read.loads.clone());
            list.iter().map(|a| a.instruction).chain(loads).collect()
        };
        let instructions: Vec<Vec<ValueId>> = accesses.iter().map(touching).collect();
        let written: Vec<bool> =
            accesses.values().map(|list| list.iter().any(|a| a.kind != AccessKind::Read)).collect();
        for second in 0..accesses.len() {
            for first in 0..second {
                let (a, b) = (*accesses.get_index(first).unwrap().0, *accesses.get_index(second).unwrap().0);
                if (written[first] || written[second] && !planted::is(Fault::SecondWriteUnchecked))
                    && self.oracle.may_alias(a, &instructions[first], b, &instructions[second])
                {
                    pairs.push((ArrayId(first as u32), ArrayId(second as u32)));
                }
            }
        }
        for (number, (&base, instructions)) in accesses.keys().zip(&instructions).enumerate() {
            if let Some(errno) = errno
                && self.oracle.may_be_errno(base, instructions)
                && !planted::is(Fault::ErrnoApart)
            {
                pairs.push((ArrayId(number as u32), errno));
            }
        }
        pairs
    }

    /// The values of the region that an invariant is.
    fn all_the_same_as(&self, load: ValueId) -> Vec<ValueId> {
        let values = self.region.blocks.iter().flat_map(|&b| &self.facts.block(b).instructions);
        values.copied().filter(|&v| self.stands_for(v) == load).collect()
    }

    /// Takes for granted that no write hits the cell of an invariant: in its own array by what is written there, in others by their
    /// being apart, which the check finds out anyway.
    fn assume_unwritten(
        &mut self,
        invariants: &[InvariantRead],
        cells: &[Option<Map>],
        accesses: &AccessesByBase,
        per_draft: &[Vec<Access>],
        may_alias: &[(ArrayId, ArrayId)],
    ) -> Result<(), Stop> {
        for (read, cell) in invariants.iter().zip(cells) {
            let (Some(place), Some(cell)) = (&read.place, cell) else { continue };
            let array = ArrayId(accesses.get_index_of(&place.base).expect("an array") as u32);
            let cell = cell.intersect_domain(&place.domain)?.range()?;
            let mut hit = Set::empty(&self.context_assumed.get_space()?)?;
            for write in per_draft.iter().flatten().filter(|a| a.array == array && a.is_write()) {
                hit = hit.union(&write.relation.range()?.intersect(&cell)?.params()?)?;
            }
            let valid = hit.complement()?.gist(&self.context_assumed)?.coalesce()?;
            let still = self.context_assumed.intersect(&valid)?;
            if still.is_empty()? || valid.basic_sets()?.len() > MAX_UNWRITTEN_PARTS {
                return Err(Stop::Varies(read.loads.clone()));
            }
            let shared = may_alias.iter().any(|&(a, b)| a == array || b == array);
            if shared || !valid.plain_is_universe()? {
                self.context_assumed = still;
                let because = format!("the loops do not change `{}`", self.shown_invariant(read));
                self.assumptions.push(Assumption { kind: AssumptionKind::RT, because, line: read.line, valid });
            }
        }
        Ok(())
    }

    fn shown_invariant(&self, read: &InvariantRead) -> String {
        let named = read.loads.iter().chain([&read.load]).find_map(|&l| self.name_of(l));
        named.unwrap_or_else(|| "a value in memory".into())
    }

    fn modelled_invariants(
        &self,
        reads: Vec<InvariantRead>,
        cells: Vec<Option<Map>>,
        accesses: &AccessesByBase,
        bases: &IndexMap<ArrayId, ValueId>,
    ) -> Vec<Invariant> {
        // Numbers of the reader, which are not those of the model.
        let number = |load: ValueId| self.invariants.get_index_of(&load).expect("an invariant");
        let mut all = Vec::new();
        for (read, relation) in reads.into_iter().zip(cells) {
            let needs_it = |value: ValueId| self.invariants_behind(value).contains(&number(read.load));
            let mut preload = read.preload.clone();
            if let Some(preload) = &mut preload {
                let params = (0..self.param_values.len() as u32).map(ParamId);
                preload.params = params.filter(|p| needs_it(self.param_values[p.index()])).collect();
                preload.arrays = bases.iter().filter(|(_, base)| needs_it(**base)).map(|(&id, _)| id).collect();
            }
            let name = self.shown_invariant(&read);
            let cell = read.place.zip(relation).map(|(place, relation)| Cell {
                array: ArrayId(accesses.get_index_of(&place.base).expect("an array") as u32),
                domain: place.domain,
                relation,
                offset: place.offset,
                bytes: place.bytes,
            });
            all.push(Invariant { name, line: read.line, cell, preload });
        }
        all
    }

    fn updates(&self, cut: &Cut, accesses: &AccessesByBase) -> Result<IndexMap<ValueId, Updating>, Stop> {
        let uses = use_counts(self.facts);
        let mut updates = IndexMap::new();
        for list in accesses.values() {
            for store in list.iter().filter(|a| a.kind == AccessKind::Write) {
                if cut.drafts[store.draft].boxed.is_some() {
                    continue;
                }
                let same_cell = |load: ValueId, _: ValueId| {
                    let Some(load) = list.iter().find(|a| a.instruction == load && a.draft == store.draft) else {
                        return false;
                    };
                    match (&load.offset, &store.offset, &load.extent, &store.extent) {
                        (Some(a), Some(b), Extent::Bytes(m), Extent::Bytes(n)) => m == n && a.is_plainly_equal(b),
                        _ => false,
                    }
                };
                if let Some(update) = self.update_at(store.instruction, &uses, same_cell) {
                    updates.insert(store.instruction, update);
                }
            }
        }
        Ok(updates)
    }

    /// The order of the program: sequences of statements and loops, one band member per loop.
    fn original_schedule(
        &self,
        items: &[Item],
        cut: &Cut,
        domains: &IndexMap<StatementId, Set>,
        unit: &mut usize,
    ) -> Result<Option<Schedule>, Stop> {
        let mut whole: Option<Schedule> = None;
        let mut append = |next: Option<Schedule>| -> Result<(), Stop> {
            whole = match (whole.take(), next) {
                (Some(before), Some(next)) => Some(before.sequence(&next)?),
                (before, next) => before.or(next),
            };
            Ok(())
        };
        for item in items {
            match item {
                Item::Block(_) | Item::Boxed { .. } => {
                    for (index, draft) in cut.drafts.iter().enumerate() {
                        if draft.unit == *unit {
                            let domain = UnionSet::from_set(&domains[&StatementId(index as u32)])?;
                            append(Some(Schedule::from_domain(&domain)?))?;
                        }
                    }
                    *unit += 1;
                }
                Item::Loop { body, .. } => {
                    if let Some(inner) = self.original_schedule(body, cut, domains, unit)? {
                        append(Some(self.loop_around(inner, item, cut)?))?;
                    }
                }
            }
        }
        Ok(whole)
    }

    fn loop_around(&self, body: Schedule, item: &Item, cut: &Cut) -> Result<Schedule, Stop> {
        let Item::Loop { id, .. } = item else { unreachable!("called for loops") };
        let mut counters: Option<UnionMap> = None;
        for (index, draft) in cut.drafts.iter().enumerate() {
            let Some(dimension) = draft.scope.loops.iter().position(|l| l == id) else { continue };
            let dims: Vec<String> = (0..draft.scope.loops.len()).map(|d| format!("i{d}")).collect();
            let text = format!("{{ {}[{}] -> [i{dimension}] }}", StatementId(index as u32), dims.join(", "));
            let map = UnionMap::read_from_str(&self.ctx, &text)?;
            counters = Some(match counters {
                None => map,
                Some(all) => all.union(&map)?,
            });
        }
        let counters = MultiUnionPwAff::from_union_map(&counters.expect("a loop around statements"))?;
        Ok(body.insert_partial_schedule(&counters)?)
    }

    fn loop_names(&self, draft: &Draft) -> Vec<String> {
        let name = |(depth, l): (usize, &crate::facts::LoopId)| {
            let name = &self.facts.loops[l.index()].counter_name;
            if name.is_empty() { format!("i{depth}") } else { name.clone() }
        };
        draft.scope.loops.iter().enumerate().map(name).collect()
    }

    fn lines(&self, cut: &Cut) -> (u32, u32) {
        let loops = cut.drafts.iter().flat_map(|d| &d.scope.loops).map(|l| &self.facts.loops[l.index()]);
        let lines: Vec<u32> = loops
            .flat_map(|l| [l.line, l.end_line])
            .chain(cut.drafts.iter().map(|d| d.scope.line))
            .filter(|&line| line != 0)
            .collect();
        (lines.iter().copied().min().unwrap_or(0), lines.iter().copied().max().unwrap_or(0))
    }
}

fn body(
    draft: Draft,
    slots: &IndexMap<Slot, ArrayId>,
    memory: Vec<(ValueId, ArrayId)>,
    updating: Vec<ValueId>,
) -> Body {
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
        memory,
        recomputed: draft.recomputed,
        updating,
        elsewhere: Elsewhere::default(),
    }
}

fn update_of(access: &MemoryAccess, updates: &IndexMap<ValueId, Updating>) -> Option<Update> {
    updates.values().find(|u| u.load == access.instruction || u.store == access.instruction).map(|u| u.update)
}

/// An access of varying length as a block, if it begins at one polynomial.
fn block(access: &MemoryAccess) -> Result<Option<Block>, isl::IslError> {
    let (Extent::Product(length), Some(offset)) = (&access.extent, &access.offset) else { return Ok(None) };
    let start = match offset {
        Offset::Affine(offset) => PiecewisePolynomial::from_pw_aff(offset)?,
        Offset::Polynomial(offset) => Some(offset.clone()),
    };
    let pieces = start.map(|start| start.pieces).unwrap_or_default();
    Ok(match &pieces[..] {
        [(_, start)] => Some(Block { start: start.clone(), length: length.bytes.clone() }),
        _ => None,
    })
}

fn common(a: Window, b: Window) -> Window {
    (a.0.max(b.0), a.1.min(b.1))
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The greatest common divisor of all coefficients of a function; 1 if it has divisions.
fn common_divisor(function: &PwAff) -> Result<u64, isl::IslError> {
    let mut divisor = 0;
    for (_, aff) in function.pieces()? {
        if !aff.get_denominator_val()?.is_one()? || aff.involves_locals()? {
            return Ok(1);
        }
        let mut coefficients = vec![aff.get_constant_val()?];
        for kind in [DimType::In, DimType::Param] {
            for position in 0..aff.dim(kind)? {
                coefficients.push(aff.get_coefficient_val(kind, position)?);
            }
        }
        for coefficient in coefficients {
            divisor = gcd(divisor, coefficient.to_i64().map_or(1, i64::unsigned_abs));
        }
    }
    Ok(divisor)
}

fn constant_like(function: &PwAff, value: i64) -> Result<PwAff, isl::IslError> {
    let domain = Set::universe(&function.get_domain_space()?)?;
    domain.pw_aff_on_domain_val(&Val::int_from_si(function.ctx(), value)?)
}
