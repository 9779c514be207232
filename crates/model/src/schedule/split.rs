//! One loop in parts, some of which can use vectors though the whole cannot: what that gains in one iteration, and from how many on
//! it pays for the check.
//!
//! The estimate of whole nests takes chains and memory for additive, which is near enough where there is much to gain. In one loop
//! the chain runs beside all else that an iteration does, so that splitting may take longer; and there is nothing to gain but that.

use super::cost::{LoopKey, Moving, Nest, Reference, References, uses_vectors};
use super::{Machine, ScheduleOptions};
use crate::scop::{ArrayId, Scop};
use isl::{DimType, IslError};
use std::collections::BTreeSet;

/// What an iteration takes if nothing waits for anything: a statement, and each reference, at least and rather.
const STATEMENT: f64 = 0.5;
const LEAST_TOUCH: f64 = 1.0 / 3.0;
const TOUCH: f64 = 0.5;
/// Cycles until the next iteration can go on with a value.
const CHAIN: f64 = 4.0;
/// A loop of its own: its counter, its vectors' remainder.
const ONE_MORE_LOOP: f64 = 0.25;
/// Cycles of a check: a branch that was foretold wrongly, and what is there for each pair of arrays and each assumption.
const CHECK: f64 = 30.0;
const PAIR: f64 = 5.0;
/// Entering a loop, and what is left behind its vectors.
const ENTRY: f64 = 15.0;
const ASSUMPTION: f64 = 3.0;

/// A single loop of fewer instances is not split.
pub(super) const MIN_SPLIT: f64 = 256.0;

/// No statement is in more than one loop.
pub(super) fn is_one_loop(scop: &Scop) -> Result<bool, IslError> {
    let mut deepest = 0;
    for statement in scop.statements.values() {
        deepest = deepest.max(statement.domain.dim(DimType::Set)?);
    }
    Ok(deepest == 1)
}

/// How long one iteration of each of the loops takes, all together.
fn cycles_of_iteration(nest: &[Nest], references: &References, machine: &Machine, touch: f64) -> f64 {
    let of_loop = |part: &Nest| match part {
        Nest::Statement(_) => 0.0,
        Nest::Loop { key, lanes, body, .. } => {
            let statements: Vec<&Moving> = body.iter().filter_map(|part| statement(part, references)).collect();
            let touched = touched(&statements, *key);
            let cycles = STATEMENT * statements.len() as f64 + touch * touched.len() as f64;
            if uses_vectors(part, references) {
                let widest = touched.iter().map(|r| r.bytes).max().unwrap_or(8).max(1);
                cycles / (f64::from(machine.vector_bits) / 8.0 / widest as f64).max(1.0) + ONE_MORE_LOOP
            } else {
                cycles.max(if lanes.wait() { CHAIN } else { 0.0 })
            }
        }
    };
    nest.iter().map(of_loop).sum()
}

fn statement<'r>(part: &Nest, references: &'r References) -> Option<&'r Moving> {
    match part {
        Nest::Statement(statement) => Some(&references[statement]),
        Nest::Loop { .. } => None,
    }
}

/// The references that the loop moves; those that may be one count once.
fn touched<'r>(statements: &[&'r Moving], key: LoopKey) -> Vec<&'r Reference> {
    let mut out: Vec<&Reference> = Vec::new();
    for reference in statements.iter().flat_map(|moving| &moving.references) {
        let is_same = |other: &&Reference| {
            other.array == reference.array && other.write == reference.write && other.strides == reference.strides
        };
        if reference.strides.get(key).is_some() && !out.iter().any(is_same) {
            out.push(reference);
        }
    }
    out
}

/// So many iterations of the second nest, in place of the first, save enough to pay for the check; `None`: it saves too little.
pub(super) fn paying_iterations(
    scop: &Scop,
    nests: [&(Vec<Nest>, References); 2],
    machine: &Machine,
    options: &ScheduleOptions,
) -> Option<i64> {
    let saves = |touch: f64| {
        let [whole, split] = nests.map(|(nest, references)| cycles_of_iteration(nest, references, machine, touch));
        (split < options.worthwhile * whole).then_some(whole - split)
    };
    let accesses = scop.statements.values().flat_map(|s| &s.accesses);
    let written: BTreeSet<ArrayId> = accesses.filter(|access| access.is_write()).map(|access| access.array).collect();
    let pairs = scop.may_alias.iter().filter(|(a, b)| written.contains(a) || written.contains(b)).count();
    let price = CHECK
        + ENTRY * nests[1].0.len() as f64
        + PAIR * pairs as f64
        + ASSUMPTION * scop.assumptions.iter().count() as f64;
    saves(LEAST_TOUCH).and_then(|_| saves(TOUCH)).map(|saved| (price / saved).ceil() as i64)
}
