//! Terms of the check as sentences.

use super::temporary::{MAX_TEMPORARY_BYTES, Temporary};
use super::{CheckKind, CheckTerm, Plan, Test};
use crate::names::Names;
use crate::scop::Scop;

impl Plan {
    /// `n <= 1024`, `A and B do not overlap`.
    pub fn text_of(&self, term: &CheckTerm, scop: &Scop, names: &Names) -> String {
        let expr = match &term.test {
            Test::Holds(expr) => expr,
            Test::Preload { invariant, .. } => {
                return format!("{} is read before the loops", scop.invariants[invariant].name);
            }
            Test::Rows(rows) => {
                let name = |array| names.array_in_source(array);
                let all = rows.rows.iter().map(|r| r.array).chain(rows.others.iter().map(|o| o.extent.array));
                let all: Vec<String> = all.map(|array| name(array).to_string()).collect();
                return format!("the rows behind the pointers do not overlap: {}", all.join(", "));
            }
            Test::Disjoint { first, second, .. } => {
                let name = |array| names.array_in_source(array);
                return format!("{} and {} do not overlap", name(first.array), name(second.array));
            }
        };
        match &term.kind {
            CheckKind::Assumed(_) => names.expr(expr),
            CheckKind::Bytes { array, end, window } => {
                let bytes = format!("the bytes of {}, up to {},", names.array_in_source(*array), names.expr(end));
                match window {
                    Some((first, end)) => {
                        format!("{bytes} lie between {first} and {end}: no subscript wraps around")
                    }
                    None => format!("{bytes} can be counted in 64 bits"),
                }
            }
            CheckKind::Work => format!("enough iterations: {}", names.expr(expr)),
            CheckKind::Fits { param, bits } => {
                format!("{} is at most 2^{bits} in absolute value", names.param_in_source(*param))
            }
            CheckKind::Memory => text_of_temporaries(&self.temporaries, names),
        }
    }
}

pub(super) fn text_of_temporaries(temporaries: &[Temporary], names: &Names) -> String {
    let each = |t: &Temporary| format!("{} of {} bytes", names.array_in_source(t.holds), names.expr(&t.bytes));
    let all: Vec<String> = temporaries.iter().map(each).collect();
    format!("a temporary for {}, at most {} MiB", all.join(" and "), MAX_TEMPORARY_BYTES >> 20)
}
