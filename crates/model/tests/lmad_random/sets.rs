//! Descriptors as sets of numbers, counted out.

use model::lmad::Lmad;
use model::polynomial::{Answer, Symbol, Var, Whole};
use std::collections::HashMap;

/// Sets of more bytes are not counted out.
const MOST_BYTES: usize = 2000;

/// Of the parameters, in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Values(pub [i128; 3]);

/// Sorted, each once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bytes(Vec<i128>);

impl Bytes {
    pub fn new(mut all: Vec<i128>) -> Bytes {
        all.sort_unstable();
        all.dedup();
        Bytes(all)
    }
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    fn has(&self, byte: &i128) -> bool {
        self.0.binary_search(byte).is_ok()
    }
    pub fn is_subset(&self, other: &Bytes) -> bool {
        self.0.iter().all(|byte| other.has(byte))
    }
    pub fn is_disjoint(&self, other: &Bytes) -> bool {
        !self.0.iter().any(|byte| other.has(byte))
    }
    pub fn union(&self, other: &Bytes) -> Bytes {
        Bytes::new(self.0.iter().chain(&other.0).copied().collect())
    }
    pub fn intersection(&self, other: &Bytes) -> Bytes {
        Bytes(self.0.iter().copied().filter(|byte| other.has(byte)).collect())
    }
    pub fn difference(&self, other: &Bytes) -> Bytes {
        Bytes(self.0.iter().copied().filter(|byte| !other.has(byte)).collect())
    }
    /// The first byte, and the one behind the last.
    pub fn ends(&self) -> Option<(i128, i128)> {
        Some((*self.0.first()?, self.0.last()? + 1))
    }
}

pub fn holds(answer: &Answer, values: &Values) -> bool {
    match answer {
        Answer::Proved => true,
        Answer::Under(expr) => expr.evaluate(&values.0, &HashMap::new()).is_some_and(|value| value != 0),
        Answer::Unknown => false,
    }
}

/// The bytes of a descriptor; `None` if they are too many or too far apart.
pub fn bytes_of(lmad: &Lmad, values: &Values) -> Option<Bytes> {
    if lmad.is_closed() {
        return regular_bytes(lmad, values);
    }
    let mut all = Vec::new();
    collect(lmad, lmad.dims().len(), 0, &mut HashMap::new(), values, &mut all)?;
    Some(Bytes::new(all))
}

pub fn value_of(symbol: Symbol, indices: &HashMap<Symbol, i128>, values: &Values) -> Option<i128> {
    match symbol {
        Symbol::Var(Var::Param(id)) => values.0.get(id.index()).copied(),
        other => indices.get(&other).copied(),
    }
}

/// Dimension by dimension.
fn regular_bytes(lmad: &Lmad, values: &Values) -> Option<Bytes> {
    let value = |x: &Whole| match x.as_constant() {
        Some(number) => Some(number),
        None => x.at(&|s| value_of(s, &HashMap::new(), values)),
    };
    for guard in lmad.guards() {
        if value(guard)? < 0 {
            return Some(Bytes::default());
        }
    }
    // Where a loop does not run, strides may have no value.
    let lasts: Vec<i128> = lmad.dims().iter().map(|dim| value(&dim.last)).collect::<Option<_>>()?;
    if lasts.iter().any(|last| *last < 0) {
        return Some(Bytes::default());
    }
    let base = value(lmad.base())?;
    let mut all: Vec<i128> = (0..lmad.bytes()).map(|byte| base + byte).collect();
    for (dim, last) in lmad.dims().iter().zip(lasts) {
        let stride = if last == 0 { 0 } else { value(&dim.stride)? };
        assert_eq!(value(&dim.span)?, stride * last, "the span of {dim:?} at {values:?}");
        if all.len() as i128 * (last + 1) > MOST_BYTES as i128 {
            return None;
        }
        all = (0..=last).flat_map(|k| all.iter().map(move |byte| byte + k * stride)).collect();
    }
    Some(Bytes::new(all))
}

/// Outer dimensions are behind inner ones.
fn collect(
    lmad: &Lmad,
    left: usize,
    offset: i128,
    indices: &mut HashMap<Symbol, i128>,
    values: &Values,
    all: &mut Vec<i128>,
) -> Option<()> {
    let Some(at) = left.checked_sub(1) else {
        for guard in lmad.guards() {
            if guard.at(&|s| value_of(s, indices, values))? < 0 {
                return Some(());
            }
        }
        let base = lmad.base().at(&|s| value_of(s, indices, values))?;
        all.extend((0..lmad.bytes()).map(|byte| base + offset + byte));
        return (all.len() <= MOST_BYTES).then_some(());
    };
    let dim = &lmad.dims()[at];
    let last = dim.last.at(&|s| value_of(s, indices, values))?;
    let mut moved = 0;
    for k in 0..=last {
        indices.insert(dim.index, k);
        collect(lmad, at, offset + moved, indices, values, all)?;
        if k < last {
            moved += dim.stride.at(&|s| value_of(s, indices, values))?;
        }
    }
    if last >= 0 {
        let span = dim.span.at(&|s| value_of(s, indices, values))?;
        assert_eq!(moved, span, "the span of {dim:?} at {values:?}");
    }
    indices.remove(&dim.index);
    Some(())
}
