use std::cmp::Ordering;

use crate::object::{methods, object};
use crate::{Ctx, DimType, Id, IslError, Result, Space};

object! {
    /// An integer, a rational, an infinity or NaN.
    Val(isl_val), print isl_val_to_str, parse isl_val_read_from_str,
        list isl_val_list isl_val_list_alloc isl_val_list_add isl_val_list_size isl_val_list_get_at
}

methods! { Val;
    fn zero(ctx: &Ctx) -> Val = isl_val_zero;
    fn one(ctx: &Ctx) -> Val = isl_val_one;
    fn nan(ctx: &Ctx) -> Val = isl_val_nan;
    fn infty(ctx: &Ctx) -> Val = isl_val_infty;
    fn int_from_si(ctx: &Ctx, i: i64) -> Val = isl_val_int_from_si;
    fn int_from_ui(ctx: &Ctx, u: u64) -> Val = isl_val_int_from_ui;
    /// The numerator; an error if it does not fit.
    fn get_num_si(&self) -> i64 = isl_val_get_num_si;
    fn get_d(&self) -> f64 = isl_val_get_d;
    fn abs(&self) -> Val = isl_val_abs;
    fn neg(&self) -> Val = isl_val_neg;
    fn floor(&self) -> Val = isl_val_floor;
    fn ceil(&self) -> Val = isl_val_ceil;
    fn trunc(&self) -> Val = isl_val_trunc;
    fn min(&self, other: &Val) -> Val = isl_val_min;
    fn max(&self, other: &Val) -> Val = isl_val_max;
    fn add(&self, other: &Val) -> Val = isl_val_add;
    fn sub(&self, other: &Val) -> Val = isl_val_sub;
    fn mul(&self, other: &Val) -> Val = isl_val_mul;
    fn div(&self, other: &Val) -> Val = isl_val_div;
    /// The remainder in [0, |other|) of two integers.
    fn modulo(&self, other: &Val) -> Val = isl_val_mod,
        require !other.is_zero()?;
    fn gcd(&self, other: &Val) -> Val = isl_val_gcd;
    fn is_zero(&self) -> bool = isl_val_is_zero;
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
    fn ne(&self, other: &Val) -> bool = isl_val_ne;
}

object! {
    /// A tuple of values.
    MultiVal(isl_multi_val), print isl_multi_val_to_str, parse isl_multi_val_read_from_str
}

methods! { MultiVal;
    fn get_space(&self) -> Space = isl_multi_val_get_space;
    fn get_domain_space(&self) -> Space = isl_multi_val_get_domain_space;
    fn list(&self) -> Vec<Val> = isl_multi_val_get_list;
    fn from_val_list(space: &Space, list: &[Val]) -> MultiVal = isl_multi_val_from_val_list;
    fn plain_is_equal(&self, other: &MultiVal) -> bool = isl_multi_val_plain_is_equal;
    fn reset_user(&self) -> MultiVal = isl_multi_val_reset_user;
    fn size(&self) -> usize = isl_multi_val_size;
    fn get_at(&self, pos: usize) -> Val = isl_multi_val_get_at;
    fn flat_range_product(&self, other: &MultiVal) -> MultiVal = isl_multi_val_flat_range_product;
    fn range_product(&self, other: &MultiVal) -> MultiVal = isl_multi_val_range_product;
    fn range_factor_domain(&self) -> MultiVal = isl_multi_val_range_factor_domain;
    fn range_factor_range(&self) -> MultiVal = isl_multi_val_range_factor_range;
    fn align_params(&self, model: &Space) -> MultiVal = isl_multi_val_align_params;
    fn scale_val(&self, v: &Val) -> MultiVal = isl_multi_val_scale_val;
    fn scale_down_val(&self, v: &Val) -> MultiVal = isl_multi_val_scale_down_val;
    fn add(&self, other: &MultiVal) -> MultiVal = isl_multi_val_add;
    fn sub(&self, other: &MultiVal) -> MultiVal = isl_multi_val_sub;
    fn neg(&self) -> MultiVal = isl_multi_val_neg;
    fn min(&self, other: &MultiVal) -> MultiVal = isl_multi_val_min;
    fn max(&self, other: &MultiVal) -> MultiVal = isl_multi_val_max;
    fn zero(space: &Space) -> MultiVal = isl_multi_val_zero;
    fn dim(&self, kind: DimType) -> usize = isl_multi_val_dim;
    fn involves_dims(&self, kind: DimType, first: usize, n: usize) -> bool = isl_multi_val_involves_dims;
    fn insert_dims(&self, kind: DimType, first: usize, n: usize) -> MultiVal = isl_multi_val_insert_dims;
    fn add_dims(&self, kind: DimType, n: usize) -> MultiVal = isl_multi_val_add_dims;
    fn find_dim_by_name(&self, kind: DimType, name: &str) -> Option<usize> = isl_multi_val_find_dim_by_name;
    fn find_dim_by_id(&self, kind: DimType, id: &Id) -> Option<usize> = isl_multi_val_find_dim_by_id;
    fn set_dim_name(&self, kind: DimType, pos: usize, s: &str) -> MultiVal = isl_multi_val_set_dim_name;
    fn get_tuple_name(&self, kind: DimType) -> String = isl_multi_val_get_tuple_name;
    fn get_tuple_id(&self, kind: DimType) -> Id = isl_multi_val_get_tuple_id;
    fn set_tuple_name(&self, kind: DimType, s: &str) -> MultiVal = isl_multi_val_set_tuple_name;
    fn set_tuple_id(&self, kind: DimType, id: &Id) -> MultiVal = isl_multi_val_set_tuple_id;
    fn reset_tuple_id(&self, kind: DimType) -> MultiVal = isl_multi_val_reset_tuple_id;
    fn product(&self, other: &MultiVal) -> MultiVal = isl_multi_val_product;
    fn splice(&self, in_pos: usize, out_pos: usize, other: &MultiVal) -> MultiVal = isl_multi_val_splice;
    fn is_zero(&self) -> bool = isl_multi_val_is_zero;
    fn mod_val(&self, v: &Val) -> MultiVal = isl_multi_val_mod_val,
        require !v.is_zero()?;
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
