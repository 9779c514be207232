use std::ffi::c_int;

use crate::object::Lower;
use crate::{Ctx, IslError, Result};

/// The kinds of dimensions of a space. `Set` is isl's other name for `Out`, the only tuple of a set space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DimType {
    /// The constant term of an affine expression.
    Cst,
    Param,
    In,
    Out,
    Set,
    /// Integer divisions.
    Div,
}

impl Lower<c_int> for DimType {
    fn lower(&self, _: &Ctx, function: &'static str) -> Result<c_int> {
        // isl checks positions against the number of dimensions, and there is one constant term; but then it takes it for a
        // dimension of the tuples. Only counting it makes sense.
        if *self == DimType::Cst && !function.ends_with("_dim") {
            return Err(IslError::invalid(function, "the constant term is no dimension"));
        }
        Ok(match self {
            DimType::Cst => 0,
            DimType::Param => 1,
            DimType::In => 2,
            DimType::Out | DimType::Set => 3,
            DimType::Div => 4,
        })
    }
}
