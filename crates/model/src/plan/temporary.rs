//! Memory that the new loops need for themselves.

use super::build::{PlanError, refused};
use super::extent::{Extents, Unchecked, sum};
use super::show::text_of_temporaries;
use super::{CheckKind, CheckTerm, Test};
use crate::loop_ast::{BinaryOp, Expr};
use crate::names::Names;
use crate::refusal::RefusalKind;
use crate::scop::{ArrayId, ArrayKind, Scop};
use crate::transform::Copies;

/// All temporaries of a region together take no more. What is allocated and touched anew for every execution of the region must stay
/// small beside what the region does, and no program should need noticeably more memory than without us.
pub const MAX_TEMPORARY_BYTES: i128 = 64 << 20;

pub struct Temporary {
    pub array: ArrayId,
    /// What it is for: a scalar that became it, or the array of which it holds elements.
    pub holds: ArrayId,
    /// From its first element on, at most [`MAX_TEMPORARY_BYTES`] where the check holds.
    pub bytes: Expr,
}

/// The temporaries, those of the largest elements first so that all are aligned one behind the other, and the test that they are not
/// too large, if they could be.
pub(super) fn temporaries(
    scop: &Scop,
    copies: &Copies,
    extents: &Extents,
) -> Result<(Vec<Temporary>, Option<CheckTerm>), PlanError> {
    let mut all: Vec<(u64, Temporary)> = Vec::new();
    for (&array, described) in scop.arrays.iter().filter(|(_, a)| a.kind == ArrayKind::Temporary) {
        let bytes = match extents.room(array) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => continue,
            Err(Unchecked::Unknown { .. }) => {
                let subject = format!("the size of a temporary for `{}`", described.name);
                return Err(refused(RefusalKind::TooComplex, scop, subject));
            }
            Err(Unchecked::Failed(error)) => return Err(error.into()),
        };
        all.push((described.cell_bytes, Temporary { array, holds: array, bytes }));
    }
    for copy in copies.values() {
        let bytes = Expr::Int(i128::from(copy.cells) * i128::from(copy.from.bytes));
        all.push((copy.from.bytes, Temporary { array: copy.temporary, holds: copy.from.array, bytes }));
    }
    all.sort_by_key(|(cell_bytes, _)| std::cmp::Reverse(*cell_bytes));
    let all: Vec<Temporary> = all.into_iter().map(|(_, temporary)| temporary).collect();
    let total = all.iter().fold(Expr::Int(0), |total, temporary| sum(total, temporary.bytes.clone()));
    let term = match total {
        Expr::Int(bytes) if bytes <= MAX_TEMPORARY_BYTES => None,
        Expr::Int(_) => {
            let subject = format!("{} are allowed", text_of_temporaries(&all, &Names::of(scop)));
            return Err(refused(RefusalKind::TooComplex, scop, subject));
        }
        total => Some(CheckTerm {
            kind: CheckKind::Memory,
            test: Test::Holds(Expr::binary(BinaryOp::Le, total, Expr::Int(MAX_TEMPORARY_BYTES))),
        }),
    };
    Ok((all, term))
}
