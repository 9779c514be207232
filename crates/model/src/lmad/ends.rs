//! From where to where a descriptor goes, for a test at run time.

use super::{Lmad, Side};
use crate::loop_ast::{BinaryOp, Expr};
use crate::polynomial::{Facts, TooLarge, Whole};

/// Every byte is in low .. high, counted from the beginning of the array; both are 0 where there is none.
#[derive(Clone, Debug, PartialEq)]
pub struct Ends {
    pub low: Expr,
    /// The first byte behind it.
    pub high: Expr,
}

impl Lmad {
    /// In the arithmetic of the check; `None` if it speaks of more than parameters.
    pub fn ends(&self, facts: &Facts) -> Option<Ends> {
        let all = self.on_side(Side::May, facts)?;
        let (low, high) = all.range(facts).ok()?;
        let runs: Vec<&Whole> = all.guards.iter().chain(all.dims.iter().map(|dim| &dim.last)).collect();
        let mut condition: Option<Expr> = None;
        for last in runs.into_iter().filter(|last| !facts.proves_not_negative(last)) {
            let one = last.not_negative_expr()?;
            condition = Some(match condition {
                None => one,
                Some(others) => Expr::binary(BinaryOp::And, others, one),
            });
        }
        let end = |value: Whole| -> Option<Expr> {
            let then = value.to_expr()?;
            Some(match &condition {
                Some(condition) if then != Expr::Int(0) => Expr::Select {
                    condition: Box::new(condition.clone()),
                    then: Box::new(then),
                    otherwise: Box::new(Expr::Int(0)),
                },
                _ => then,
            })
        };
        Some(Ends { low: end(low)?, high: end(high)? })
    }

    /// The lowest byte, and the one behind the highest, if there is any.
    ///
    /// Requires: it is closed.
    fn range(&self, facts: &Facts) -> Result<(Whole, Whole), TooLarge> {
        let facts = self.where_any(facts);
        let (mut low, mut high) = (self.base.clone(), self.base.plus(self.bytes)?);
        for dim in &self.dims {
            // Steps of a dimension go one way, whichever that is.
            low = low.add(&facts.min(&dim.span, &Whole::zero())?)?;
            high = high.add(&facts.max(&dim.span, &Whole::zero())?)?;
        }
        Ok((low, high))
    }
}
