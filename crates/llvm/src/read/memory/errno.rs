//! errno: memory that mathematical calls may write though nobody mentions it.
//!
//! The last call that fails decides what it says, so that every such call may write an array that stands for it, and all of them stay in
//! order; unless all could say one and the same only. Where the program asks for errno by its name, that array is the one behind the
//! address it got. Otherwise it is an array without a base: the check asks where it is, if there is an array that LLVM cannot tell from it.

use super::{AccessSize, AccessesByBase, MemoryAccess};
use crate::facts::{FunctionFacts, MathError, Op, ValueId};
use crate::read::Stop;
use crate::read::statement::{Cut, role_of};
use crate::read::values::Values;
use indexmap::IndexMap;
use isl::{Map, Set, Val};
use model::delinearize::Offset;
use model::scop::{Access, AccessKind, Array, ArrayId, ArrayKind, Recovered, StatementId};
use model::source::Line;
use planted::Fault;

/// A call that may write errno.
struct ErrnoCall {
    draft: usize,
    call: ValueId,
    error: MathError,
    line: Line,
}

/// Of errno, an `int`.
const ERRNO_BYTES: u64 = 4;
/// The function of the libraries of Linux that says where it is.
const ERRNO_LOCATION: &str = "__errno_location";

/// The array that stands for errno.
pub struct Errno {
    pub array: ArrayId,
    /// By draft.
    pub writes: Vec<(usize, Access)>,
}

/// The calls of the region that may write errno.
fn errno_calls(facts: &FunctionFacts, cut: &Cut) -> Vec<ErrnoCall> {
    let mut calls = Vec::new();
    for (draft, from) in cut.drafts.iter().enumerate() {
        for call in from.all_instructions(facts) {
            let instruction = facts.instruction(call).expect("an instruction");
            let Op::Call(callee) = &instruction.op else { continue };
            if callee.math_errno {
                let line = instruction.line.or(from.scope.line);
                calls.push(ErrnoCall { draft, call, error: callee.math_error, line });
            }
        }
    }
    calls
}

/// Where a program uses errno by its name, it has asked for its address.
fn is_errno(facts: &FunctionFacts, base: ValueId) -> bool {
    matches!(facts.instruction(base).map(|i| &i.op),
        Some(Op::Call(call)) if call.callee == ERRNO_LOCATION && call.no_memory)
}

/// Calls that may write errno do so in the array that is errno, if there is one.
pub fn add_calls_to_errno(values: &Values, cut: &Cut, all: &mut AccessesByBase) -> Result<(), Stop> {
    let Some(errno) = all.keys().copied().find(|&base| is_errno(values.facts, base)) else { return Ok(()) };
    for ErrnoCall { draft, call, line, .. } in errno_calls(values.facts, cut) {
        let instances = Set::universe(&cut.drafts[draft].scope.domain.get_space()?)?;
        let start = instances.pw_aff_on_domain_val(&Val::int_from_si(values.ctx, 0)?)?;
        all[&errno].push(MemoryAccess {
            draft,
            instruction: call,
            kind: AccessKind::MayWrite,
            row: None,
            offset: Some(Offset::Affine(start)),
            may_wrap: false,
            framed: None,
            extent: AccessSize::Bytes(ERRNO_BYTES),
            turns: None,
            line,
        });
    }
    Ok(())
}

impl Errno {
    /// An array for errno, where calls may write it that the program does not use by its name.
    pub fn add(
        values: &Values,
        cut: &Cut,
        accesses: &AccessesByBase,
        domains: &IndexMap<StatementId, Set>,
        arrays: &mut IndexMap<ArrayId, Array>,
    ) -> Result<Option<Errno>, Stop> {
        let calls = errno_calls(values.facts, cut);
        if calls.is_empty()
            || planted::is(Fault::ErrnoForgotten)
            || accesses.keys().any(|&base| is_errno(values.facts, base))
        {
            return Ok(None);
        }
        let error = calls[0].error;
        let one_value = error != MathError::Either && calls.iter().all(|call| call.error == error)
            || planted::is(Fault::ErrnoOfOneValue);
        let id = ArrayId(arrays.len() as u32);
        arrays.insert(
            id,
            Array {
                name: "errno".into(),
                kind: ArrayKind::Errno { one_value },
                element: "i32".into(),
                cell_bytes: ERRNO_BYTES,
                rows: None,
                inner_sizes: Vec::new(),
                recovered: Recovered::None,
                condition: None,
                may_wrap: None,
                live_out: true,
            },
        );
        let cell = Set::read_from_str(values.ctx, &format!("{{ {id}[0] }}"))?;
        let mut writes = Vec::new();
        for ErrnoCall { draft, call, line, .. } in calls {
            let domain = &domains[&StatementId(draft as u32)];
            let instances = Set::universe(&domain.get_space()?)?;
            let start = instances.pw_aff_on_domain_val(&Val::int_from_si(values.ctx, 0)?)?;
            let access = Access {
                kind: AccessKind::MayWrite,
                role: role_of(values.facts, &cut.drafts[draft], call),
                array: id,
                relation: Map::from_domain_and_range(domain, &cell)?,
                row: None,
                offset: Some(Offset::Affine(start)),
                unshaped: None,
                bytes: ERRNO_BYTES,
                exact: true,
                update: None,
                line,
            };
            writes.push((draft, access));
        }
        Ok(Some(Errno { array: id, writes }))
    }
}
