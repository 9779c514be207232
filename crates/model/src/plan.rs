//! The outcome of all decisions about one region: what to test at run time and what to run if the test holds.

mod bounds;
mod build;
mod extent;
mod rows;
mod show;
mod temporary;

pub use build::{MIN_WINDOW, PlanError, PlanOptions, admitted, build_plan};
pub use rows::{MAX_SORTED_BYTES, OtherExtent, RowExtent, RowsTest};
pub use temporary::{MAX_TEMPORARY_BYTES, Temporary};

use crate::assume::AssumptionKind;
use crate::loop_ast::{Expr, Node};
use crate::scop::{ArrayId, ParamId, ValueId};

pub struct Plan {
    /// Evaluated in order, before anything else; the first that is false, or whose arithmetic overflows 64 bits, takes the original.
    pub check: Vec<CheckTerm>,
    /// One piece of memory for all of them, got when the check has passed. Where there is none, the original runs.
    pub temporaries: Vec<Temporary>,
    pub body: Node,
}

pub struct CheckTerm {
    pub kind: CheckKind,
    pub test: Test,
}

/// What a term is about.
#[derive(Clone, Debug, PartialEq)]
pub enum CheckKind {
    /// What is assumed.
    Assumed(AssumptionKind),
    /// The bytes of an array, up to `end`, lie in its window or, if it has none, can be counted in 64 bits: assumed, of kind EE.
    Bytes { array: ArrayId, end: Expr, window: Option<(i128, i128)> },
    /// Enough iterations to pay for the transformation.
    Work,
    /// A parameter is so small that the generated loop bounds fit their machine type.
    Fits { param: ParamId, bits: u32 },
    /// Memory of our own is not too much.
    Memory,
}

pub enum Test {
    /// A boolean expression over parameters (no counters).
    Holds(Expr),
    /// No test: loads one of the region's invariants where the condition holds, so that later terms can use it.
    Preload { invariant: ValueId, when: Expr },
    /// No byte of `first` lies in `second`. Trivially true when one of them is empty (low >= high). Blocks of one matrix lie side by
    /// side, each within the other's extent; but if their rows are equally long, the windows tell them apart.
    Disjoint { first: Extent, second: Extent, windows: Option<Box<[Window; 2]>> },
    /// No byte of a row behind a pointer is in another, or in another array, where one of the two is written.
    Rows(RowsTest),
}

/// Bytes `base + low .. base + high` (high exclusive) of an array.
#[derive(Clone, Debug, PartialEq)]
pub struct Extent {
    pub array: ArrayId,
    pub low: Expr,
    pub high: Expr,
}

/// The bytes that are touched in rows of an array, `base + k * stride + low .. base + k * stride + high` for some k.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    pub stride: Expr,
    pub low: Expr,
    pub high: Expr,
}

impl Plan {
    /// How many operations the check executes at most. The ends of an extent are computed once, by the first term that needs them.
    pub fn check_cost(&self) -> usize {
        let mut computed: Vec<&Extent> = Vec::new();
        let mut cost = 0;
        for term in &self.check {
            cost += term.test.cost();
            let Test::Disjoint { first, second, .. } = &term.test else { continue };
            for extent in [first, second] {
                match computed.contains(&extent) {
                    true => cost -= extent.cost(),
                    false => computed.push(extent),
                }
            }
        }
        cost
    }
}

impl Test {
    pub fn cost(&self) -> usize {
        match self {
            Test::Holds(expr) => expr.cost().max(1),
            Test::Preload { when, .. } => 1 + when.cost(),
            // Two comparisons for order, or eight operations on the windows.
            Test::Disjoint { first, second, windows } => {
                let of_window = |w: &Window| 4 + w.stride.cost() + w.low.cost() + w.high.cost();
                let windows: usize = windows.iter().flat_map(|both| both.iter()).map(of_window).sum();
                2 + windows + first.cost() + second.cost()
            }
            Test::Rows(rows) => rows.cost(),
        }
    }
}

impl Extent {
    /// Two addresses, and whether it is empty.
    fn cost(&self) -> usize {
        3 + self.low.cost() + self.high.cost()
    }
}
