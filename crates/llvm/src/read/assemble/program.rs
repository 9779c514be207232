//! What statements compute, for who moves values between them.

use super::update::update_by;
use crate::body::{Body, BodyKind};
use crate::facts::{Op, ValueId};
use crate::read::values::Values;
use indexmap::IndexMap;
use model::delicm::{Code, CounterValue, Operation, Origin, Program};
use model::scop::{ArrayId, StatementId};
use planted::Fault;

pub fn program(values: &Values, bodies: &IndexMap<StatementId, Body>, initial: &[(ArrayId, ValueId)]) -> Program {
    let mut program = Program { initial: initial.iter().map(|(slot, _)| *slot).collect(), ..Program::default() };
    for &block in &values.region.blocks {
        for &value in &values.facts.block(block).instructions {
            if !values.is_outside(value) {
                program.origins.insert(value, origin(values, value));
            }
            let op = values.facts.instruction(value).map(|i| &i.op);
            if let Some(Op::Load { alignment, .. } | Op::Store { alignment, .. }) = op {
                program.alignments.insert(value, *alignment);
            }
        }
    }
    for (&id, body) in bodies {
        program.statements.insert(id, code(values, body));
    }
    program
}

fn origin(values: &Values, value: ValueId) -> Origin {
    let instruction = values.facts.instruction(value).expect("an instruction");
    let operands = instruction.operands.iter().map(|&v| values.stands_for(v)).collect();
    match &instruction.op {
        Op::Phi { .. } => Origin::Merge,
        Op::Load { .. } => Origin::Load { operands },
        op => {
            let silent = !instruction.reads_memory && !instruction.writes_memory && !instruction.side_effects;
            let repeatable = silent
                && match op {
                    // It ran before on the same operands, so it may run again, even where it is not safe in general.
                    Op::Int(_) | Op::Float(_) => true,
                    Op::Call(call) => {
                        let harmless = call.no_memory && call.nounwind && call.will_return && !call.has_operand_bundles;
                        harmless && call.any_thread && !call.convergent && !call.math_errno
                    }
                    _ => instruction.pure_and_speculatable,
                };
            Origin::Operation(Operation { operands, repeatable, update: update_by(values.facts, value) })
        }
    }
}

fn code(values: &Values, body: &Body) -> Code {
    let operations: Vec<ValueId> = match &body.kind {
        BodyKind::Instructions(ids) => ids.clone(),
        BodyKind::Boxed { .. } => Vec::new(),
    };
    let counters = body.inductions.iter().map(|i| (i.value, CounterValue { base: i.base, offset: i.offset.clone() }));
    let has_effect = |v: &&ValueId| {
        let op = &values.facts.instruction(**v).expect("an instruction").op;
        op.has_effect() && !(planted::is(Fault::ErrnoUnneeded) && matches!(op, Op::Call(_)))
    };
    let effects = operations.iter().filter(has_effect).copied().collect();
    Code { counters: counters.collect(), operations, effects }
}
