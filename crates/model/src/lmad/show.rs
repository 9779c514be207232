//! Descriptors as the article writes them, in elements.

use super::{Dim, Lmad, Mark};
use crate::polynomial::{Facts, Symbol, TooLarge, Whole};

/// A descriptor in units of some bytes, as text in which symbols have names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    pub base: String,
    pub dims: Vec<ShownDim>,
    pub mark: Mark,
    /// First, last and stride, where it is one run of equal steps or a single element.
    triplet: Option<[String; 3]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownDim {
    pub stride: String,
    pub span: String,
    pub index: String,
}

impl Lmad {
    /// In units of so many bytes; `None` if its elements are not a whole number of them, or do not lie on their bounds.
    pub fn shown(&self, unit: i128, name: &dyn Fn(Symbol) -> String) -> Option<Shown> {
        if unit <= 0 || self.bytes % unit != 0 {
            return None;
        }
        let lmad = self.refined(unit).ok()?;
        let facts = Facts::new();
        let in_units = |x: &Whole| x.exact_quotient(&Whole::constant(unit), &facts);
        let text = |x: &Whole| x.show(name);
        let dims: Option<Vec<ShownDim>> = lmad
            .dims
            .iter()
            .map(|dim| {
                let (stride, span) = (in_units(&dim.stride)?, in_units(&dim.span)?);
                // What stands for no loop has no name.
                let index = if super::is_free_index(dim.index) { String::new() } else { name(dim.index) };
                Some(ShownDim { stride: text(&stride), span: text(&span), index })
            })
            .collect();
        let base = in_units(&lmad.base)?;
        let triplet = || -> Result<Option<[String; 3]>, TooLarge> {
            let ends = match lmad.dims.as_slice() {
                _ if !lmad.guards.is_empty() || !lmad.is_closed() => None,
                [] => Some((base.clone(), Whole::one())),
                [Dim { span, stride, .. }] => match (in_units(span), in_units(stride)) {
                    (Some(span), Some(stride)) => Some((base.add(&span)?, stride)),
                    _ => None,
                },
                _ => None,
            };
            Ok(ends.map(|(last, stride)| [text(&base), text(&last), text(&stride)]))
        };
        let triplet = triplet().ok()?;
        Some(Shown { base: text(&base), dims: dims?, mark: self.mark, triplet })
    }
}

impl Shown {
    /// `A^{1,5}_{4,15}+2`
    pub fn text(&self, array: &str) -> String {
        let list = |part: fn(&ShownDim) -> &str| self.dims.iter().map(part).collect::<Vec<_>>().join(",");
        let dims = match self.dims.is_empty() {
            true => String::new(),
            false => format!("^{{{}}}_{{{}}}", list(|dim| &dim.stride), list(|dim| &dim.span)),
        };
        let sign = if self.base.starts_with('-') { "" } else { "+" };
        format!("{array}{}", format!("{dims}{sign}{}", self.base).replace(' ', ""))
    }
    /// `A(1:12:1)`, where it is one.
    pub fn triplet(&self, array: &str) -> Option<String> {
        self.triplet
            .as_ref()
            .map(|[first, last, stride]| format!("{array}({})", format!("{first}:{last}:{stride}").replace(' ', "")))
    }
}
