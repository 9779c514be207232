//! φs that choose between equals: a compiler computes `A + i*n` in both arms of a condition and merges the two.

use super::Values;
use crate::facts::{LoopId, Op, Scev, ValueId};
use planted::Fault;

/// Expressions are compared down to this depth.
const MAX_DEPTH: u32 = 6;

impl Values<'_> {
    /// What the value is, if it is a φ to which the same expression is brought on all edges.
    ///
    /// In every instance of its user the φ is one of these, computed before in this iteration with the same flags. So whatever
    /// follows from the value not being poison follows for the expression. What is returned was computed on one of the edges
    /// only: its user computes it again, from counters and from what is known before the region.
    pub fn stands_for(&self, value: ValueId) -> ValueId {
        self.twins.get(&value).copied().unwrap_or(value)
    }

    pub(super) fn find_twins(&mut self) {
        let facts = self.facts;
        for &block in &self.region.blocks {
            let innermost = facts.block(block).innermost_loop;
            if innermost.is_some_and(|l| facts.loops[l.index()].header == block) {
                continue;
            }
            for &phi in &facts.block(block).instructions {
                let Some(instruction) = facts.instruction(phi).filter(|i| matches!(i.op, Op::Phi { .. })) else {
                    break;
                };
                let [first, others @ ..] = &instruction.operands[..] else { continue };
                let is_here = |v: ValueId| {
                    let home = facts.instruction(v).map(|i| i.block);
                    home.is_some_and(|b| facts.block(b).innermost_loop == innermost) && !self.is_outside(v)
                };
                if !self.is_outside(phi)
                    && !others.is_empty()
                    && is_here(*first)
                    && others.iter().all(|&other| self.is_same(*first, other, 0))
                {
                    self.twins.insert(phi, *first);
                }
            }
        }
    }

    /// The same operation on the same operands, from and to the same types, with the same promises. What has no name of its own here
    /// (comparisons, calls, floating-point arithmetic, …) is equal to nothing but itself.
    fn is_same(&self, a: ValueId, b: ValueId, depth: u32) -> bool {
        if a == b {
            return depth == 0 || self.is_known_everywhere(a);
        }
        let facts = self.facts;
        let (Some(x), Some(y)) = (facts.instruction(a), facts.instruction(b)) else { return false };
        let same_loop = facts.block(x.block).innermost_loop == facts.block(y.block).innermost_loop;
        let pure = x.pure_and_speculatable && y.pure_and_speculatable;
        if depth > MAX_DEPTH || !same_loop || !pure || facts.value(a).type_name != facts.value(b).type_name {
            return false;
        }
        let same_operation = match (&x.op, &y.op) {
            (Op::Int(m), Op::Int(n)) => m == n,
            (Op::Cast(m), Op::Cast(n)) => m == n || planted::is(Fault::CastsTakenForEqual),
            (
                Op::Gep { offset: Some(m), inbounds: i, nusw: s, nuw: u, .. },
                Op::Gep { offset: Some(n), inbounds: j, nusw: t, nuw: v, .. },
            ) => {
                let scales = |o: &crate::facts::GepOffset| o.terms.iter().map(|(_, scale)| *scale).collect::<Vec<_>>();
                m.constant == n.constant && scales(m) == scales(n) && (i, s, u) == (j, t, v)
            }
            _ => false,
        };
        same_operation
            && x.flags == y.flags
            && x.operands.len() == y.operands.len()
            && x.operands.iter().zip(&y.operands).all(|(&m, &n)| self.is_same(m, n, depth + 1))
    }

    /// Something that every statement can compute: no instruction of the region but a count of a loop around it.
    fn is_known_everywhere(&self, value: ValueId) -> bool {
        let Some(instruction) = self.facts.instruction(value).filter(|_| !self.is_outside(value)) else { return true };
        let innermost = self.facts.block(instruction.block).innermost_loop;
        let counts =
            |l: LoopId| matches!(self.oracle.scev(value, Some(l)), Scev::AddRec { in_loop, .. } if in_loop == l);
        self.facts.is_phi(value)
            && innermost.is_some_and(|l| self.facts.loops[l.index()].header == instruction.block && counts(l))
    }
}
