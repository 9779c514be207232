//! Which number a value from outside stands for.
//!
//! A machine integer has a signed and an unsigned reading, and a parameter is one of them. Modulo 2^w both are right, so this is no
//! question of truth but of what has to be assumed: `n >= 0` where an `unsigned n` is read as signed, `n < 2^31` where an `int n` is
//! read as unsigned. So the parameter is what the operations on it take it for.

use super::Values;
use crate::facts::{CastOp, IntOp, MinMaxOp, Op, Predicate, ValueId, ValueKind};
use std::collections::BTreeSet;

/// What an operation takes its operands for.
enum Taken {
    Signed,
    Unsigned,
    /// Either; what its result is taken for decides.
    AsItsResult,
    /// Either, but both in the same way.
    Alike,
    /// Nothing can be told.
    AnyWay,
}

impl Values<'_> {
    /// Is the value, with what is computed from it, taken for unsigned somewhere and for signed nowhere?
    ///
    /// Numbers of 64 bits are always signed: the check computes in signed numbers of 64 bits.
    pub fn is_taken_for_unsigned(&self, value: ValueId, bits: u32) -> bool {
        let facts = self.facts;
        if bits >= 64 {
            return false;
        }
        let users = self.users.get_or_init(|| self.users());
        let mut todo = vec![value];
        let mut seen = BTreeSet::from([value]);
        let mut unsigned = false;
        while let Some(value) = todo.pop() {
            for &user in &users[value.index()] {
                let alike: &[ValueId] = match self.takes(user, value) {
                    Taken::Signed => return false,
                    Taken::Unsigned => {
                        unsigned = true;
                        &[]
                    }
                    Taken::AsItsResult => &[user],
                    Taken::Alike => &facts.instruction(user).expect("an instruction").operands,
                    Taken::AnyWay => &[],
                };
                for &other in alike {
                    let other = self.stands_for(other);
                    let is_constant = matches!(facts.value(other).kind, ValueKind::ConstantInt(_));
                    if !is_constant && facts.value(other).ty == facts.value(value).ty && seen.insert(other) {
                        todo.push(other);
                    }
                }
            }
        }
        unsigned
    }

    /// By one operand of one instruction, anywhere in the function.
    pub fn is_used_once(&self, value: ValueId) -> bool {
        self.users.get_or_init(|| self.users())[self.stands_for(value).index()].len() == 1
    }

    /// By value: the instructions that use it, or one that is the same.
    fn users(&self) -> Vec<Vec<ValueId>> {
        let mut users = vec![Vec::new(); self.facts.values.len()];
        for &user in self.facts.blocks.iter().flat_map(|b| &b.instructions) {
            for &operand in &self.facts.instruction(user).expect("an instruction").operands {
                users[self.stands_for(operand).index()].push(user);
            }
        }
        users
    }

    fn takes(&self, user: ValueId, value: ValueId) -> Taken {
        let instruction = self.facts.instruction(user).expect("an instruction");
        match &instruction.op {
            Op::ICmp(Predicate::Slt | Predicate::Sle | Predicate::Sgt | Predicate::Sge) => Taken::Signed,
            Op::ICmp(Predicate::Ult | Predicate::Ule | Predicate::Ugt | Predicate::Uge) => Taken::Unsigned,
            Op::ICmp(Predicate::Eq | Predicate::Ne) => Taken::Alike,
            Op::Cast(CastOp::SExt) => Taken::Signed,
            // A promise that the sign does not matter says that the program might have taken it for signed.
            Op::Cast(CastOp::ZExt) if !instruction.flags.nneg => Taken::Unsigned,
            Op::Int(IntOp::SDiv | IntOp::SRem | IntOp::AShr) => Taken::Signed,
            Op::Int(IntOp::UDiv | IntOp::URem | IntOp::LShr) => Taken::Unsigned,
            Op::Int(_) if instruction.flags.nsw && !instruction.flags.nuw => Taken::Signed,
            Op::Int(_) | Op::Phi { .. } | Op::Freeze => Taken::AsItsResult,
            Op::Select if self.stands_for(instruction.operands[0]) != value => Taken::AsItsResult,
            Op::MinMax(MinMaxOp::SMin | MinMaxOp::SMax) => Taken::Signed,
            Op::MinMax(MinMaxOp::UMin | MinMaxOp::UMax) => Taken::Unsigned,
            // Indices are sign-extended.
            Op::Gep { offset: Some(offset), .. } if offset.terms.iter().any(|t| self.stands_for(t.0) == value) => {
                Taken::Signed
            }
            _ => Taken::AnyWay,
        }
    }
}
