//! Conditions that must hold in all instances where isl cannot say in which they do: as polynomials that are never negative.

use super::modular::Function;
use super::{Arithmetic, MAX_DEPTH, Read, Scope, not_affine};
use crate::facts::{IntOp, Op, Predicate, ValueId, ValueKind};
use model::assume::Bound;
use model::polynomial::PiecewisePolynomial;

/// More of them for one condition would make a long check.
const MAX_BOUNDS: usize = 8;

/// What polynomials have to be, least and greatest, for others to be what they seem.
pub type Required = Vec<(PiecewisePolynomial, (i128, i128))>;

impl Arithmetic<'_> {
    /// Polynomials such that the condition has this truth in all instances of the scope if none of them is negative in any.
    ///
    /// Whoever tests them computes each in 64 bits, or fails. Some of them say that a number on the way is in the range of its type.
    pub fn bounds_of(&mut self, condition: ValueId, truth: bool, scope: &Scope, trusted: bool) -> Read<Vec<Bound>> {
        let read = |this: &mut Self| {
            let mut bounds = Vec::new();
            this.collect_bounds(condition, truth, scope, trusted, 0, &mut bounds)?;
            for (function, (least, greatest)) in this.required.take().unwrap_or_default() {
                // What does not fit is not computed either.
                let [least, greatest] = [least.max(i64::MIN.into()) as i64, greatest.min(i64::MAX.into()) as i64];
                let least = PiecewisePolynomial::constant(this, scope, least)?;
                let greatest = PiecewisePolynomial::constant(this, scope, greatest)?;
                this.add_bound(&function.sub(&least)?, scope, &mut bounds)?;
                this.add_bound(&greatest.sub(&function)?, scope, &mut bounds)?;
            }
            if bounds.len() > MAX_BOUNDS { not_affine("a long condition") } else { Ok(bounds) }
        };
        self.with(|this| &mut this.required, Some(Vec::new()), |this| this.or_forget(read))
    }

    fn collect_bounds(
        &mut self,
        condition: ValueId,
        truth: bool,
        scope: &Scope,
        trusted: bool,
        depth: u32,
        bounds: &mut Vec<Bound>,
    ) -> Read<()> {
        let facts = self.values.facts;
        let unreadable = || not_affine(facts.display_name(condition));
        let Some(instruction) = facts.instruction(condition).filter(|_| depth <= MAX_DEPTH) else {
            return unreadable();
        };
        let is = |v: ValueId, bit: i64| matches!(facts.value(v).kind, ValueKind::ConstantInt(c) if c & 1 == bit);
        let both = match (&instruction.op, &instruction.operands[..], truth) {
            (Op::ICmp(predicate), &[left, right], _) => {
                return self.bounds_of_comparison((*predicate, truth), (left, right), scope, trusted, bounds);
            }
            (Op::Int(IntOp::And), &[a, b], true) | (Op::Int(IntOp::Or), &[a, b], false) => [a, b],
            // The second side is looked at in all instances, since the first never decides.
            (Op::Select, &[a, b, no], true) if is(no, 0) => [a, b],
            (Op::Select, &[a, yes, b], false) if is(yes, 1) => [a, b],
            _ => return unreadable(),
        };
        for part in both {
            self.collect_bounds(part, truth, scope, trusted, depth + 1, bounds)?;
        }
        Ok(())
    }

    fn bounds_of_comparison(
        &mut self,
        (predicate, truth): (Predicate, bool),
        (left, right): (ValueId, ValueId),
        scope: &Scope,
        trusted: bool,
        bounds: &mut Vec<Bound>,
    ) -> Read<()> {
        use Predicate::*;
        let a = self.polynomial(left, scope, trusted, 0)?.unframed()?;
        let b = self.polynomial(right, scope, trusted, 0)?.unframed()?;
        // `a ⋈ b` as `less < more` or `less <= more`.
        let (less, more, strict, signed) = match (predicate, truth) {
            (Slt, true) | (Sge, false) => (a, b, true, true),
            (Sle, true) | (Sgt, false) => (a, b, false, true),
            (Sgt, true) | (Sle, false) => (b, a, true, true),
            (Sge, true) | (Slt, false) => (b, a, false, true),
            (Ult, true) | (Uge, false) => (a, b, true, false),
            (Ule, true) | (Ugt, false) => (a, b, false, false),
            (Ugt, true) | (Ule, false) => (b, a, true, false),
            (Uge, true) | (Ult, false) => (b, a, false, false),
            (Eq, true) | (Ne, false) => {
                // Numbers that are equal are equal modulo anything.
                let difference = a.function.sub(&b.function)?;
                self.add_bound(&difference, scope, bounds)?;
                return self.add_bound(&difference.scale(-1)?, scope, bounds);
            }
            (Ne, true) | (Eq, false) => return not_affine("that two products differ"),
        };
        let more = PiecewisePolynomial::in_range(self, more, scope, signed)?;
        let less = if signed {
            PiecewisePolynomial::in_range(self, less, scope, true)?
        } else {
            // Of the numbers that are the value modulo 2^w, the one between 0 and a number below 2^w is its unsigned reading.
            if !less.unsigned {
                self.add_bound(&less.function, scope, bounds)?;
            }
            less
        };
        let one = PiecewisePolynomial::constant(self, scope, strict.into())?;
        self.add_bound(&more.function.sub(&less.function)?.sub(&one)?, scope, bounds)
    }

    /// The function must not be negative in the scope.
    fn add_bound(&self, function: &PiecewisePolynomial, scope: &Scope, bounds: &mut Vec<Bound>) -> Read<()> {
        for (piece, polynomial) in &function.pieces {
            if polynomial.as_constant().is_some_and(|constant| constant >= 0) {
                continue;
            }
            let domain = piece.intersect(&scope.domain)?.coalesce()?;
            let counters =
                scope.loops.iter().map(|l| self.values.facts.loops[l.index()].counter_name.clone()).collect();
            bounds.push(Bound { domain, polynomial: polynomial.clone(), counters });
        }
        Ok(())
    }
}
