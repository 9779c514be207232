//! The arrays: in which shape every access is to cells, and which cells it touches.

use crate::facts::{FunctionFacts, Op, ValueId};
use crate::read::Stop;
use crate::read::arithmetic::{Arithmetic, Framed, MAX_ASSUMPTION_PARTS, set_space};
use crate::read::attempts::Again;
use crate::read::memory::{AccessSize, CellRead, InvariantRead, MemoryAccess};
use crate::read::values::Values;
use indexmap::IndexMap;
use isl::{DimType, Map, PwAff, Set, Val};
use model::assume::{Assumption, AssumptionKind};
use model::delinearize::{
    BlockCells, ByteBlock, LinearAccess, Offset, Shape, between, flat_shape, loose_cells, recover_shape,
};
use model::polynomial::{PiecewisePolynomial, Polynomial, Var};
use model::refusal::{Refusal, RefusalKind};
use model::scop::{Array, ArrayId, ArrayKind, Recovered, Rows, StatementId, Turn};
use model::source::Line;
use num_integer::gcd;
use std::cell::Cell;

/// Operations of isl, about a second's worth, after which a function's arrays keep flat offsets.
const MAX_SHAPING: u64 = 1_000_000;

/// Pointers are 64 bits wide: the reader refuses others.
const POINTER_BYTES: i128 = 8;

/// A memory array with the relation of each of its accesses.
pub struct Mapped {
    pub array: Array,
    /// And how much it says of what is touched.
    pub relations: Vec<(Map, Precision)>,
    /// By access: where the part of its address that must lie in a window leads to.
    pub parts: Vec<Option<Map>>,
    /// The number of the row of each access, if there are rows behind pointers.
    pub rows: Vec<Polynomial>,
    /// The cell of each invariant in it, by its load.
    pub invariants: Vec<(ValueId, Map)>,
    /// Some address is a polynomial that fits no shape.
    pub unshaped: Option<Refusal>,
}

/// What the relation of an access says.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    Exact,
    /// It touches some of this, and nothing else.
    Part,
    /// Nothing is known.
    Anywhere,
}

/// The accesses to one array, and the invariants in it.
struct Touched<'t> {
    base: ValueId,
    accesses: &'t [MemoryAccess],
    /// The array of the pointers to its rows.
    pointers: Option<ArrayId>,
    domains: &'t IndexMap<StatementId, Set>,
    invariants: Vec<(&'t InvariantRead, &'t CellRead)>,
}

/// How an array is divided into cells.
struct Layout {
    cell_bytes: u64,
    inner_sizes: Vec<Polynomial>,
    /// Under which the inner subscripts stay inside of their sizes.
    condition: Option<Set>,
    /// By access; none where it may touch anything.
    relations: Vec<Option<Map>>,
    /// By access, see [`Mapped`].
    parts: Vec<Option<Map>>,
    invariants: Vec<(ValueId, Map)>,
    /// Why there is no better one.
    refusal: Option<String>,
}

/// Ensures: what the shape rests on is assumed.
pub fn map_array(
    arithmetic: &mut Arithmetic,
    (base, pointers): (ValueId, Option<ArrayId>),
    accesses: &[MemoryAccess],
    invariants: &[InvariantRead],
    domains: &IndexMap<StatementId, Set>,
    shaping: &Cell<u64>,
) -> Result<Mapped, Stop> {
    let cells = invariants.iter().filter_map(|read| Some((read, read.cell.as_ref()?)));
    let invariants = cells.filter(|(_, cell)| cell.base == base).collect();
    let touched = Touched { base, accesses, pointers, domains, invariants };
    // A block of varying length has flat cells, or is a box of the shape that the others have; else it may touch anything.
    let varying = accesses.iter().any(|a| matches!(a.extent, AccessSize::Affine(_)) && a.offset.is_some());
    let has_flat = !accesses.iter().any(|a| matches!(a.offset, Some(Offset::Polynomial(_))));
    let layout = if varying && has_flat { touched.flat(arithmetic)? } else { touched.shaped(arithmetic, shaping)? };
    let values = arithmetic.values;
    let name = name_of_array(values, base);
    let anywhere = Set::universe(&set_space(values.ctx, 1 + layout.inner_sizes.len())?)?;
    let mut relations = Vec::new();
    let mut unshaped = None;
    for (access, relation) in accesses.iter().zip(layout.relations) {
        relations.push(match relation {
            Some(relation) if access.turns.is_some() => {
                let depth = domains[&StatementId(access.draft as u32)].dim(DimType::Set)?;
                (touched_in_turn(&relation, depth)?, Precision::Part)
            }
            Some(relation) => (relation, Precision::Exact),
            None => {
                if let (Some(Offset::Polynomial(_)), true, None) = (&access.offset, is_sized(access), &unshaped) {
                    let subject = match &layout.refusal {
                        Some(why) => format!("`{name}` ({why})"),
                        None => format!("`{name}`"),
                    };
                    unshaped = Some(Refusal::new(RefusalKind::NoShape, access.line, subject));
                }
                (Map::from_domain_and_range(&touched.instances(access)?, &anywhere)?, Precision::Anywhere)
            }
        });
    }
    let (rows, numbers) = touched.rows().unzip();
    let numbers: Vec<Polynomial> = numbers.unwrap_or_default();
    for ((relation, _), number) in relations.iter_mut().zip(&numbers) {
        let space = relation.get_space()?.domain()?;
        let row = number.to_aff(&space)?.expect("it is affine");
        *relation = Map::from_aff(&row)?.flat_range_product(relation)?;
    }
    let element = accesses.iter().find_map(|a| element_type(values.facts, a.instruction));
    let recovered = match layout.inner_sizes.iter().map(Polynomial::degree).max() {
        None => Recovered::None,
        Some(0) => Recovered::Constant,
        Some(_) => Recovered::Parametric,
    };
    let array = Array {
        name,
        kind: ArrayKind::Memory,
        element: element.unwrap_or_else(|| "char".into()),
        cell_bytes: layout.cell_bytes,
        rows,
        inner_sizes: layout.inner_sizes,
        recovered,
        condition: layout.condition,
        may_wrap: None,
        live_out: true,
    };
    Ok(Mapped { array, relations, parts: layout.parts, rows: numbers, invariants: layout.invariants, unshaped })
}

/// Whatever a loop touches that turns inside of an instance.
///
/// Ensures: the cells that the relation has for some values of the counters behind the first so many, and no existentially quantified
/// numbers: every second cell of a row is the row.
fn touched_in_turn(relation: &Map, depth: usize) -> Result<Map, isl::IslError> {
    let inside = relation.dim(DimType::In)? - depth;
    relation.project_out(DimType::In, depth, inside)?.remove_divs()?.coalesce()
}

/// Rows have the name of the array of their pointers, `A[i][j]`, and that one is called after what it holds.
fn name_of_array(values: &Values, base: ValueId) -> String {
    let pointers = |load: ValueId| values.root_pointer(values.facts.instruction(load).expect("a load").operands[0]);
    if values.rows.contains(&base) {
        return values.array_name(pointers(base));
    }
    let name = values.array_name(base);
    if values.rows.iter().any(|&load| pointers(load) == base) { format!("{name}_rows") } else { name }
}

fn is_sized(access: &MemoryAccess) -> bool {
    access.offset.is_some() && matches!(access.extent, AccessSize::Bytes(_))
}

impl Touched<'_> {
    fn instances(&self, access: &MemoryAccess) -> Result<Set, isl::IslError> {
        self.domains[&StatementId(access.draft as u32)].reset_tuple_id()
    }

    /// With the iterations of loops inside of a box.
    fn turns(&self, access: &MemoryAccess, assumed: &Set) -> Result<Set, isl::IslError> {
        match &access.turns {
            Some(turns) => turns.intersect_params(assumed),
            None => self.instances(access),
        }
    }

    /// How rows are numbered, from 0 near the first pointer on, and the number of each access.
    fn rows(&self) -> Option<(Rows, Vec<Polynomial>)> {
        let pointers = self.pointers?;
        let offsets: Vec<&Polynomial> = self.accesses.iter().filter_map(|access| access.row.as_ref()).collect();
        let constant = |offset: &Polynomial| offset.terms().find(|(m, _)| m.factors().is_empty()).map_or(0, |(_, c)| c);
        let origin = constant(offsets.first()?);
        let mut stride = 0;
        for offset in &offsets {
            let steps = offset.terms().filter(|(monomial, _)| !monomial.factors().is_empty()).map(|(_, step)| step);
            stride = steps.chain([constant(offset) - origin]).fold(stride, gcd);
        }
        let stride = if stride == 0 { POINTER_BYTES } else { stride };
        let first = origin.rem_euclid(stride);
        let number = |offset: &&Polynomial| offset.sub(&Polynomial::constant(first)).ok()?.exact_div(stride);
        let numbers: Option<Vec<Polynomial>> = offsets.iter().map(number).collect();
        Some((
            Rows {
                pointers,
                first: i64::try_from(first).ok()?,
                stride: i64::try_from(stride).ok()?,
                turn: Turn::default(),
            },
            numbers?,
        ))
    }

    /// Cells of one size, counted from the base.
    fn flat(&self, arithmetic: &Arithmetic) -> Result<Layout, Stop> {
        let (ctx, assumed) = (arithmetic.values.ctx, &arithmetic.known.assumed);
        let mut granule = granule(self.accesses)?;
        for (_, cell) in &self.invariants {
            granule = gcd(gcd(granule, cell.bytes), common_divisor(&cell.offset)?).max(1);
        }
        let mut invariants = Vec::new();
        for (read, cell) in &self.invariants {
            let extent = AccessSize::Bytes(cell.bytes);
            invariants.push((read.load, flat_cells(ctx, &cell.offset, &extent, granule, &cell.domain)?));
        }
        let mut relations = Vec::new();
        for access in self.accesses {
            relations.push(match &access.offset {
                Some(Offset::Affine(offset)) => {
                    Some(flat_cells(ctx, offset, &access.extent, granule, &self.turns(access, assumed)?)?)
                }
                _ => None,
            });
        }
        let (inner_sizes, condition, refusal) = (Vec::new(), None, None);
        let parts = vec![None; relations.len()];
        Ok(Layout { cell_bytes: granule, inner_sizes, condition, relations, parts, invariants, refusal })
    }

    /// The shape in which all addresses are subscripts, if there is one.
    fn shaped(&self, arithmetic: &mut Arithmetic, shaping: &Cell<u64>) -> Result<Layout, Stop> {
        let mut linear = Vec::new();
        for access in self.accesses {
            if let (Some(offset), AccessSize::Bytes(bytes)) = (&access.offset, &access.extent) {
                let domain = self.turns(access, &arithmetic.known.assumed)?;
                linear.push(LinearAccess { domain, offset: offset.clone(), bytes: *bytes });
            }
        }
        for (_, cell) in &self.invariants {
            let domain = cell.domain.intersect_params(&arithmetic.known.assumed)?;
            linear.push(LinearAccess { domain, offset: Offset::Affine(cell.offset.clone()), bytes: cell.bytes });
        }
        let mut shape = shape_of(arithmetic, &linear, shaping)?;
        if !shape.condition.plain_is_universe()? && !arithmetic.may_assume(AssumptionKind::IB) {
            shape = flat_shape(arithmetic.values.ctx, &linear, &arithmetic.known.assumed)?;
        }
        let mut condition = None;
        if !shape.condition.plain_is_universe()? {
            let line = Line::first(self.accesses.iter().map(|a| a.line));
            assume_shape(arithmetic, self.base, &shape.inner_sizes, &shape.condition, line)?;
            condition = Some(shape.condition);
        }
        let (cell_bytes, inner_sizes) = (shape.cell_bytes, shape.inner_sizes);
        let mut found = shape.relations.into_iter();
        let mut relations = Vec::new();
        for access in self.accesses {
            relations.push(if is_sized(access) { found.next().flatten() } else { None });
        }
        let mut invariants = Vec::new();
        for ((read, _), relation) in self.invariants.iter().zip(found) {
            let Some(relation) = relation else { return Err(Stop::Again(Again::Varies(read.loads.clone()))) };
            invariants.push((read.load, relation));
        }
        for (access, relation) in self.accesses.iter().zip(&mut relations) {
            if let Some(block) = block(access)? {
                *relation = self.cells_of(access, &block, arithmetic, cell_bytes, &inner_sizes)?;
            }
        }
        let mut parts = Vec::new();
        for (access, relation) in self.accesses.iter().zip(&mut relations) {
            let part = match &access.framed {
                Some(Framed { part, .. }) => loose_cells(part, &self.instances(access)?, cell_bytes, &inner_sizes)?,
                None => None,
            };
            // What cannot be tested is not known.
            if access.framed.is_some() && part.is_none() {
                *relation = None;
            }
            parts.push(part);
        }
        Ok(Layout { cell_bytes, inner_sizes, condition, relations, parts, invariants, refusal: shape.refusal })
    }
}

impl Touched<'_> {
    /// The cells of a block, which has to consist of whole elements of the shape: where that is not known of its sizes, it is assumed.
    fn cells_of(
        &self,
        access: &MemoryAccess,
        block: &ByteBlock,
        arithmetic: &mut Arithmetic,
        cell_bytes: u64,
        inner_sizes: &[Polynomial],
    ) -> Result<Option<Map>, Stop> {
        let domain = self.instances(access)?.intersect_params(&arithmetic.known.assumed)?;
        let Some(BlockCells { cells, broken }) = block.cells(&domain, cell_bytes, inner_sizes)? else {
            return Ok(None);
        };
        if broken.is_empty()? {
            return Ok(Some(cells));
        }
        let valid = broken.complement()?.gist(&arithmetic.known.assumed)?.coalesce()?;
        let is_simple = valid.basic_sets()?.len() <= MAX_ASSUMPTION_PARTS;
        if !is_simple || !arithmetic.may_assume(AssumptionKind::IB) {
            return Ok(None);
        }
        let because =
            format!("what is set of {} at once is a number of its rows", arithmetic.values.array_name(self.base));
        arithmetic.known.assume(Assumption {
            kind: AssumptionKind::IB,
            because,
            line: access.line,
            valid,
            bounds: Vec::new(),
        })?;
        Ok(Some(cells))
    }
}

/// Looks for a shape as long as the function's allowance lasts.
fn shape_of(arithmetic: &Arithmetic, accesses: &[LinearAccess], shaping: &Cell<u64>) -> Result<Shape, Stop> {
    let ctx = arithmetic.values.ctx;
    if shaping.get() > MAX_SHAPING {
        return Ok(flat_shape(ctx, accesses, &arithmetic.known.assumed)?);
    }
    let before = ctx.operations_left().unwrap_or(0);
    let shape = recover_shape(ctx, accesses, &arithmetic.known.assumed)?;
    shaping.set(shaping.get() + before.saturating_sub(ctx.operations_left().unwrap_or(0)));
    Ok(shape)
}

fn assume_shape(
    arithmetic: &mut Arithmetic,
    base: ValueId,
    sizes: &[Polynomial],
    condition: &Set,
    line: Line,
) -> Result<(), Stop> {
    let known = &mut arithmetic.known;
    let valid = condition.gist(&known.assumed)?.coalesce()?;
    // With the source's names.
    let named = |var: Var| match var {
        Var::Param(id) => known.params[id.index()].name.clone(),
        counter => counter.to_string(),
    };
    let shape: String = sizes.iter().map(|size| format!("[{}]", size.show(&named))).collect();
    let because = format!("the subscripts of {}[]{shape} stay inside its rows", arithmetic.values.array_name(base));
    Ok(known.assume(Assumption { kind: AssumptionKind::IB, because, line, valid, bounds: Vec::new() })?)
}

fn element_type(facts: &FunctionFacts, instruction: ValueId) -> Option<String> {
    match &facts.instruction(instruction)?.op {
        Op::Load { .. } => Some(facts.value(instruction).type_name.clone()),
        Op::Store { value, .. } => Some(facts.value(*value).type_name.clone()),
        _ => None,
    }
}

/// The largest number of bytes that divides all sizes and all coefficients of offsets and extents.
fn granule(accesses: &[MemoryAccess]) -> Result<u64, isl::IslError> {
    let mut granule = 0u64;
    for access in accesses {
        let extent = match &access.extent {
            AccessSize::Bytes(bytes) => {
                granule = gcd(granule, *bytes);
                None
            }
            AccessSize::Affine(extent) => Some(extent),
            AccessSize::Product(_) | AccessSize::Unknown => None,
        };
        let offset = access.offset.as_ref().and_then(Offset::as_affine);
        for function in offset.into_iter().chain(extent) {
            granule = gcd(granule, common_divisor(function)?);
        }
    }
    Ok(granule.max(1))
}

/// `{ i -> e : offset(i) <= granule·e < offset(i) + extent(i) }`, exact when the granule divides both.
fn flat_cells(
    ctx: &isl::Ctx,
    offset: &PwAff,
    extent: &AccessSize,
    granule: u64,
    domain: &Set,
) -> Result<Map, isl::IslError> {
    let granule = Val::int_from_si(ctx, granule as i64)?;
    let end = match extent {
        AccessSize::Bytes(bytes) => offset.add(&constant_like(offset, *bytes as i64)?)?,
        AccessSize::Affine(extent) => offset.add(extent)?,
        AccessSize::Product(_) => unreachable!("in arrays of several dimensions only"),
        AccessSize::Unknown => unreachable!("an unknown extent has no offset"),
    };
    let (first, end) = (offset.scale_down_val(&granule)?.floor()?, end.scale_down_val(&granule)?.ceil()?);
    between(&first, &end)?.intersect_domain(domain)
}

/// An access of varying length as a block, if it begins at one polynomial.
fn block(access: &MemoryAccess) -> Result<Option<ByteBlock>, isl::IslError> {
    let (AccessSize::Product(length), Some(offset)) = (&access.extent, &access.offset) else { return Ok(None) };
    let start = match offset {
        Offset::Affine(offset) => PiecewisePolynomial::from_pw_aff(offset)?,
        Offset::Polynomial(offset) => Some(offset.clone()),
    };
    let pieces = start.map(|start| start.pieces).unwrap_or_default();
    Ok(match &pieces[..] {
        [(_, start)] => Some(ByteBlock { start: start.clone(), length: length.bytes.clone() }),
        _ => None,
    })
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
