//! Which instances must stay in order.
//!
//! Words. Instance t *depends* on instance s if s runs before t in the original order, both touch a cell and at least one of them
//! writes it: **flow** (write, then read), **anti** (read, then write), **output** (write, then write). A dependence is
//! **value-based** if no certain write of the cell lies between the two, **memory-based** otherwise. Keeping all value-based
//! dependences keeps the memory-based ones too, since those are chains of them.
//!
//! Within one instance all reads happen before all writes; an instance does not depend on itself.

mod ranges;

pub use ranges::{LiveRanges, Ranged};

use crate::dataflow::Question;
use crate::known::KnownParams;
use crate::scop::{Access, AccessKind, ArrayId, ArrayKind, Scop, StatementId};
use crate::update::Update;
use indexmap::IndexMap;
use isl::{Budget, Ctx, DimType, IslError, Map, Set, UnionMap};
use planted::Fault;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap, HashSet};

/// `{ source -> sink }`, both statement instances.
///
/// For the parameter values at which the assumptions of the region hold; elsewhere they may say anything.
///
/// Ensures: every order of the instances in which each source of `flow`, `anti` and `output` runs before its sink computes the
/// same values as the original, up to the order in which reductions combine their operands; if the pairs of `reduction` keep
/// their order as well, the same values exactly.
#[derive(Clone, Debug)]
pub struct Dependences {
    pub flow: UnionMap,
    pub anti: UnionMap,
    pub output: UnionMap,
    /// Between two updates of one statement that commute, see [`crate::update`].
    pub reduction: UnionMap,
    /// A weaker condition on scalars, if there is one.
    pub ranges: Option<LiveRanges>,
    /// The parameter values at which the pairs mean something.
    pub known: Set,
    unions: Unions,
}

/// Unions of dependences, each made when it is first asked for: every candidate order asks for all of them.
#[derive(Clone, Debug, Default)]
struct Unions {
    validity: OnceCell<UnionMap>,
    firm: OnceCell<UnionMap>,
    at_once: OnceCell<UnionMap>,
}

/// What is in the cell, made where nothing is in it yet.
pub(crate) fn once<T>(cell: &OnceCell<T>, make: impl FnOnce() -> Result<T, IslError>) -> Result<&T, IslError> {
    if let Some(made) = cell.get() {
        return Ok(made);
    }
    let made = make()?;
    Ok(cell.get_or_init(|| made))
}

impl Dependences {
    /// What an order must respect in which live ranges of scalars stay in place.
    pub fn validity(&self) -> Result<UnionMap, IslError> {
        once(&self.unions.validity, || self.flow.union(&self.anti)?.union(&self.output)?.coalesce()).cloned()
    }
    /// What every order must respect in which live ranges of scalars may change places, `ranges` aside.
    pub fn firm_validity(&self) -> Result<UnionMap, IslError> {
        once(&self.unions.firm, || match &self.ranges {
            Some(ranges) => self.flow.union(&ranges.firm)?.coalesce(),
            None => self.validity(),
        })
        .cloned()
    }
    /// What iterations that run at once must not have between them: two updates at once would lose one, and a scalar is one cell.
    ///
    /// Also where live ranges have changed places. Let x and y touch a scalar, one of them writing, and agree in all loops around
    /// one whose iterations run at once. The pairs of `live` and of `order` connect x and y by a chain of at most three pairs, as
    /// said at [`Ranged`], whose members lie in the same iterations of the loops around: otherwise a live range of the
    /// chain would not be local to them, the pairs adjacent to it would be kept, and the chain x → … → y, of which no member
    /// goes back, could not return to where x is. So if no pair differs in the loop, x and y do not.
    pub fn at_once(&self) -> Result<UnionMap, IslError> {
        once(&self.unions.at_once, || {
            let mut all = self.validity()?;
            if let Some(ranges) = &self.ranges {
                all = all.union(&ranges.order(self.flow.ctx())?)?;
            }
            if self.has_reductions()? {
                all = all.union(&self.reduction)?;
            }
            all.coalesce()
        })
        .cloned()
    }
    /// Whether updates may change places.
    pub fn has_reductions(&self) -> Result<bool, IslError> {
        Ok(!self.reduction.is_empty()?)
    }
}

/// The dependences of a region, exact where all accesses are.
///
/// Requires: `scop.schedule` orders all instances totally.
pub fn dependences(scop: &Scop) -> Result<Dependences, IslError> {
    let prepared = scop.ctx.within(DEPENDENCE, || Prepared::of(scop))?;
    let ranged = scop.ctx.try_within(RANGES, || ranges::ranges(scop, &prepared))?.unwrap_or_default();
    scop.ctx.within(DEPENDENCE, || compute(scop, prepared, ranged))
}

/// The region as isl's dataflow analysis is to see it.
struct Prepared {
    known: KnownParams,
    order: Phases,
    all: PhasedAccesses,
}

impl Prepared {
    fn of(scop: &Scop) -> Result<Prepared, IslError> {
        let known = KnownParams::of(scop)?;
        let order = Phases::of(scop, &known)?;
        // What nobody writes, nobody waits for.
        let written: BTreeSet<ArrayId> =
            scop.statements.values().flat_map(|s| &s.accesses).filter(|a| a.is_write()).map(|a| a.array).collect();
        let all = PhasedAccesses::of(scop, &known, &written)?;
        Ok(Prepared { known, order, all })
    }
}

const DEPENDENCE: Budget = Budget::new("dependence", 200_000);
/// Live ranges that take longer to find stay in order.
const RANGES: Budget = Budget::new("ranges", 100_000);

fn compute(scop: &Scop, prepared: Prepared, ranged: Vec<Ranged>) -> Result<Dependences, IslError> {
    let Prepared { known, order, all } = prepared;
    let reduced = all.reduction_arrays();
    let ranged_arrays: BTreeSet<ArrayId> = ranged.iter().flat_map(|r| r.arrays.iter().copied()).collect();
    let plain = all.filtered(|a| !reduced.contains(&a.array) && !ranged_arrays.contains(&a.array));
    let ValueBased { mut flow, mut anti, mut output } = value_based(scop, &plain, &order)?;

    // Arrays with updates. Let ρ be the set of pairs (s, t) of instances of one statement all of whose conflicts are between updates
    // of one kind that touch the same bytes; we want to let them be reordered. With value-based dependences this would be
    // unsound: a chain s → u → t whose first link is in ρ may be all that keeps t after s, for s and t not in ρ. So here every
    // pair of instances with a conflict is taken, not only those without a write in between: then removing ρ removes exactly
    // the pairs in ρ and no other order rests on them.
    //
    // s and t of ρ commute: what one writes the other reads and writes in updates only, so that both have the same operands in
    // either order. Let c be the bytes of such an update of s. Everything that s does to bytes of c is an update of c of this
    // kind: another access of s that meets c would conflict, not by two updates of c, with the one of t that has the bytes c.
    // So both s and t combine c with something by one op, which commutes and associates.
    // An order that keeps all other conflicts is made of the original one by exchanging neighbours that have no conflict or are
    // in ρ, and each exchange leaves everything that is read and that stays as it was.
    let mut reduction = UnionMap::empty_ctx(&scop.ctx)?;
    if !reduced.is_empty() {
        let rest = all.filtered(|a| reduced.contains(&a.array));
        for source in &rest.0 {
            for sink in rest.0.iter().filter(|sink| sink.array == source.array) {
                if !source.writes && !sink.writes {
                    continue;
                }
                let meet = source.meet(sink)?;
                let (commuting, rest) = match source.commutes_with(sink) {
                    true => source.by_bytes(sink, &meet)?,
                    false => (None, meet),
                };
                if let Some(commuting) = commuting {
                    reduction = reduction.union(&order.earlier(&scop.ctx, source, sink, &commuting)?)?;
                }
                let into = match (source.writes, sink.writes) {
                    (true, false) => &mut flow,
                    (false, true) => &mut anti,
                    _ => &mut output,
                };
                *into = into.union(&order.earlier(&scop.ctx, source, sink, &rest)?)?;
            }
        }
        // A pair that another access orders anyway is no relaxation.
        let ordered = flow.union(&anti)?.union(&output)?;
        reduction = reduction.subtract(&ordered)?;
    }
    let mut ranges = None;
    if !ranged.is_empty() {
        let firm = possible(&anti.union(&output)?, &known)?;
        let scalars = value_based(scop, &all.filtered(|a| ranged_arrays.contains(&a.array)), &order)?;
        flow = flow.union(&scalars.flow)?;
        anti = anti.union(&scalars.anti)?;
        output = output.union(&scalars.output)?;
        reduction = reduction.subtract(&scalars.flow.union(&scalars.anti)?.union(&scalars.output)?)?;
        ranges = Some(LiveRanges { firm, scalars: ranged });
    }
    let unless = |fault: Fault, pairs: &UnionMap| match planted::is(fault) {
        true => UnionMap::empty_ctx(&scop.ctx),
        false => possible(pairs, &known),
    };
    Ok(Dependences {
        flow: unless(Fault::FlowDropped, &flow)?,
        anti: unless(Fault::AntiDropped, &anti)?,
        output: unless(Fault::OutputDropped, &output)?,
        reduction: possible(&reduction, &known)?,
        ranges,
        known: known.values,
        unions: Unions::default(),
    })
}

/// The relation without its pieces that are empty at all known parameter values.
fn possible(pairs: &UnionMap, known: &KnownParams) -> Result<UnionMap, IslError> {
    let mut out = UnionMap::empty_ctx(pairs.ctx())?;
    for map in pairs.coalesce()?.maps()? {
        for piece in map.basic_maps()? {
            let piece = UnionMap::from_basic_map(&piece)?;
            if !piece.intersect_params(&known.values)?.is_empty()? {
                out = out.union(&piece)?;
            }
        }
    }
    Ok(out)
}

/// The value-based dependences of all arrays, reductions not taken apart.
#[cfg(test)]
pub(crate) fn value_dependences(scop: &Scop) -> Result<Dependences, IslError> {
    scop.ctx.within(DEPENDENCE, || {
        let Prepared { known, order, all } = Prepared::of(scop)?;
        let ValueBased { flow, anti, output } = value_based(scop, &all, &order)?;
        let reduction = UnionMap::empty_ctx(&scop.ctx)?;
        Ok(Dependences { flow, anti, output, reduction, ranges: None, known: known.values, unions: Unions::default() })
    })
}

struct ValueBased {
    flow: UnionMap,
    anti: UnionMap,
    output: UnionMap,
}

impl ValueBased {
    fn nothing(ctx: &Ctx) -> Result<ValueBased, IslError> {
        let none = UnionMap::empty_ctx(ctx)?;
        Ok(ValueBased { flow: none.clone(), anti: none.clone(), output: none })
    }

    fn union(&self, other: &ValueBased) -> Result<ValueBased, IslError> {
        Ok(ValueBased {
            flow: self.flow.union(&other.flow)?,
            anti: self.anti.union(&other.anti)?,
            output: self.output.union(&other.output)?,
        })
    }
}

/// Who writes last before whom is piecewise where several nests write parts of an array between bounds of their own. What takes longer
/// to find than this has its memory-based dependences instead: they allow the same orders, and there is nothing to be solved.
const LAST_WRITERS: Budget = Budget::new("last writers", 150_000);

fn value_based(scop: &Scop, accesses: &PhasedAccesses, order: &Phases) -> Result<ValueBased, IslError> {
    let mut all = ValueBased::nothing(&scop.ctx)?;
    for part in accesses.apart()? {
        let exact = scop.ctx.try_within(LAST_WRITERS, || last_writers(&scop.ctx, &part, order))?;
        let of_part = exact.map_or_else(|| memory_based(&scop.ctx, &part, order), Ok)?;
        all = all.union(&of_part)?;
    }
    let ValueBased { flow, anti, output } = all;
    Ok(ValueBased { flow: flow.coalesce()?, anti: anti.coalesce()?, output: output.coalesce()? })
}

/// Requires: the accesses are to one array.
fn last_writers(ctx: &Ctx, accesses: &PhasedAccesses, order: &Phases) -> Result<ValueBased, IslError> {
    let reads = accesses.relation(ctx, |a| !a.writes)?;
    let certain = accesses.relation(ctx, |a| a.writes && a.certain)?;
    let possible = accesses.relation(ctx, |a| a.writes && !a.certain)?;
    let times = order.of_accesses(ctx, accesses)?;
    let by_writes = |sinks| Question { sinks, certain: Some(&certain), possible: Some(&possible) };
    let flow = order.instances(ctx, &by_writes(&reads).ask(&times)?.possible()?)?;

    // Nothing comes between the two phases of an instance. So where it writes the cells that it has read, as sums do, who wrote before the
    // one wrote before the other; and whoever writes after the read writes after its own write, be that certain or not.
    let rewriting = accesses.rewriting()?;
    let others = accesses.relation(ctx, |a| a.writes && !rewriting.contains(&a.statement))?;
    let mut output = order.instances(ctx, &by_writes(&others).ask(&times)?.possible()?)?;
    for map in flow.maps()? {
        let sink = StatementId::from_isl_name(&map.get_tuple_name(DimType::Out)?);
        if sink.is_some_and(|sink| rewriting.contains(&sink)) {
            output = output.union(&UnionMap::from_map(&map)?)?;
        }
    }
    // Of the writes after a read, those that no certain write hides: a later one is a chain of such a pair and an output dependence.
    let kept = accesses.relation(ctx, |a| !a.writes && !rewriting.contains(&a.statement))?;
    let anti = by_writes(&kept).ask_backwards(&times)?;
    Ok(ValueBased { flow, anti: order.instances(ctx, &anti.possible()?.reverse()?)?, output })
}

fn memory_based(ctx: &Ctx, accesses: &PhasedAccesses, order: &Phases) -> Result<ValueBased, IslError> {
    let mut phases: IndexMap<Phase, Phased> = IndexMap::new();
    for access in &accesses.0 {
        let phase = (access.statement, access.writes);
        let relation = match phases.get(&phase) {
            Some(others) => others.relation.union(&access.relation)?,
            None => access.relation.clone(),
        };
        phases.insert(phase, Phased { relation, ..access.clone() });
    }
    let mut all = ValueBased::nothing(ctx)?;
    for source in phases.values() {
        for sink in phases.values() {
            let into = match (source.writes, sink.writes) {
                (false, false) => continue,
                (true, false) => &mut all.flow,
                (false, true) => &mut all.anti,
                (true, true) => &mut all.output,
            };
            *into = into.union(&order.conflicts(ctx, source, sink)?)?;
        }
    }
    Ok(all)
}

/// One access, its instances split into a reading phase `R<s>` and a writing phase `W<s>`, so that isl sees that
/// an instance reads before it writes.
#[derive(Clone)]
struct Phased {
    statement: StatementId,
    array: ArrayId,
    writes: bool,
    /// Certainly overwrites all its cells.
    certain: bool,
    /// Of those that touch exactly what their relations say.
    update: Option<Update>,
    /// Each instance touches one cell.
    one_cell: bool,
    /// `{ R<s>[i…] -> A[e…] }` or `{ W<s>[i…] -> A[e…] }`
    relation: Map,
}

impl Phased {
    /// Pairs of instances whose accesses have a cell in common.
    fn meet(&self, sink: &Phased) -> Result<Map, IslError> {
        self.relation.apply_range(&sink.relation.reverse()?)
    }

    /// The relation, whatever the array is called.
    fn cells(&self) -> Result<Map, IslError> {
        self.relation.set_tuple_name(DimType::Out, "cells")
    }

    /// May instances change places that touch the same bytes?
    fn commutes_with(&self, sink: &Phased) -> bool {
        self.statement == sink.statement && self.update.is_some() && self.update == sink.update
    }

    /// Those of the pairs whose accesses touch the same cells, and those that do so in part only.
    fn by_bytes(&self, sink: &Phased, meet: &Map) -> Result<(Option<Map>, Map), IslError> {
        if self.one_cell && sink.one_cell || planted::is(Fault::OverlapCommutes) {
            return Ok((Some(meet.clone()), Map::empty(&meet.get_space()?)?));
        }
        // { [s -> t] -> A[e] }: of which cells one of the two is not aware.
        let of_source = meet.domain_map()?.apply_range(&self.relation)?;
        let of_sink = meet.range_map()?.apply_range(&sink.relation)?;
        let missed = of_source.subtract(&of_sink)?.domain()?.union(&of_sink.subtract(&of_source)?.domain()?)?;
        let partly = missed.unwrap()?;
        Ok((Some(meet.subtract(&partly)?), meet.intersect(&partly)?))
    }
}

fn phase_name(statement: StatementId, writes: bool) -> String {
    format!("{}{}", if writes { 'W' } else { 'R' }, statement.0)
}

#[derive(Clone, Default)]
struct PhasedAccesses(Vec<Phased>);

impl PhasedAccesses {
    /// The accesses to these arrays.
    fn of(scop: &Scop, known: &KnownParams, arrays: &BTreeSet<ArrayId>) -> Result<PhasedAccesses, IslError> {
        let mut out = Vec::new();
        for (&statement, s) in &scop.statements {
            // Whichever of several calls leaves the one number in errno, it is there.
            let in_order = |a: &&Access| scop.arrays[&a.array].kind != ArrayKind::Errno { one_value: true };
            for access in s.accesses.iter().filter(|a| arrays.contains(&a.array)).filter(in_order) {
                let Access { kind, array, relation, exact, update, bytes, .. } = access;
                let writes = access.is_write();
                out.push(Phased {
                    statement,
                    array: *array,
                    writes,
                    certain: *kind == AccessKind::Write && *exact && !s.boxed,
                    update: update.filter(|_| *exact && *kind != AccessKind::MayWrite && !s.boxed),
                    one_cell: *exact && *bytes == scop.arrays[array].cell_bytes,
                    relation: known.shorten(relation)?.set_tuple_name(DimType::In, &phase_name(statement, writes))?,
                });
            }
        }
        Ok(PhasedAccesses(out))
    }

    fn filtered(&self, keep: impl Fn(&Phased) -> bool) -> PhasedAccesses {
        PhasedAccesses(self.0.iter().filter(|a| keep(a)).cloned().collect())
    }

    /// The statements of which each instance writes the cells that it reads, and no others.
    ///
    /// Requires: the accesses are to one array.
    fn rewriting(&self) -> Result<HashSet<StatementId>, IslError> {
        let mut phases: IndexMap<StatementId, [Option<Map>; 2]> = IndexMap::new();
        for access in &self.0 {
            let relation = access.relation.set_tuple_name(DimType::In, &access.statement.to_string())?;
            let phase = &mut phases.entry(access.statement).or_default()[usize::from(access.writes)];
            *phase = Some(match phase.take() {
                Some(others) => others.union(&relation)?,
                None => relation,
            });
        }
        let mut out = HashSet::new();
        for (statement, phases) in phases {
            if let [Some(reads), Some(writes)] = phases
                && reads.plain_is_equal(&writes)?
            {
                out.insert(statement);
            }
        }
        Ok(out)
    }

    fn reduction_arrays(&self) -> BTreeSet<ArrayId> {
        self.0.iter().filter(|a| a.update.is_some()).map(|a| a.array).collect()
    }

    /// The parts of arrays that no access leaves: where every access has a number as, say, its last subscript, those with different
    /// numbers never meet. isl would find that out pair by pair. Their relations are without those subscripts.
    fn parts(&self) -> Result<Vec<PhasedAccesses>, IslError> {
        let number = |access: &Phased, d: usize| access.relation.plain_get_val_if_fixed(DimType::Out, d);
        let mut numbered: HashMap<ArrayId, Vec<usize>> = HashMap::new();
        for access in &self.0 {
            let subscripts = access.relation.dim(DimType::Out)?;
            let so_far = numbered.remove(&access.array).unwrap_or_else(|| (0..subscripts).collect());
            let mut still = Vec::new();
            for d in so_far {
                if d < subscripts && number(access, d)?.is_int()? {
                    still.push(d);
                }
            }
            numbered.insert(access.array, still);
        }
        let mut parts: IndexMap<String, PhasedAccesses> = IndexMap::new();
        for access in &self.0 {
            let mut name = access.array.to_string();
            let mut relation = access.relation.clone();
            for &d in numbered[&access.array].iter().rev() {
                name += &format!("_{}", number(access, d)?);
                relation = relation.project_out(DimType::Out, d, 1)?;
            }
            parts.entry(name).or_default().0.push(Phased { relation, ..access.clone() });
        }
        Ok(parts.into_values().collect())
    }

    /// The accesses to each part of an array (see [`Self::parts`]), without the parts to which the same instances do the same as to
    /// another: they have the same dependences. So do the fields of a record in one loop, and the scalars that another carries
    /// from iteration to iteration.
    fn apart(&self) -> Result<Vec<PhasedAccesses>, IslError> {
        let mut different: Vec<PhasedAccesses> = Vec::new();
        for part in self.parts()? {
            let mut is_known = false;
            for other in &different {
                is_known = is_known || other.is_touched_like(&part)?;
            }
            if !is_known {
                different.push(part);
            }
        }
        Ok(different)
    }

    /// Whether the same instances touch the cells of the other part in the same way; false where it is not plain to see.
    fn is_touched_like(&self, other: &PhasedAccesses) -> Result<bool, IslError> {
        Ok(self.0.len() == other.0.len() && self.covers(other)? && other.covers(self)?)
    }

    fn covers(&self, other: &PhasedAccesses) -> Result<bool, IslError> {
        for access in &other.0 {
            let mut is_here = false;
            for own in &self.0 {
                let Phased { statement, writes, certain, .. } = *own;
                is_here = is_here
                    || (statement, writes, certain) == (access.statement, access.writes, access.certain)
                        && own.cells()?.plain_is_equal(&access.cells()?)?;
            }
            if !is_here {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn relation(&self, ctx: &Ctx, keep: impl Fn(&Phased) -> bool) -> Result<UnionMap, IslError> {
        let mut all = UnionMap::empty_ctx(ctx)?;
        for a in self.0.iter().filter(|a| keep(a)) {
            all = all.union(&UnionMap::from_map(&a.relation)?)?;
        }
        Ok(all)
    }
}

/// A statement, and which of its phases.
type Phase = (StatementId, bool);

/// The original order with its two phases per instance.
struct Phases {
    /// `{ R<s>[i…] -> [t…, 0] }` and `{ W<s>[i…] -> [t…, 1] }`
    times: IndexMap<Phase, Map>,
    /// `{ phase -> later phase }`, as far as it was asked for.
    earlier: RefCell<HashMap<(Phase, Phase), Map>>,
}

impl Phases {
    fn of(scop: &Scop, known: &KnownParams) -> Result<Phases, IslError> {
        let mut times = IndexMap::new();
        for map in scop.schedule.get_map()?.maps()? {
            let name = map.get_tuple_name(DimType::In)?;
            let Some(statement) = StatementId::from_isl_name(&name) else { continue };
            let map = known.shorten(&map)?;
            for (writes, phase) in [(false, 0), (true, 1)] {
                let last = map.dim(DimType::Out)?;
                let time = map.add_dims(DimType::Out, 1)?.fix_si(DimType::Out, last, phase)?;
                times.insert((statement, writes), time.set_tuple_name(DimType::In, &phase_name(statement, writes))?);
            }
        }
        Ok(Phases { times, earlier: RefCell::default() })
    }

    /// When the phases of these accesses run: isl goes through all that it is given.
    fn of_accesses(&self, ctx: &Ctx, accesses: &PhasedAccesses) -> Result<UnionMap, IslError> {
        let phases: BTreeSet<Phase> = accesses.0.iter().map(|a| (a.statement, a.writes)).collect();
        let mut all = UnionMap::empty_ctx(ctx)?;
        for time in phases.iter().filter_map(|phase| self.times.get(phase)) {
            all = all.union(&UnionMap::from_map(time)?)?;
        }
        Ok(all)
    }

    /// Pairs of phases as pairs of instances, without those of an instance with itself.
    fn instances(&self, ctx: &Ctx, pairs: &UnionMap) -> Result<UnionMap, IslError> {
        let mut out = UnionMap::empty_ctx(ctx)?;
        for map in pairs.maps()? {
            let (from, to) = (map.get_tuple_name(DimType::In)?, map.get_tuple_name(DimType::Out)?);
            // Both are phases of statements: a letter, and the number.
            let (from, to) = (format!("S{}", &from[1..]), format!("S{}", &to[1..]));
            let map = map.set_tuple_name(DimType::In, &from)?.set_tuple_name(DimType::Out, &to)?;
            let map = if from == to { map.subtract(&Map::identity(&map.get_space()?)?)? } else { map };
            out = out.union(&UnionMap::from_map(&map)?)?;
        }
        out.coalesce()
    }

    /// All pairs of instances, the first earlier, whose accesses meet in a cell.
    fn conflicts(&self, ctx: &Ctx, source: &Phased, sink: &Phased) -> Result<UnionMap, IslError> {
        self.earlier(ctx, source, sink, &source.meet(sink)?)
    }

    /// Those of the pairs of phases of two accesses of which the first is earlier, as pairs of instances.
    fn earlier(&self, ctx: &Ctx, source: &Phased, sink: &Phased, pairs: &Map) -> Result<UnionMap, IslError> {
        let ends = ((source.statement, source.writes), (sink.statement, sink.writes));
        let (Some(before), Some(after)) = (self.times.get(&ends.0), self.times.get(&ends.1)) else {
            return UnionMap::empty_ctx(ctx);
        };
        if pairs.plain_is_empty()? {
            return UnionMap::empty_ctx(ctx);
        }
        let known = self.earlier.borrow().get(&ends).cloned();
        let earlier = match known {
            Some(known) => known,
            None => {
                let found = before.lex_lt_map(after)?;
                self.earlier.borrow_mut().insert(ends, found.clone());
                found
            }
        };
        self.instances(ctx, &UnionMap::from_map(&pairs.intersect(&earlier)?)?)
    }
}

#[cfg(test)]
mod tests;
