//! One generated function with its argument sets, of whatever family.

use crate::extremes;
use crate::kernel::Kernel;
use crate::odd;
use crate::print::{self, Printed};
use crate::{range, reduce};

#[derive(Clone, Debug)]
pub enum Case {
    Nest(Kernel),
    Extreme(extremes::Kernel),
    Odd(odd::Kernel),
}

impl Case {
    pub fn index(&self) -> usize {
        match self {
            Case::Nest(kernel) => kernel.index,
            Case::Extreme(kernel) => kernel.index,
            Case::Odd(kernel) => kernel.index,
        }
    }

    /// How often a program calls it.
    pub fn runs(&self) -> usize {
        match self {
            Case::Nest(kernel) => kernel.sets.len(),
            Case::Extreme(kernel) => kernel.sets.len(),
            Case::Odd(kernel) => kernel.sets.len(),
        }
    }

    /// C defines what every one of its calls does.
    pub fn is_valid(&self) -> bool {
        match self {
            Case::Nest(kernel) => range::analyse(kernel).is_ok(),
            Case::Extreme(kernel) => kernel.is_valid(),
            Case::Odd(kernel) => kernel.is_valid(),
        }
    }

    pub fn print(&self) -> Printed {
        match self {
            Case::Nest(kernel) => print::kernel(kernel),
            Case::Extreme(kernel) => extremes::print::print(kernel),
            Case::Odd(kernel) => odd::print::print(kernel),
        }
    }

    /// All with one thing less, the largest cuts first; some are invalid.
    pub fn cuts(&self) -> Vec<Case> {
        match self {
            Case::Nest(kernel) => reduce::cuts(kernel).into_iter().map(Case::Nest).collect(),
            Case::Extreme(kernel) => extremes::cut::cuts(kernel).into_iter().map(Case::Extreme).collect(),
            Case::Odd(kernel) => odd::cut::cuts(kernel).into_iter().map(Case::Odd).collect(),
        }
    }
}
