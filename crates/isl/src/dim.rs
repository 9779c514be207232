use std::ffi::c_int;

use crate::object::Lower;
use crate::{Ctx, Result};

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
    All,
}

impl Lower<c_int> for DimType {
    fn lower(&self, _: &Ctx, _: &'static str) -> Result<c_int> {
        Ok(match self {
            DimType::Cst => 0,
            DimType::Param => 1,
            DimType::In => 2,
            DimType::Out | DimType::Set => 3,
            DimType::Div => 4,
            DimType::All => 5,
        })
    }
}
