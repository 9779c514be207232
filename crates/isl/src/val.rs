use std::cmp::Ordering;

use crate::object::{methods, object};
use crate::{Ctx, IslError, Result, Space};

object! {
    /// An integer, a rational, an infinity or NaN.
    Val(isl_val), print isl_val_to_str, parse isl_val_read_from_str,
        list isl_val_list isl_val_list_alloc isl_val_list_add isl_val_list_size isl_val_list_get_at
}

methods! { Val;
    fn nan(ctx: &Ctx) -> Val = isl_val_nan;
    fn int_from_si(ctx: &Ctx, i: i64) -> Val = isl_val_int_from_si;
    fn int_from_ui(ctx: &Ctx, u: u64) -> Val = isl_val_int_from_ui;
    /// The numerator; an error if it does not fit.
    fn get_num_si(&self) -> i64 = isl_val_get_num_si;
    fn get_d(&self) -> f64 = isl_val_get_d;
    fn neg(&self) -> Val = isl_val_neg;
    fn mul(&self, other: &Val) -> Val = isl_val_mul;
    fn is_one(&self) -> bool = isl_val_is_one;
    fn is_pos(&self) -> bool = isl_val_is_pos;
    fn is_neg(&self) -> bool = isl_val_is_neg;
    fn is_int(&self) -> bool = isl_val_is_int;
    fn is_nan(&self) -> bool = isl_val_is_nan;
    fn is_infty(&self) -> bool = isl_val_is_infty;
    fn lt(&self, other: &Val) -> bool = isl_val_lt;
    fn gt(&self, other: &Val) -> bool = isl_val_gt;
    /// `false` if one of them is NaN.
    fn eq(&self, other: &Val) -> bool = isl_val_eq;
}

object! {
    /// A tuple of values.
    MultiVal(isl_multi_val), print isl_multi_val_to_str, parse isl_multi_val_read_from_str
}

methods! { MultiVal;
    fn list(&self) -> Vec<Val> = isl_multi_val_get_list;
    fn from_val_list(space: &Space, list: &[Val]) -> MultiVal = isl_multi_val_from_val_list;
}

impl Val {
    /// Parses an integer, a rational, `infty`, `-infty` or `NaN`.
    pub fn from_str(ctx: &Ctx, text: &str) -> Result<Val> {
        Val::read_from_str(ctx, text)
    }

    /// The value as a machine integer; `None` if it is none or does not fit.
    pub fn to_i64(&self) -> Option<i64> {
        if self.is_int().ok()? { self.get_num_si().ok() } else { None }
    }

    /// The value as a machine integer; `None` if it is none or does not fit.
    pub fn to_i128(&self) -> Option<i128> {
        if let Some(value) = self.to_i64() {
            return Some(value.into());
        }
        // isl prints rationals, infinities and NaN in ways that are no integer literals.
        self.to_string().parse().ok()
    }

    /// The order of the two values; `None` if one of them is NaN.
    pub fn partial_cmp(&self, other: &Val) -> Result<Option<Ordering>> {
        Ok(if self.lt(other)? {
            Some(Ordering::Less)
        } else if self.gt(other)? {
            Some(Ordering::Greater)
        } else if self.eq(other)? {
            Some(Ordering::Equal)
        } else {
            None
        })
    }

    /// The order of the two values; NaN is an error.
    #[allow(clippy::should_implement_trait)]
    pub fn cmp(&self, other: &Val) -> Result<Ordering> {
        self.partial_cmp(other)?.ok_or_else(|| IslError::invalid("Val::cmp", "NaN has no order"))
    }
}
