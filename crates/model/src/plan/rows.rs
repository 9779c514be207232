//! That rows behind pointers are apart, and what the check has to look at for it.
//!
//! The check loads the pointers of all rows that the region touches, and compares the bytes that it touches of each. That it may load
//! them is proved at [`crate::turns`], for a check that comes after all other tests: the original loads every one of them, in statements
//! that are certain to run, and nothing in a region makes memory unreadable. What it finds there at first is what the region finds:
//! nobody writes the array of pointers by its name, and the test keeps all else that is written apart from it. As for invariants that
//! is no circle: up to the first write all pointers are what they were; so that write, and then the next, goes where the model says,
//! which misses them.

use super::build::{PlanError, PlanOptions, box_size};
use super::extent::{Extents, Unchecked, sum};
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
const INSTANCES_PER_ROW: i128 = 256;
/// And to sort it.
const INSTANCES_PER_SORTED_ROW: i128 = 4096;
/// More are not looked at, whatever there is to do.
const MOST_ROWS: i128 = 1 << 24;

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
    let count = |r: &RowExtent| match &r.first {
        Expr::Int(0) => r.end.clone(),
        first => Expr::binary(BinaryOp::Sub, r.end.clone(), first.clone()),
    };
    let count = rows.iter().map(count).reduce(sum).expect("there are rows");
    let enough = |each| enough_per_row(scop, known, &count, each);
    let is_tested = options.min_instances > 0;
    let work = if is_tested { enough(INSTANCES_PER_ROW)? } else { None };
    let mut terms: Vec<CheckTerm> = Vec::new();
    // The rows are between bounds, which may be far from them.
    let few = Expr::binary(BinaryOp::Le, count.clone(), Expr::Int(MOST_ROWS));
    terms.push(CheckTerm { kind: CheckKind::Assumed(AssumptionKind::RP), test: Test::Holds(few) });
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::test_scop;
    use crate::loop_ast::Spelling;
    use crate::plan::{PlanOptions, build_plan};
    use expect_test::{Expect, expect};

    fn check(sketch: &str, alias: &[(u32, u32)], expected: Expect) {
        let mut scop = test_scop(sketch);
        scop.may_alias = alias.iter().map(|(a, b)| (ArrayId(*a), ArrayId(*b))).collect();
        let plan = build_plan(&scop, &scop.schedule.clone().into(), &PlanOptions::default()).unwrap();
        let names = Names::of(&scop);
        // What stands for the row is no parameter of the region.
        let param = |p: ParamId| if p.index() < scop.params.len() { p.to_string() } else { "r".into() };
        let spelling = Spelling { param: &param, statement: &|s| s.to_string(), array: &|a| a.to_string() };
        let show = |e: &Expr| e.text_with(&spelling);
        let mut text = String::new();
        for term in &plan.check {
            match &term.test {
                Test::Rows(test) => {
                    for r in &test.rows {
                        let written = if r.written { " written" } else { "" };
                        text += &format!("{}{written}, rows {} to {}\n", r.array, show(&r.first), show(&r.end));
                        text += &format!("  if {}\n  from {} to {}\n", show(&r.touched), show(&r.low), show(&r.high));
                    }
                    for o in &test.others {
                        let written = if o.written { " written" } else { "" };
                        let (low, high) = (show(&o.extent.low), show(&o.extent.high));
                        text += &format!("{}{written}, {low} to {high}\n", o.extent.array);
                    }
                    text += &format!("sorted if {}\n", test.sorted_if.as_ref().map_or("never".into(), show));
                }
                _ => text += &format!("{}\n", plan.text_of(term, &scop, &names)),
            }
        }
        expected.assert_eq(&text);
    }

    #[test]
    fn only_what_is_touched_of_each_row_counts() {
        check(
            "rows A0 A1
             for i : 0 <= i < p0
               for j : 0 <= j <= i
                 read A1[i]; read A0[i, j]; write A0[i, j]",
            &[(0, 1)],
            expect![[r#"
                p0 <= 16777216
                enough iterations: p0 * p0 >= p0 * 256
                enough iterations: p0 >= 1 && p0 * p0 >= 4096
                A0 written, rows 0 to p0
                  if p0 >= r + 1 && r >= 0
                  from 0 to r * 8 + 8
                A1, 0 to 8 * p0
                sorted if p0 * p0 >= p0 * 4096
            "#]],
        );
    }
    #[test]
    fn rows_in_between_that_nobody_touches_are_not_looked_at() {
        check(
            "rows A0 A1
             for i : 0 <= i < p0
               for j : 0 <= j < 100
                 read A1[3i + 1]; read A1[3i]; write A0[3i + 1, j]; read A0[3i, j]",
            &[(0, 1)],
            expect![[r#"
                enough iterations: p0 >= 1 && p0 >= 41
                3 * p0 - 1 <= 16777216
                enough iterations: p0 * 100 >= (3 * p0 - 1) * 256
                A0 written, rows 0 to 3 * p0 - 1
                  if 3 * p0 >= r + 1 && r >= 0 && r % 3 <= 1
                  from 0 to 800
                A1, 0 to 24 * p0 - 8
                sorted if p0 * 100 >= (3 * p0 - 1) * 4096
            "#]],
        );
    }
    #[test]
    fn arrays_that_are_only_read_are_kept_from_what_is_written() {
        check(
            "rows A0 A1
             rows A2 A3
             for i : 0 <= i < p0
               for j : 0 <= j < p1
                 read A1[i]; read A3[j]; read A4[j]; write A0[i, j]; read A2[j, i + 2]",
            &[(0, 1), (0, 2), (0, 3), (0, 4)],
            expect![[r#"
                p0 + p1 <= 16777216
                enough iterations: p0 * p1 >= (p0 + p1) * 256
                enough iterations: p0 >= 1 && p1 >= 1 && p0 * p1 >= 4096
                A0 written, rows 0 to p0
                  if p0 >= r + 1 && r >= 0
                  from 0 to (p1 - 1) * 8 + 8
                A2, rows 0 to p1
                  if p1 >= r + 1 && r >= 0
                  from 16 to (p0 + 1) * 8 + 8
                A1, 0 to 8 * p0
                A3, 0 to 8 * p1
                A4, 0 to 8 * p1
                sorted if p0 * p1 >= (p0 + p1) * 4096
            "#]],
        );
    }
}
