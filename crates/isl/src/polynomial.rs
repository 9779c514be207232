use std::fmt;

use crate::object::{methods, object};
use crate::{Aff, DimType, Point, PwAff, Result, Set, Space, Val, callback, raw};

object! {
    /// A quasi-polynomial: a polynomial in parameters, dimensions and integer divisions, with rational coefficients.
    QPolynomial(isl_qpolynomial), print isl_qpolynomial_to_str,
        list isl_qpolynomial_list isl_qpolynomial_list_alloc isl_qpolynomial_list_add isl_qpolynomial_list_size isl_qpolynomial_list_get_at
}

methods! { QPolynomial;
    fn get_domain_space(&self) -> Space = isl_qpolynomial_get_domain_space;
    fn get_space(&self) -> Space = isl_qpolynomial_get_space;
    fn dim(&self, kind: DimType) -> usize = isl_qpolynomial_dim;
    fn involves_dims(&self, kind: DimType, first: usize, n: usize) -> bool = isl_qpolynomial_involves_dims;
    fn get_constant_val(&self) -> Val = isl_qpolynomial_get_constant_val;
    fn set_dim_name(&self, kind: DimType, pos: usize, s: &str) -> QPolynomial = isl_qpolynomial_set_dim_name;
    fn zero_on_domain(domain: &Space) -> QPolynomial = isl_qpolynomial_zero_on_domain;
    fn val_on_domain(space: &Space, val: &Val) -> QPolynomial = isl_qpolynomial_val_on_domain;
    fn var_on_domain(domain: &Space, kind: DimType, pos: usize) -> QPolynomial = isl_qpolynomial_var_on_domain;
    fn plain_is_equal(&self, other: &QPolynomial) -> bool = isl_qpolynomial_plain_is_equal;
    fn is_zero(&self) -> bool = isl_qpolynomial_is_zero;
    fn is_nan(&self) -> bool = isl_qpolynomial_is_nan;
    fn is_infty(&self) -> bool = isl_qpolynomial_is_infty;
    fn neg(&self) -> QPolynomial = isl_qpolynomial_neg;
    fn add(&self, other: &QPolynomial) -> QPolynomial = isl_qpolynomial_add;
    fn sub(&self, other: &QPolynomial) -> QPolynomial = isl_qpolynomial_sub;
    fn mul(&self, other: &QPolynomial) -> QPolynomial = isl_qpolynomial_mul;
    fn pow(&self, power: usize) -> QPolynomial = isl_qpolynomial_pow;
    fn scale_val(&self, v: &Val) -> QPolynomial = isl_qpolynomial_scale_val;
    fn scale_down_val(&self, v: &Val) -> QPolynomial = isl_qpolynomial_scale_down_val;
    fn insert_dims(&self, kind: DimType, first: usize, n: usize) -> QPolynomial = isl_qpolynomial_insert_dims;
    fn add_dims(&self, kind: DimType, n: usize) -> QPolynomial = isl_qpolynomial_add_dims;
    fn move_dims(&self, dst_kind: DimType, dst_pos: usize, src_kind: DimType, src_pos: usize, n: usize) -> QPolynomial
        = isl_qpolynomial_move_dims,
        require dst_kind != DimType::Div && src_kind != DimType::Div && dst_pos <= self.dim(dst_kind)?;
    fn align_params(&self, model: &Space) -> QPolynomial = isl_qpolynomial_align_params;
    fn eval(&self, pnt: &Point) -> Val = isl_qpolynomial_eval;
    fn gist_params(&self, context: &Set) -> QPolynomial = isl_qpolynomial_gist_params;
    fn gist(&self, context: &Set) -> QPolynomial = isl_qpolynomial_gist,
        require self.get_domain_space()?.has_equal_tuples(&context.get_space()?)?;
    fn from_term(term: &Term) -> QPolynomial = isl_qpolynomial_from_term;
    fn from_aff(aff: &Aff) -> QPolynomial = isl_qpolynomial_from_aff;
}

object! {
    /// A piecewise quasi-polynomial.
    PwQPolynomial(isl_pw_qpolynomial), print isl_pw_qpolynomial_to_str, parse isl_pw_qpolynomial_read_from_str,
        list isl_pw_qpolynomial_list isl_pw_qpolynomial_list_alloc isl_pw_qpolynomial_list_add isl_pw_qpolynomial_list_size isl_pw_qpolynomial_list_get_at
}

methods! { PwQPolynomial;
    fn plain_is_equal(&self, other: &PwQPolynomial) -> bool = isl_pw_qpolynomial_plain_is_equal;
    fn zero(space: &Space) -> PwQPolynomial = isl_pw_qpolynomial_zero;
    fn alloc(set: &Set, qp: &QPolynomial) -> PwQPolynomial = isl_pw_qpolynomial_alloc;
    fn is_zero(&self) -> bool = isl_pw_qpolynomial_is_zero;
    fn get_domain_space(&self) -> Space = isl_pw_qpolynomial_get_domain_space;
    fn get_space(&self) -> Space = isl_pw_qpolynomial_get_space;
    fn dim(&self, kind: DimType) -> usize = isl_pw_qpolynomial_dim;
    fn involves_dims(&self, kind: DimType, first: usize, n: usize) -> bool = isl_pw_qpolynomial_involves_dims;
    fn set_dim_name(&self, kind: DimType, pos: usize, s: &str) -> PwQPolynomial = isl_pw_qpolynomial_set_dim_name;
    fn find_dim_by_name(&self, kind: DimType, name: &str) -> Option<usize> = isl_pw_qpolynomial_find_dim_by_name;
    fn reset_user(&self) -> PwQPolynomial = isl_pw_qpolynomial_reset_user;
    fn domain(&self) -> Set = isl_pw_qpolynomial_domain;
    fn intersect_domain(&self, set: &Set) -> PwQPolynomial = isl_pw_qpolynomial_intersect_domain;
    fn intersect_params(&self, set: &Set) -> PwQPolynomial = isl_pw_qpolynomial_intersect_params;
    fn add(&self, other: &PwQPolynomial) -> PwQPolynomial = isl_pw_qpolynomial_add;
    fn sub(&self, other: &PwQPolynomial) -> PwQPolynomial = isl_pw_qpolynomial_sub;
    fn neg(&self) -> PwQPolynomial = isl_pw_qpolynomial_neg;
    fn mul(&self, other: &PwQPolynomial) -> PwQPolynomial = isl_pw_qpolynomial_mul;
    fn scale_val(&self, v: &Val) -> PwQPolynomial = isl_pw_qpolynomial_scale_val;
    fn scale_down_val(&self, v: &Val) -> PwQPolynomial = isl_pw_qpolynomial_scale_down_val;
    fn pow(&self, exponent: usize) -> PwQPolynomial = isl_pw_qpolynomial_pow;
    fn insert_dims(&self, kind: DimType, first: usize, n: usize) -> PwQPolynomial = isl_pw_qpolynomial_insert_dims;
    fn add_dims(&self, kind: DimType, n: usize) -> PwQPolynomial = isl_pw_qpolynomial_add_dims;
    fn move_dims(&self, dst_kind: DimType, dst_pos: usize, src_kind: DimType, src_pos: usize, n: usize) -> PwQPolynomial
        = isl_pw_qpolynomial_move_dims,
        require dst_kind != DimType::Div && src_kind != DimType::Div && dst_pos <= self.dim(dst_kind)?;
    fn fix_val(&self, kind: DimType, n: usize, v: &Val) -> PwQPolynomial = isl_pw_qpolynomial_fix_val;
    fn eval(&self, pnt: &Point) -> Val = isl_pw_qpolynomial_eval;
    fn max(&self) -> Val = isl_pw_qpolynomial_max;
    fn min(&self) -> Val = isl_pw_qpolynomial_min;
    fn n_piece(&self) -> usize = isl_pw_qpolynomial_n_piece;
    fn from_pw_aff(pwaff: &PwAff) -> PwQPolynomial = isl_pw_qpolynomial_from_pw_aff;
    fn coalesce(&self) -> PwQPolynomial = isl_pw_qpolynomial_coalesce;
    fn gist(&self, context: &Set) -> PwQPolynomial = isl_pw_qpolynomial_gist,
        require self.get_domain_space()?.has_equal_tuples(&context.get_space()?)?;
    fn gist_params(&self, context: &Set) -> PwQPolynomial = isl_pw_qpolynomial_gist_params;
}

object! {
    /// One term of a [`QPolynomial`]: a coefficient times powers of variables.
    Term(isl_term)
}

methods! { Term;
    fn dim(&self, kind: DimType) -> usize = isl_term_dim;
    fn get_coefficient_val(&self) -> Val = isl_term_get_coefficient_val;
    fn get_div(&self, pos: usize) -> Aff = isl_term_get_div;
}

impl QPolynomial {
    /// The terms, whose sum this is.
    pub fn terms(&self) -> Result<Vec<Term>> {
        let mut terms = Vec::new();
        // SAFETY: the function gives the terms to its callback.
        unsafe {
            callback::for_each(self, "isl_qpolynomial_foreach_term", raw::isl_qpolynomial_foreach_term, |term| {
                terms.push(term);
                Result::<()>::Ok(())
            })?;
        }
        Ok(terms)
    }
}

impl PwQPolynomial {
    /// The domains, which are disjoint, and the polynomial on each.
    pub fn pieces(&self) -> Result<Vec<(Set, QPolynomial)>> {
        // SAFETY: the function gives both to its callback.
        unsafe {
            callback::for_each_pair(self, "isl_pw_qpolynomial_foreach_piece", raw::isl_pw_qpolynomial_foreach_piece)
        }
    }
}

impl fmt::Debug for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match QPolynomial::from_term(self) {
            Ok(polynomial) => write!(f, "{polynomial}"),
            Err(error) => write!(f, "<{error}>"),
        }
    }
}
