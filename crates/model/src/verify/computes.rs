//! What a write makes of what was there before, read off the instructions of its statement.

use crate::delicm::{Code, Operation, Origin, Program, Role, ValueId};
use crate::scop::Access;
use crate::update::Update;
use std::collections::HashMap;

/// The writes of one statement that combine what one of its reads found with something else.
#[derive(Default)]
pub(super) struct Computes {
    /// By the positions of the writes among the accesses: the operation, and the reads that find one of its operands.
    combined: HashMap<usize, (Update, Vec<usize>)>,
}

#[derive(Clone, Copy)]
pub(super) struct Combined {
    /// The access that finds the old content.
    pub read: usize,
    pub update: Update,
}

impl Computes {
    pub(super) fn of(accesses: &[Access], code: &Code, program: &Program) -> Computes {
        let mut combined = HashMap::new();
        for (write, access) in accesses.iter().enumerate() {
            let (Role::Store { value: new, .. } | Role::WriteScalar(Some(new))) = access.role else { continue };
            let Some(Origin::Operation(Operation { operands, update: Some((update, commutes)), .. })) =
                program.origins.get(&new).filter(|_| code.operations.contains(&new))
            else {
                continue;
            };
            let sides = &operands[..if *commutes { 2 } else { 1 }];
            let uses = |value: ValueId| uses(accesses, code, program, value);
            let is_operand = |role: Role| match role {
                Role::Load(old) | Role::ReadScalar(old) => sides.contains(&old) && uses(old) == 1,
                _ => false,
            };
            // Whatever else uses one of the two sees in which order things were done.
            if uses(new) == 1 {
                let reads = (0..accesses.len()).filter(|&read| is_operand(accesses[read].role)).collect();
                combined.insert(write, (*update, reads));
            }
        }
        Computes { combined }
    }

    /// What the write makes of the content that one of these reads finds.
    pub(super) fn combined(&self, write: usize, finds_content: impl Fn(usize) -> bool) -> Option<Combined> {
        let (update, reads) = self.combined.get(&write)?;
        let read = reads.iter().copied().find(|&read| finds_content(read))?;
        Some(Combined { read, update: *update })
    }
    /// The write whose operation is all that the read is for.
    pub(super) fn write_of(&self, read: usize) -> Option<usize> {
        self.combined.iter().find(|(_, (_, reads))| reads.contains(&read)).map(|(write, _)| *write)
    }
}

/// How often a statement uses a value.
fn uses(accesses: &[Access], code: &Code, program: &Program, value: ValueId) -> usize {
    let by_operations = code.operations.iter().flat_map(|&v| program.operands(v)).filter(|v| **v == value).count();
    let written = accesses.iter().filter(|access| access.role == Role::WriteScalar(Some(value))).count();
    by_operations + written
}
