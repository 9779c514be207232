//! That rows behind pointers are apart, and what the check has to look at for it.
//!
//! The check loads the pointers of all rows that the region touches, and compares the bytes that it touches of each. That it may load
//! them is proved at [`crate::turns`], for a check that comes after all other tests: the original loads every one of them, in statements
//! that are certain to run, and nothing in a region makes memory unreadable. What it finds there at first is what the region finds:
//! nobody writes the array of pointers by its name, and the test keeps all else that is written apart from it. As for invariants that
//! is no circle: up to the first write all pointers are what they were; so that write, and then the next, goes where the model says,
//! which misses them.

use super::build::{PlanError, PlanOptions, box_size};
use super::extent::{Extents, Unchecked};
use super::{CheckKind, CheckTerm, Extent, Test};
use crate::assume::AssumptionKind;
use crate::loop_ast::{BinaryOp, Expr, expr_from_set};
use crate::names::Names;
use crate::refusal::{Refusal, RefusalKind};
use crate::scop::{ArrayId, ParamId, Scop};
use isl::{DimType, Set};
use planted::Fault;

/// Rows that neither ascend nor descend are sorted, in memory of our own, if it is no more than this.
pub const MAX_SORTED_BYTES: i64 = 16 << 20;

/// To look at a row takes about as long as so many instances.
const INSTANCES_PER_ROW: i128 = 64;
/// And to sort it.
const INSTANCES_PER_SORTED_ROW: i128 = 2048;

pub struct RowsTest {
    pub rows: Vec<RowExtent>,
    pub others: Vec<OtherExtent>,
    /// Of `others`, those with values that the pointers rest on: a row that is written must miss them before another pointer is read.
    pub cells: Vec<usize>,
    /// Where rows that neither ascend nor descend, or lie among those of another array, are sorted; nowhere if not given.
    pub sorted_if: Option<Expr>,
}

/// Of each row r with `first <= r < end` and `touched(r)`: the bytes from `low(r)` to before `high(r)`, from where its pointer leads.
pub struct RowExtent {
    pub array: ArrayId,
    pub written: bool,
    pub first: Expr,
    pub end: Expr,
    /// From the last to the first.
    pub backwards: bool,
    /// Stands for r in what follows.
    pub row: ParamId,
    pub touched: Expr,
    pub low: Expr,
    pub high: Expr,
}

/// An array that must be apart from rows.
pub struct OtherExtent {
    pub extent: Extent,
    pub written: bool,
}

impl RowsTest {
    /// Of what does not depend on how many rows there are; the rest is small beside the work, which was tested before.
    pub(super) fn cost(&self) -> usize {
        let rows =
            self.rows.iter().map(|r| r.first.cost() + r.end.cost() + r.touched.cost() + r.low.cost() + r.high.cost());
        let others = self.others.iter().map(|o| 3 + o.extent.low.cost() + o.extent.high.cost());
        rows.sum::<usize>() + others.sum::<usize>() + 4 * self.rows.len() * (self.rows.len() + self.others.len())
    }

    /// Pairs of arrays that no byte is common to where the test holds.
    pub fn apart(&self) -> impl Iterator<Item = (ArrayId, ArrayId)> {
        let all = || {
            let rows = self.rows.iter().map(|r| (r.array, r.written, true));
            rows.chain(self.others.iter().map(|o| (o.extent.array, o.written, false)))
        };
        all().flat_map(move |(first, first_written, has_rows)| {
            let with = all().filter(move |&(second, written, also_rows)| {
                first != second && (first_written || written) && (has_rows || also_rows)
            });
            with.map(move |(second, ..)| (first, second))
        })
    }
}

/// The tests that rows need, if there are any: that there is enough work to look at them, and that they are apart.
pub(super) fn terms(
    scop: &Scop,
    known: &Set,
    extents: &mut Extents,
    options: &PlanOptions,
) -> Result<Vec<CheckTerm>, PlanError> {
    let names = Names::of(scop);
    let refused = |array, unchecked| match unchecked {
        Unchecked::Unknown { line } => {
            let subject = format!("the rows of `{}`", names.array_in_source(array));
            PlanError::Refused(Refusal::new(RefusalKind::AliasUnchecked, line, subject))
        }
        Unchecked::Failed(error) => error.into(),
    };
    let accesses = || scop.statements.values().flat_map(|s| &s.accesses);
    let is_written = |array: ArrayId| accesses().any(|a| a.array == array && a.is_write());
    let has_rows = |array: ArrayId| scop.arrays[&array].rows.is_some();
    // Stands for the number of a row: no parameter of the region.
    let row = ParamId(scop.params.len() as u32);
    let (mut rows, mut others) = (Vec::new(), Vec::new());
    for &array in scop.arrays.keys() {
        let met = scop.may_alias.iter().filter(|(a, b)| [*a, *b].contains(&array));
        let meets_rows = || met.clone().any(|&(a, b)| has_rows(if a == array { b } else { a }));
        let written = is_written(array);
        if has_rows(array) {
            if written || met.clone().next().is_some() {
                let touched = extents.rows(array, row).map_err(|e| refused(array, e))?;
                let backwards = scop.arrays[&array].rows.is_some_and(|rows| rows.turn.backwards);
                rows.extend(touched.map(|rows| RowExtent { written, backwards, ..rows }));
            }
        } else if meets_rows() {
            let extent = extents.of(array, false).map_err(|e| refused(array, e))?;
            others.extend(extent.map(|extent| OtherExtent { extent, written }));
        }
    }
    rows.sort_by_key(|r: &RowExtent| scop.arrays[&r.array].rows.map(|rows| rows.turn.number));
    let has_cell = |array: ArrayId| {
        scop.invariants.values().any(|invariant| invariant.cell.as_ref().is_some_and(|cell| cell.array == array))
    };
    let cells = (0..others.len()).filter(|&k| has_cell(others[k].extent.array)).collect();
    if rows.is_empty() || planted::is(Fault::RowPointersUntested) {
        return Ok(Vec::new());
    }
    let sum = |a: Expr, b: Expr| Expr::binary(BinaryOp::Add, a, b);
    let counts = rows.iter().map(|r| Expr::binary(BinaryOp::Sub, r.end.clone(), r.first.clone()));
    let count = counts.reduce(sum).expect("there are rows");
    let enough = |each| enough_per_row(scop, known, &count, each);
    let is_tested = options.min_instances > 0;
    let work = if is_tested { enough(INSTANCES_PER_ROW)? } else { None };
    let mut terms: Vec<CheckTerm> = Vec::new();
    terms.extend(work.map(|work| CheckTerm { kind: CheckKind::Work, test: Test::Holds(work) }));
    let worth_sorting = if is_tested { enough(INSTANCES_PER_SORTED_ROW)? } else { None };
    let sorted_if = options.may_allocate.then(|| worth_sorting.unwrap_or(Expr::truth(true)));
    let kind = CheckKind::Assumed(AssumptionKind::RP);
    terms.push(CheckTerm { kind, test: Test::Rows(RowsTest { rows, others, cells, sorted_if }) });
    Ok(terms)
}

/// Are there so many instances for each of the rows, by the bounding box of one of the deepest statements? Nothing if it is hard to say.
fn enough_per_row(scop: &Scop, known: &Set, rows: &Expr, each: i128) -> Result<Option<Expr>, PlanError> {
    let mut deepest = 0;
    for statement in scop.statements.values() {
        deepest = deepest.max(statement.domain.dim(DimType::Set)?);
    }
    let mut enough: Option<Expr> = None;
    for statement in scop.statements.values() {
        if statement.domain.dim(DimType::Set)? != deepest {
            continue;
        }
        let Some((product, constant)) = box_size(&statement.domain, known)? else { return Ok(None) };
        let instances = match product {
            None => Expr::Int(constant),
            Some(product) if constant == 1 => product,
            Some(product) => Expr::binary(BinaryOp::Mul, product, Expr::Int(constant)),
        };
        let needed = Expr::binary(BinaryOp::Mul, rows.clone(), Expr::Int(each));
        let mut this = Expr::binary(BinaryOp::Ge, instances, needed);
        let exists = expr_from_set(&statement.domain.params()?.gist(known)?, known)?;
        if exists != Expr::truth(true) {
            this = Expr::binary(BinaryOp::And, exists, this);
        }
        enough = Some(match enough {
            None => this,
            Some(others) => Expr::binary(BinaryOp::Or, others, this),
        });
    }
    Ok(enough)
}
