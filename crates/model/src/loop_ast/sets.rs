//! Loops, guards and expressions as isl's sets and functions of the counters around them.
//!
//! The same meaning as in `run.rs`, for all values of parameters and counters at once. Where an operator promises something (exact, not
//! negative), the promise is proved for every point at which the expression is evaluated.

use super::{AstError, BinaryOp, Counter, Expr, For};
use isl::{Aff, DimType, IslError, LocalSpace, PwAff, Set, Val};

/// The iterations of the loops around a place in the tree in which control gets there: a set of values of their counters, outermost
/// first.
#[derive(Clone)]
pub(super) struct Around {
    pub(super) counters: Vec<Counter>,
    pub(super) points: Set,
}

impl Around {
    /// Around everything.
    pub(super) fn nothing(context: &Set) -> Result<Around, IslError> {
        Ok(Around { counters: Vec::new(), points: context.from_params()? })
    }

    pub(super) fn within(&self, condition: &Set) -> Result<Around, IslError> {
        Ok(Around { counters: self.counters.clone(), points: self.points.intersect(condition)? })
    }

    pub(super) fn outside(&self, condition: &Set) -> Result<Around, IslError> {
        Ok(Around { counters: self.counters.clone(), points: self.points.subtract(condition)? })
    }

    /// Around the body of a loop.
    pub(super) fn inside(&self, f: &For) -> Result<Around, AstError> {
        let mut counters = self.counters.clone();
        counters.push(f.counter);
        let around = Around { points: self.points.insert_dims(DimType::Set, self.counters.len(), 1)?, counters };
        let from = around.truth_of(BinaryOp::Le, &f.first, &Expr::Counter(f.counter))?;
        let to = around.truth_of(BinaryOp::Le, &Expr::Counter(f.counter), &f.last)?;
        let mut inside = around.within(&from)?.within(&to)?;
        if f.step > 1 {
            let gone = around.counter(self.counters.len())?.sub(&around.value(&f.first)?)?;
            let between = gone.mod_val(&Val::int_from_si(gone.ctx(), f.step)?)?;
            inside = inside.within(&between.eq_set(&around.constant(0)?)?)?;
        }
        Ok(inside)
    }

    pub(super) fn counter(&self, position: usize) -> Result<PwAff, IslError> {
        self.variable(DimType::Set, position)
    }

    fn variable(&self, kind: DimType, position: usize) -> Result<PwAff, IslError> {
        PwAff::from_aff(&Aff::var_on_domain(&self.local_space()?, kind, position)?)
    }

    fn constant(&self, value: i128) -> Result<PwAff, IslError> {
        let value = Val::from_str(self.points.ctx(), &value.to_string())?;
        PwAff::from_aff(&Aff::val_on_domain(&self.local_space()?, &value)?)
    }

    fn local_space(&self) -> Result<LocalSpace, IslError> {
        LocalSpace::from_space(&self.points.get_space()?)
    }

    /// The value of an expression at each of the points.
    pub(super) fn value(&self, expr: &Expr) -> Result<PwAff, AstError> {
        use BinaryOp::*;
        let not_affine = || AstError::NotUnderstood { what: format!("{expr:?} as an affine function") };
        Ok(match expr {
            Expr::Int(v) => self.constant(*v)?,
            Expr::Param(p) => {
                let position = self.points.find_dim_by_name(DimType::Param, &p.to_string())?;
                self.variable(DimType::Param, position.ok_or_else(not_affine)?)?
            }
            Expr::Counter(c) => {
                let position = self.counters.iter().position(|other| other == c);
                self.counter(position.ok_or_else(not_affine)?)?
            }
            Expr::Neg(e) => self.value(e)?.neg()?,
            Expr::Select { condition, then, otherwise } => {
                let condition = self.truth(condition)?;
                let then = self.within(&condition)?.value(then)?.intersect_domain(&condition)?;
                let otherwise = self.outside(&condition)?.value(otherwise)?.subtract_domain(&condition)?;
                then.union_add(&otherwise)?
            }
            Expr::Binary(op, left, right) => {
                let a = self.value(left)?;
                match op {
                    Add => a.add(&self.value(right)?)?,
                    Sub => a.sub(&self.value(right)?)?,
                    Mul => a.mul(&self.value(right)?)?,
                    Min => a.min(&self.value(right)?)?,
                    Max => a.max(&self.value(right)?)?,
                    FloorDiv | ExactDiv | NonNegDiv | NonNegRem | ZeroTestRem => {
                        let divisor = right.as_int().filter(|d| *d > 0).ok_or_else(not_affine)?;
                        let divisor = Val::from_str(a.ctx(), &divisor.to_string())?;
                        let rest = || a.mod_val(&divisor);
                        match op {
                            ExactDiv => self.promised(&rest()?.eq_set(&self.constant(0)?)?, expr)?,
                            NonNegDiv | NonNegRem => self.promised(&a.nonneg_set()?, expr)?,
                            _ => {}
                        }
                        match op {
                            NonNegRem | ZeroTestRem => rest()?,
                            _ => a.scale_down_val(&divisor)?.floor()?,
                        }
                    }
                    Power | Eq | Lt | Le | Gt | Ge | And | Or => return Err(not_affine()),
                }
            }
        })
    }

    /// The points at which a condition holds, and maybe others that are none of ours.
    pub(super) fn truth(&self, expr: &Expr) -> Result<Set, AstError> {
        match expr {
            Expr::Int(v) => {
                let space = self.points.get_space()?;
                Ok(if *v != 0 { Set::universe(&space)? } else { Set::empty(&space)? })
            }
            Expr::Binary(op, left, right) => self.truth_of(*op, left, right),
            _ => Err(AstError::NotUnderstood { what: format!("{expr:?} as a condition") }),
        }
    }

    fn truth_of(&self, op: BinaryOp, left: &Expr, right: &Expr) -> Result<Set, AstError> {
        use BinaryOp::*;
        let both = |x: Set, y: Set| x.intersect(&y).map_err(AstError::from);
        // One conjunction, where a minimum as a function is a case for each operand.
        match (op, left, right) {
            (Le | Lt, Expr::Binary(Max, x, y), z) => return both(self.truth_of(op, x, z)?, self.truth_of(op, y, z)?),
            (Le | Lt, z, Expr::Binary(Min, x, y)) => return both(self.truth_of(op, z, x)?, self.truth_of(op, z, y)?),
            (Ge, ..) => return self.truth_of(Le, right, left),
            (Gt, ..) => return self.truth_of(Lt, right, left),
            _ => {}
        }
        // What stands behind an operand that decides is not evaluated.
        if matches!(op, And | Or) {
            let first = self.truth(left)?;
            return Ok(match op {
                And => first.intersect(&self.within(&first)?.truth(right)?)?,
                _ => first.union(&self.outside(&first)?.truth(right)?)?,
            });
        }
        let (a, b) = (self.value(left)?, self.value(right)?);
        match op {
            Eq => Ok(a.eq_set(&b)?),
            Lt => Ok(a.lt_set(&b)?),
            Le => Ok(a.le_set(&b)?),
            _ => Err(AstError::NotUnderstood { what: format!("{op:?} as a condition") }),
        }
    }

    /// What an operator asks of its operands holds at every point.
    fn promised(&self, holds: &Set, expr: &Expr) -> Result<(), AstError> {
        if self.points.is_subset(holds)? {
            return Ok(());
        }
        Err(AstError::Wrong { what: format!("{expr:?} has no value for some iterations") })
    }
}
