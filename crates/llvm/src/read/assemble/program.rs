//! What statements compute, for who moves values between them.

use super::update::update_by;
use crate::body::{Body, BodyKind};
use crate::facts::{Op, ValueId};
use crate::read::values::Values;
use indexmap::IndexMap;
use model::delicm::{Code, CounterValue, Operation, Origin, Program, Role};
use model::scop::{AccessKind, ArrayId, Statement, StatementId};
use planted::Fault;

/// Says of the accesses what they are for, too.
pub fn program(
    values: &Values,
    statements: &mut IndexMap<StatementId, Statement>,
    bodies: &IndexMap<StatementId, Body>,
    initial: &[(ArrayId, ValueId)],
) -> Program {
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
    for (&id, statement) in statements {
        program.statements.insert(id, code(values, statement, &bodies[&id]));
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

fn code(values: &Values, statement: &mut Statement, body: &Body) -> Code {
    let boxed = statement.boxed;
    let operations: Vec<ValueId> = match &body.kind {
        BodyKind::Instructions(ids) => ids.clone(),
        BodyKind::Boxed { .. } => Vec::new(),
    };
    // Accesses to memory come first, in the order of `body.memory`; then the slots.
    for (index, access) in statement.accesses.iter_mut().enumerate() {
        let scalar = |list: &[crate::body::ScalarAccess]| {
            list.iter().find(|a| a.slot == access.array).map(|a| values.stands_for(a.value))
        };
        access.role = match (body.memory.get(index), access.kind) {
            (Some(_), _) if boxed => Role::Block,
            (Some((instruction, _)), _) => match &values.facts.instruction(*instruction).expect("an access").op {
                Op::Load { .. } => Role::Load(*instruction),
                Op::Store { value, .. } => Role::Store { instruction: *instruction, value: *value },
                Op::Call(_) => Role::Call(*instruction),
                _ => Role::Block,
            },
            (None, AccessKind::Read) => scalar(&body.reads).map_or(Role::Block, Role::ReadScalar),
            (None, _) => Role::WriteScalar(scalar(&body.writes).filter(|_| !boxed)),
        };
    }
    let counters = body.inductions.iter().map(|i| (i.value, CounterValue { base: i.base, offset: i.offset.clone() }));
    let has_effect = |v: &&ValueId| {
        let op = &values.facts.instruction(**v).expect("an instruction").op;
        op.has_effect() && !(planted::is(Fault::ErrnoUnneeded) && matches!(op, Op::Call(_)))
    };
    let effects = operations.iter().filter(has_effect).copied().collect();
    Code { counters: counters.collect(), operations, effects }
}
