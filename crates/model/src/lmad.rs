//! Linear memory access descriptors: which bytes of an array something touches, as a base, strides and spans.
//!
//! `A[8*i + j]` for 0 ≤ i, j ≤ n is `A^{1,8}_{n,8*n}+0`, in elements: two *dimensions*, each with the *stride* from one value of its
//! *index* to the next, and the *span* from the first to the last. After "Simplification of Array Access Patterns for Compiler
//! Optimizations" (Paek, Hoeflinger, Padua, 1998), in bytes, and for loops that need not run.
//!
//! What the article leaves to intuition is said in numbers: a dimension also has the number of its last step, which is negative where its
//! loop does not run. A product of two of those may be positive, so that what must not be negative is kept in *guards* once
//! dimensions are put together.

mod access;
mod aggregate;
mod algebra;
mod build;
mod close;
mod coalesce;
mod contained;
mod disjoint;
mod ends;
mod region;
mod show;
#[cfg(test)]
mod tests;

pub use build::{Loop, NotMonotonic};
pub use ends::Ends;
pub use region::{MAX_DESCRIPTORS, Region};
pub use show::Shown;

use crate::polynomial::{Answer, Facts, Symbol, TooLarge, Var, Whole};

/// What a set is to the bytes that are touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mark {
    Exact,
    /// It contains them all.
    Over,
    /// It contains nothing else.
    Under,
}

/// Which way a caller can bear to be wrong: too much of what may be touched, too little of what certainly is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    May,
    Must,
}

impl Side {
    pub fn mark(self) -> Mark {
        match self {
            Side::May => Mark::Over,
            Side::Must => Mark::Under,
        }
    }
    /// A set with that mark is of use on this side.
    pub fn bears(self, mark: Mark) -> bool {
        mark == Mark::Exact || mark == self.mark()
    }
}

/// Steps along one index: its k-th value is `stride(0) + … + stride(k − 1)` behind its first, for 0 ≤ k ≤ last.
///
/// The stride may depend on the index itself, and stride and last on the indices of other dimensions, but not in a circle.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dim {
    pub index: Symbol,
    pub stride: Whole,
    /// The sum of all strides.
    pub span: Whole,
    /// The number of the last step, counted from 0. Negative: there is none.
    pub last: Whole,
}

impl Dim {
    /// All strides are equal.
    pub fn even(index: Symbol, stride: Whole, last: Whole) -> Result<Dim, TooLarge> {
        Ok(Dim { index, span: stride.mul(&last)?, stride, last })
    }
    fn has(&self, symbol: Symbol) -> bool {
        self.stride.has(symbol) || self.last.has(symbol) || self.span.has(symbol)
    }
    fn with(&self, symbol: Symbol, value: &Whole) -> Result<Dim, TooLarge> {
        let [stride, span, last] = [&self.stride, &self.span, &self.last].map(|x| x.with(symbol, value));
        Ok(Dim { index: self.index, stride: stride?, span: span?, last: last? })
    }
}

/// The bytes `base + Σ steps + b` for 0 ≤ b < `bytes` and all values of the indices for which every guard is ≥ 0.
///
/// Where a guard is negative whatever the indices, there are none. The indices are bound: facts and numbers from elsewhere speak of the
/// counters of loops around, never of these.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lmad {
    base: Whole,
    /// Inner loops first until it is normalised; then from small to large strides, as far as their order is known.
    dims: Vec<Dim>,
    /// Of one element, > 0.
    bytes: i128,
    guards: Vec<Whole>,
    mark: Mark,
}

impl Lmad {
    /// One element.
    pub fn element(base: Whole, bytes: i128) -> Lmad {
        debug_assert!(bytes > 0);
        Lmad { base, dims: Vec::new(), bytes, guards: Vec::new(), mark: Mark::Exact }
    }
    pub fn empty(bytes: i128) -> Lmad {
        Lmad { guards: vec![Whole::constant(-1)], ..Lmad::element(Whole::zero(), bytes) }
    }
    /// With dimensions whose strides and lasts depend on no index of theirs, outermost last.
    pub fn regular(base: Whole, steps: &[(Whole, Whole)], bytes: i128) -> Result<Lmad, TooLarge> {
        let mut lmad = Lmad::element(base, bytes);
        for (k, (stride, last)) in steps.iter().enumerate() {
            lmad.dims.push(Dim::even(Symbol::counter(FIRST_FREE + k), stride.clone(), last.clone())?);
        }
        Ok(lmad)
    }
    pub fn base(&self) -> &Whole {
        &self.base
    }
    pub fn dims(&self) -> &[Dim] {
        &self.dims
    }
    pub fn bytes(&self) -> i128 {
        self.bytes
    }
    pub fn guards(&self) -> &[Whole] {
        &self.guards
    }
    pub fn mark(&self) -> Mark {
        self.mark
    }
    pub fn marked(mut self, mark: Mark) -> Lmad {
        // What was no estimate becomes one; an estimate stays what it was, and there is none to both sides.
        if self.mark == Mark::Exact {
            self.mark = mark;
        }
        self
    }
    /// Where this is ≥ 0 only.
    pub fn guarded(mut self, guard: Whole) -> Lmad {
        if guard.as_constant().is_none_or(|c| c < 0) && !self.guards.contains(&guard) {
            self.guards.push(guard);
        }
        self
    }

    /// It has none of its own indices in strides, lasts or guards: then it is all sums of one step of each dimension.
    pub fn is_closed(&self) -> bool {
        let own = |x: &Whole| self.dims.iter().any(|dim| x.has(dim.index));
        !self.dims.iter().any(|dim| own(&dim.stride) || own(&dim.last)) && !self.guards.iter().any(own)
    }
    fn depends_on(&self, symbol: Symbol) -> bool {
        self.base.has(symbol)
            || self.dims.iter().any(|dim| dim.has(symbol))
            || self.guards.iter().any(|g| g.has(symbol))
    }

    /// What holds wherever there is a byte in it; of its indices nothing.
    fn where_any(&self, facts: &Facts) -> Facts {
        let own = |x: &&Whole| !self.dims.iter().any(|dim| x.has(dim.index));
        let known: Vec<&Whole> = self.guards.iter().chain(self.dims.iter().map(|dim| &dim.last)).filter(own).collect();
        facts.and(&known)
    }
    /// With the ranges of its own indices, too.
    fn where_each(&self, facts: &Facts) -> Facts {
        self.dims.iter().fold(self.where_any(facts), |facts, dim| facts.and_counter(dim.index, &dim.last))
    }
    pub fn is_empty(&self, facts: &Facts) -> bool {
        self.guards.iter().chain(self.dims.iter().map(|dim| &dim.last)).any(|x| facts.is_negative(x))
    }
    /// It contains a byte.
    pub fn is_inhabited(&self, facts: &Facts) -> Answer {
        if !self.is_closed() {
            return Answer::Unknown;
        }
        let all = self.guards.iter().chain(self.dims.iter().map(|dim| &dim.last));
        all.fold(Answer::Proved, |answer, x| answer.and_then(|| facts.not_negative(x)))
    }

    /// With another number for a symbol.
    ///
    /// Requires: neither is the symbol one of its indices, nor does the number speak of one.
    pub fn with(&self, symbol: Symbol, value: &Whole) -> Result<Lmad, TooLarge> {
        let dims = self.dims.iter().map(|dim| dim.with(symbol, value)).collect::<Result<_, _>>()?;
        let mut lmad = Lmad { base: self.base.with(symbol, value)?, dims, guards: Vec::new(), ..*self };
        for guard in &self.guards {
            lmad = lmad.guarded(guard.with(symbol, value)?);
        }
        Ok(lmad)
    }

    /// Sorted by strides; without dimensions of one step, and without guards that are known to hold.
    ///
    /// A dimension in which nothing moves adds no element and takes none away (Theorem 1), but where it has no step there is none.
    fn normalised(mut self, facts: &Facts) -> Result<Lmad, TooLarge> {
        while let Some(at) = self.dims.iter().position(|dim| dim.last.is_zero() || dim.stride.is_zero()) {
            let dim = self.dims.remove(at);
            let is_used =
                |x: &Lmad| x.dims.iter().any(|d| d.has(dim.index)) || x.guards.iter().any(|g| g.has(dim.index));
            if dim.last.is_zero() {
                self = self.with(dim.index, &Whole::zero())?;
            } else if is_used(&self) {
                // It moves nothing itself, but others.
                self.dims.insert(at, dim);
                break;
            } else if !facts.proves_not_negative(&dim.last) {
                self = self.guarded(dim.last);
            }
        }
        let guards = std::mem::take(&mut self.guards);
        self.guards = guards.into_iter().filter(|guard| !facts.proves_not_negative(guard)).collect();
        self.guards.sort();
        self.guards.dedup();
        if self.is_closed() {
            let facts = self.where_any(facts);
            // Not all strides can be compared; each goes in front of the first that is known to be larger.
            let mut sorted: Vec<Dim> = Vec::new();
            let mut dims = std::mem::take(&mut self.dims);
            dims.sort_by(|a, b| (&a.stride, &a.last, a.index).cmp(&(&b.stride, &b.last, b.index)));
            for dim in dims {
                let larger = |other: &Dim| facts.proves_less(&dim.stride, &other.stride);
                let at = sorted.iter().position(larger).unwrap_or(sorted.len());
                sorted.insert(at, dim);
            }
            self.dims = sorted;
        }
        Ok(self)
    }

    /// The same bytes in smaller elements.
    fn refined(&self, bytes: i128) -> Result<Lmad, TooLarge> {
        if self.bytes == bytes {
            return Ok(self.clone());
        }
        debug_assert!(bytes > 0 && self.bytes % bytes == 0);
        let mut finer = Lmad { bytes, ..self.clone() };
        let last = Whole::constant(self.bytes / bytes - 1);
        finer.dims.insert(0, Dim::even(self.free_index(), Whole::constant(bytes), last)?);
        Ok(finer)
    }

    /// A counter that occurs nowhere in it.
    fn free_index(&self) -> Symbol {
        let is_free = |d: &usize| {
            let index = Symbol::counter(*d);
            !self.depends_on(index) && self.dims.iter().all(|dim| dim.index != index)
        };
        Symbol::counter((FIRST_FREE..).find(is_free).expect("there are more counters than dimensions"))
    }
}

/// Indices that stand for no loop are counted from here.
const FIRST_FREE: usize = 1 << 16;

fn is_free_index(index: Symbol) -> bool {
    matches!(index, Symbol::Var(Var::Counter(d)) if d as usize >= FIRST_FREE)
}

/// What is known, and what is taken for true on top of it.
#[derive(Clone, Debug)]
pub struct Ground {
    pub facts: Facts,
    condition: Answer,
    may_assume: bool,
}

impl Ground {
    /// Nothing is assumed.
    pub fn proved(facts: Facts) -> Ground {
        Ground { facts, condition: Answer::Proved, may_assume: false }
    }
    /// What cannot be proved may become a condition.
    pub fn assuming(facts: Facts) -> Ground {
        Ground { facts, condition: Answer::Proved, may_assume: true }
    }
    /// What was done on this ground is right under that.
    pub fn condition(&self) -> &Answer {
        &self.condition
    }
    fn accepts(&mut self, answer: Answer) -> bool {
        match answer {
            Answer::Proved => true,
            Answer::Under(_) if self.may_assume => {
                self.condition = std::mem::replace(&mut self.condition, Answer::Proved).and(answer);
                true
            }
            Answer::Under(_) | Answer::Unknown => false,
        }
    }
}
