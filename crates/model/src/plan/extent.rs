//! The bytes that a region touches of an array, as expressions in the parameters.

use super::build::plus_one;
use super::{Extent, RowExtent, Window};
use crate::loop_ast::{AstError, BinaryOp, Expr, expr_from_pw_aff, expr_from_set};
use crate::scop::{ArrayId, FramedPart, ParamId, Rows, Scop};
use crate::source::Line;
use isl::{Budget, DimType, IslError, Map, PwAff, Set, Val};
use planted::Fault;
use std::collections::HashMap;

/// What an exact bound may cost; operations on large numbers are slow, so this is seconds at worst.
const EXACT_BOUND: Budget = Budget::new("one bound of an array", 20_000);
/// An exact bound with more pieces than this is replaced by that of a simple hull, and one of a hull by nothing.
const MAX_PIECES: usize = 8;

pub(super) enum Unchecked {
    /// No bounds are known; the line of the access at fault.
    Unknown {
        line: Line,
    },
    Failed(AstError),
}
impl From<IslError> for Unchecked {
    fn from(error: IslError) -> Self {
        Unchecked::Failed(error.into())
    }
}
impl From<AstError> for Unchecked {
    fn from(error: AstError) -> Self {
        Unchecked::Failed(error)
    }
}

const POINTER_BYTES: u64 = 8;

/// What one access or preload touches.
struct Touch<'a> {
    domain: &'a Set,
    relation: &'a Map,
    /// In bytes, where it is affine.
    offset: Option<&'a PwAff>,
    bytes: u64,
    line: Line,
}

pub(super) struct Extents<'a> {
    scop: &'a Scop,
    known: &'a Set,
    /// The reads of pointers to rows that come with accesses to the rows, whether or not they are still listed: in which array, in which
    /// instances, of which bytes.
    pointers: Vec<(ArrayId, &'a Set, &'a Map, PwAff, Line)>,
    done: HashMap<(ArrayId, bool), Option<(Expr, Expr)>>,
    windows: HashMap<(ArrayId, bool), Option<Window>>,
}

impl<'a> Extents<'a> {
    pub(super) fn new(scop: &'a Scop, known: &'a Set) -> Result<Self, IslError> {
        let mut pointers = Vec::new();
        for statement in scop.statements.values() {
            for access in &statement.accesses {
                let (Some(Rows { pointers: array, first, stride, .. }), Some(row)) =
                    (scop.arrays[&access.array].rows, &access.row)
                else {
                    continue;
                };
                let row = row.to_aff(&statement.domain.get_space()?)?.expect("rows are affine");
                let offset = PwAff::from_aff(&row)?.scale_val(&Val::int_from_si(&scop.ctx, stride)?)?;
                let offset = offset.add_constant_val(&Val::int_from_si(&scop.ctx, first)?)?;
                pointers.push((array, &statement.domain, &access.relation, offset, access.line));
            }
        }
        Ok(Extents { scop, known, pointers, done: HashMap::new(), windows: HashMap::new() })
    }

    /// The bytes that writes, or all accesses, of the array touch; `None` if there are none.
    ///
    /// Ensures: for parameters in `known` every touched byte is in the extent; where none is touched the extent is empty.
    pub(super) fn of(&mut self, array: ArrayId, only_writes: bool) -> Result<Option<Extent>, Unchecked> {
        let ends = match self.done.get(&(array, only_writes)) {
            Some(ends) => ends.clone(),
            None => {
                let ends = self.compute(array, only_writes)?;
                self.done.insert((array, only_writes), ends.clone());
                ends
            }
        };
        Ok(ends.map(|(low, high)| Extent { array, low, high }))
    }

    /// The same of its rows, where these are as long as parameters say: an array may be a block of a matrix, and another one beside it.
    ///
    /// Ensures: as [`Self::of`], with any number of rows between a touched byte and the window.
    pub(super) fn window(&mut self, array: ArrayId, only_writes: bool) -> Result<Option<Window>, Unchecked> {
        if let Some(known) = self.windows.get(&(array, only_writes)) {
            return Ok(known.clone());
        }
        let window = self.compute_window(array, only_writes)?;
        self.windows.insert((array, only_writes), window.clone());
        Ok(window)
    }

    fn compute_window(&self, array: ArrayId, only_writes: bool) -> Result<Option<Window>, Unchecked> {
        let described = &self.scop.arrays[&array];
        if described.inner_sizes.iter().all(|size| size.as_constant().is_some()) {
            return Ok(None);
        }
        let Some((accesses, some)) = self.touching(array, only_writes)? else { return Ok(None) };
        let Some(sizes) = self.sizes(array, &some)? else { return Ok(None) };
        let mut inside = Vec::new();
        for cells in self.cells(&accesses)? {
            if cells.dim(DimType::Set)? != sizes.len() + 1 {
                return Ok(None);
            }
            inside.push(cells.project_out(DimType::Set, 0, 1)?);
        }
        let bytes = accesses.iter().map(|touch| touch.bytes).fold(described.cell_bytes, u64::max);
        let Some((low, high)) = self.flat_box(&sizes[1..], described.cell_bytes, &inside, &some, bytes)? else {
            return Ok(None);
        };
        let cell = Expr::Int(i128::from(described.cell_bytes));
        let stride = sizes.into_iter().fold(cell, product);
        Ok(Some(Window { stride, low, high }))
    }

    /// The bytes from the first element of a temporary, whose subscripts all count from 0, to behind its last; `None` if it is not used.
    pub(super) fn room(&self, array: ArrayId) -> Result<Option<Expr>, Unchecked> {
        let Some((accesses, some)) = self.touching(array, false)? else { return Ok(None) };
        let unknown = Unchecked::Unknown { line: accesses[0].line };
        let Some(sizes) = self.sizes(array, &some)? else { return Err(unknown) };
        let cells = self.cells(&accesses)?;
        let Some(last) = self.bound(&cells, 0, End::High, &some)? else { return Err(unknown) };
        let count = sizes.into_iter().fold(plus_one(last), product);
        let bytes = product(count, Expr::Int(i128::from(self.scop.arrays[&array].cell_bytes)));
        Ok(Some(self.guard(&some)?(bytes)))
    }

    /// The bytes that are touched of each row behind a pointer; `None` if there are none. `row` stands for the number of the row.
    ///
    /// Ensures: for parameters in `known` every touched byte of row r is in its extent, and r is touched and in range.
    pub(super) fn rows(&self, array: ArrayId, row: ParamId) -> Result<Option<RowExtent>, Unchecked> {
        let Some((accesses, some)) = self.touching(array, false)? else { return Ok(None) };
        let unknown = || Unchecked::Unknown { line: accesses[0].line };
        let cells = self.cells(&accesses)?;
        let Some(first) = self.bound(&cells, 0, End::Low, &some)? else { return Err(unknown()) };
        let Some(last) = self.bound(&cells, 0, End::High, &some)? else { return Err(unknown()) };
        // Of each row, which becomes a parameter.
        let subscripts = cells[0].dim(DimType::Set)?;
        let names: Vec<String> = (0..subscripts).map(|d| format!("e{d}")).collect();
        let is_row = format!("[{row}] -> {{ [{}] : e0 = {row} }}", names.join(", "));
        let is_row = Set::read_from_str(&self.scop.ctx, &is_row)?;
        let mut inside = Vec::new();
        let mut touched = Set::empty(&is_row.params()?.get_space()?)?;
        for cells in &cells {
            let of_row = cells.intersect(&is_row)?.project_out(DimType::Set, 0, 1)?.coalesce()?;
            touched = touched.union(&of_row.params()?)?;
            inside.push(of_row);
        }
        let touched = touched.intersect(&some)?.coalesce()?;
        let bytes = self.scop.arrays[&array].cell_bytes;
        let Some(sizes) = self.sizes(array, &touched)? else { return Err(unknown()) };
        let Some((low, high)) = self.flat_box(&sizes, bytes, &inside, &touched, bytes)? else { return Err(unknown()) };
        // All of it, whatever the rows are between: they may be bounds and no more.
        let touched = touched.gist(&some)?.coalesce()?;
        if touched.n_basic_set()? > MAX_PIECES {
            return Err(unknown());
        }
        let touched = expr_from_set(&touched, &some)?;
        let guarded = self.guard(&some)?;
        let (first, end) = (guarded(first), guarded(plus_one(last)));
        Ok(Some(RowExtent { array, written: false, backwards: false, first, end, row, touched, low, high }))
    }

    /// The accesses, and the parameters for which an instance at least touches the array.
    fn touching(&self, array: ArrayId, only_writes: bool) -> Result<Option<(Vec<Touch<'_>>, Set)>, Unchecked> {
        let accesses = self.scop.statements.values().flat_map(|s| s.accesses.iter().map(|a| (&s.domain, a)));
        let accesses = accesses.filter(|(_, a)| {
            a.array == array && (a.is_write() || !only_writes && !planted::is(Fault::ReadsOutsideExtents))
        });
        let touches = accesses.map(|(domain, a)| Touch {
            domain,
            relation: &a.relation,
            offset: a.offset.as_ref().and_then(|o| o.as_affine()),
            bytes: a.bytes,
            line: a.line,
        });
        let cells = self.scop.invariants.values().filter_map(|i| Some((i.line, i.cell.as_ref()?)));
        let preloads =
            cells.filter(|(_, cell)| cell.array == array && !only_writes && !planted::is(Fault::CellsOutsideExtents));
        let preloads = preloads.map(|(line, cell)| Touch {
            domain: &cell.domain,
            relation: &cell.relation,
            offset: Some(&cell.offset),
            bytes: cell.bytes,
            line,
        });
        let pointers = self.pointers.iter().filter(|(of, ..)| *of == array && !only_writes);
        let pointers = pointers.map(|&(_, domain, relation, ref offset, line)| Touch {
            domain,
            relation,
            offset: Some(offset),
            bytes: POINTER_BYTES,
            line,
        });
        let mut accesses: Vec<Touch> = touches.chain(preloads).chain(pointers).collect();
        let wraps = self.scop.arrays[&array].may_wrap.as_ref().filter(|_| !only_writes);
        for (domain, relation) in wraps.iter().flat_map(|wraps| &wraps.counted) {
            let mut is_new = true;
            for touch in &accesses {
                is_new &= !(touch.relation.plain_is_equal(relation)? && touch.domain.plain_is_equal(domain)?);
            }
            if is_new {
                accesses.push(Touch { domain, relation, offset: None, bytes: 0, line: Line::UNKNOWN });
            }
        }
        let some = self.where_any(&accesses)?;
        Ok(some.map(|some| (accesses, some)))
    }

    /// The parameters for which one of the accesses happens at least, if there are any.
    fn where_any(&self, accesses: &[Touch]) -> Result<Option<Set>, Unchecked> {
        let mut some = Set::empty(&self.known.get_space()?)?;
        for touch in accesses {
            some = some.union(&touch.domain.params()?)?;
        }
        let some = some.intersect(self.known)?.coalesce()?;
        Ok((!some.is_empty()?).then_some(some))
    }

    /// The bytes that parts of addresses alone would lead to, as the accesses they are parts of go into the array.
    ///
    /// Ensures: as [`Self::of`].
    pub(super) fn of_parts<'p>(&self, array: ArrayId, parts: &[&'p FramedPart]) -> Result<Option<Extent>, Unchecked> {
        let touch = |FramedPart { domain, relation, .. }: &'p FramedPart| Touch {
            domain,
            relation,
            offset: None,
            bytes: 0,
            line: Line::UNKNOWN,
        };
        let touches: Vec<Touch> = parts.iter().map(|part| touch(part)).collect();
        let Some(some) = self.where_any(&touches)? else { return Ok(None) };
        let line = self.scop.lines.0;
        let (low, high) = self.by_subscripts(array, &touches, &some)?.ok_or(Unchecked::Unknown { line })?;
        let guarded = self.guard(&some)?;
        Ok(Some(Extent { array, low: guarded(low), high: guarded(high) }))
    }

    /// 0 where nothing is touched.
    fn guard(&self, some: &Set) -> Result<impl Fn(Expr) -> Expr, Unchecked> {
        let exists = match self.known.is_subset(some)? {
            true => None,
            false => Some(expr_from_set(&some.gist(self.known)?, self.known)?),
        };
        Ok(move |value: Expr| match (&exists, value) {
            (Some(exists), value) if value != Expr::Int(0) => Expr::Select {
                condition: Box::new(exists.clone()),
                then: Box::new(value),
                otherwise: Box::new(Expr::Int(0)),
            },
            (_, value) => value,
        })
    }

    fn compute(&self, array: ArrayId, only_writes: bool) -> Result<Option<(Expr, Expr)>, Unchecked> {
        let Some((accesses, some)) = self.touching(array, only_writes)? else { return Ok(None) };
        let affine: Option<Vec<(&Touch, &PwAff)>> = accesses.iter().map(|touch| Some((touch, touch.offset?))).collect();
        let (low, high) = if let Some(accesses) = affine {
            self.by_offsets(&accesses, &some)?
        } else {
            self.by_subscripts(array, &accesses, &some)?
        }
        .ok_or(Unchecked::Unknown { line: accesses[0].line })?;
        let guarded = self.guard(&some)?;
        Ok(Some((guarded(low), guarded(high))))
    }

    fn by_offsets(&self, accesses: &[(&Touch, &PwAff)], some: &Set) -> Result<Option<(Expr, Expr)>, Unchecked> {
        let mut begins = Vec::new();
        let mut ends = Vec::new();
        for (touch, offset) in accesses {
            let image = |offset: &PwAff| -> Result<Set, IslError> {
                let map = Map::from_pw_aff(offset)?.intersect_domain(touch.domain)?;
                map.range()?.reset_tuple_id()?.intersect_params(self.known)?.coalesce()
            };
            begins.push(image(offset)?);
            let bytes = touch.bytes - u64::from(planted::is(Fault::ExtentShort) && touch.bytes > 1);
            let bytes = Val::int_from_ui(self.known.ctx(), bytes)?;
            ends.push(image(&offset.add_constant_val(&bytes)?)?);
        }
        let low = self.bound(&begins, 0, End::Low, some)?;
        let high = self.bound(&ends, 0, End::High, some)?;
        Ok(low.zip(high))
    }

    /// For shapes whose sizes are parameters: the box of the subscripts, flattened.
    ///
    /// Let sizes of inner dimensions be nᵢ, and uᵢ ≤ sᵢ ≤ vᵢ over all instances. Where an instance exists, 0 ≤ sᵢ < nᵢ for the
    /// inner subscripts of its accesses (that is what recovering the shape assumed), so all nᵢ > 0 and the flat offset grows with
    /// every subscript: it lies between those of u and of v. This is so whether the sᵢ are below the nᵢ or not, as those of parts.
    fn by_subscripts(&self, array: ArrayId, accesses: &[Touch], some: &Set) -> Result<Option<(Expr, Expr)>, Unchecked> {
        let bytes = accesses.iter().map(|touch| touch.bytes).fold(self.scop.arrays[&array].cell_bytes, u64::max);
        let bytes = if planted::is(Fault::LastElementOutsideExtents) { 0 } else { bytes };
        let Some(sizes) = self.sizes(array, some)? else { return Ok(None) };
        self.flat_box(&sizes, self.scop.arrays[&array].cell_bytes, &self.cells(accesses)?, some, bytes)
    }

    /// The first byte of the box of these subscripts, of cells of that size, and the last cell's with so many bytes behind it.
    fn flat_box(
        &self,
        sizes: &[Expr],
        cell_bytes: u64,
        cells: &[Set],
        some: &Set,
        bytes: u64,
    ) -> Result<Option<(Expr, Expr)>, Unchecked> {
        for range in cells {
            if range.dim(DimType::Set)? != sizes.len() + 1 {
                return Ok(None);
            }
        }
        let flat = |end: End| -> Result<Option<Expr>, Unchecked> {
            let mut total: Option<Expr> = None;
            for d in 0..=sizes.len() {
                let Some(subscript) = self.bound(cells, d, end, some)? else { return Ok(None) };
                total = Some(match total {
                    None => subscript,
                    Some(outer) => sum(product(outer, sizes[d - 1].clone()), subscript),
                });
            }
            Ok(total.map(|cells| product(cells, Expr::Int(i128::from(cell_bytes)))))
        };
        let (low, high) = (flat(End::Low)?, flat(End::High)?);
        Ok(low.zip(high.map(|h| sum(h, Expr::Int(i128::from(bytes))))))
    }

    /// The sizes of the inner dimensions, if they are affine.
    fn sizes(&self, array: ArrayId, some: &Set) -> Result<Option<Vec<Expr>>, Unchecked> {
        let mut sizes = Vec::new();
        for size in &self.scop.arrays[&array].inner_sizes {
            let Some(size) = size.to_aff(&isl::Space::params_alloc(&self.scop.ctx, 0)?)? else { return Ok(None) };
            sizes.push(expr_from_pw_aff(&PwAff::from_aff(&size)?, some)?);
        }
        Ok(Some(sizes))
    }

    /// What each access touches; what several touch, once.
    fn cells(&self, accesses: &[Touch]) -> Result<Vec<Set>, Unchecked> {
        let mut cells: Vec<Set> = Vec::new();
        for (at, touch) in accesses.iter().enumerate() {
            let mut is_known = false;
            for before in &accesses[..at] {
                is_known |=
                    before.relation.plain_is_equal(touch.relation)? && before.domain.plain_is_equal(touch.domain)?;
            }
            if is_known {
                continue;
            }
            let range = touch.relation.intersect_domain(touch.domain)?.range()?;
            let range = range.reset_tuple_id()?.intersect_params(self.known)?.coalesce()?;
            let mut is_known = false;
            for other in &cells {
                is_known |= other.plain_is_equal(&range)?;
            }
            if !is_known {
                cells.push(range);
            }
        }
        Ok(cells)
    }

    /// The least or greatest value of dimension `d` of any of the sets.
    pub(super) fn bound(&self, sets: &[Set], d: usize, end: End, some: &Set) -> Result<Option<Expr>, Unchecked> {
        let bounded = |set: &Set| match end {
            End::Low => set.dim_has_any_lower_bound(DimType::Set, d),
            End::High => set.dim_has_any_upper_bound(DimType::Set, d),
        };
        let extreme = |set: &Set| match end {
            End::Low => set.dim_min(d),
            End::High => set.dim_max(d),
        };
        let mut touched: Vec<&Set> = Vec::new();
        for set in sets {
            if !set.is_empty()? {
                if !bounded(set)? {
                    return Ok(None);
                }
                touched.push(set);
            }
        }
        let Some((first, others)) = touched.split_first() else { return Ok(None) };
        let exact = || -> Result<PwAff, IslError> {
            let mut exact = extreme(first)?;
            for set in others {
                let this = extreme(set)?;
                exact = match end {
                    End::Low => exact.union_min(&this)?,
                    End::High => exact.union_max(&this)?,
                };
            }
            exact.coalesce()?.gist_params(some)?.coalesce()
        };
        if let Some(exact) = self.known.ctx().try_within(EXACT_BOUND, exact)?
            && exact.pieces()?.len() <= MAX_PIECES
        {
            return Ok(Some(expr_from_pw_aff(&exact, some)?));
        }
        let mut all = (*first).clone();
        for set in others {
            all = all.union(set)?;
        }
        // Without divisions the hull is a bound in numbers that are easy to find, if not the best one.
        let hull = all.remove_divs()?.simple_hull()?.to_set()?;
        if !bounded(&hull)? {
            return Ok(None);
        }
        let value = extreme(&hull)?.coalesce()?.gist_params(some)?.coalesce()?;
        if value.pieces()?.len() > MAX_PIECES {
            return Ok(None);
        }
        Ok(Some(expr_from_pw_aff(&value, some)?))
    }
}

#[derive(Clone, Copy)]
pub(super) enum End {
    Low,
    High,
}

pub(super) fn product(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::Int(0), _) | (_, Expr::Int(0)) => Expr::Int(0),
        (Expr::Int(1), e) | (e, Expr::Int(1)) => e,
        (Expr::Int(x), Expr::Int(y)) if x.checked_mul(y).is_some() => Expr::Int(x * y),
        (a, b) => Expr::binary(BinaryOp::Mul, a, b),
    }
}

pub(super) fn sum(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::Int(0), e) | (e, Expr::Int(0)) => e,
        (Expr::Int(x), Expr::Int(y)) => Expr::Int(x + y),
        (a, b) => Expr::binary(BinaryOp::Add, a, b),
    }
}
