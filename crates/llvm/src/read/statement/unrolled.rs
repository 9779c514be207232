//! Parts of a block that were one loop before LLVM unrolled it: `for (m = 0; m < 5; m++) r[i][m] = …` arrives as five stores that share
//! no load. Each by itself would be a statement, and all questions about the region would be asked five times.
//!
//! Two parts are alike if they do the same operations to elements that lie a constant number of bytes apart, not farther than a
//! cache line. They touch the same lines at the same time, so that no order gains from tearing them apart. That they are alike is
//! nothing that anything rests on: any parts of a block may be one statement, in which they keep their order.

use super::{Closure, Cutter, Root, Slot};
use crate::facts::{CastOp, IntOp, Op, ValueId, ValueKind};
use std::collections::BTreeMap;

/// Elements farther apart are not neighbours: a line of the cache.
const NEAR: i64 = 64;
/// Parts that take more operations than this are not compared.
const MAX_OPERATIONS: usize = 200;
/// Sums in the computation of an address are followed so far.
const MAX_STEPS: usize = 16;

/// What a part of a block does, but for the numbers that its addresses begin with, and for which values from outside and scalars it uses.
pub(super) struct Pattern {
    words: Vec<Word>,
    /// The number of bytes in each address, in the order of the words.
    starts: Vec<Start>,
}

#[derive(PartialEq, Eq)]
enum Word {
    Store(Place),
    Load(Place),
    Value,
    Phi,
    /// What it does, as text.
    Operation(String),
    /// The n-th operation again.
    Again(usize),
    Counter(ValueId),
    /// Of a type: a number, or a value from outside.
    Outside(String),
    /// Of a type: what another statement computed, or a φ.
    Scalar(String),
}

/// An address, but for the constant number of bytes in it.
#[derive(Clone, PartialEq, Eq)]
struct Place {
    base: ValueId,
    /// Scales in bytes, by index.
    terms: BTreeMap<ValueId, i64>,
    bytes: u64,
}

struct Start {
    constant: i64,
    writes: bool,
    place: Place,
}

impl Pattern {
    /// Of a part with these roots, in the order of the block; nothing where it does what no unrolled loop is worth.
    pub(super) fn of(cutter: &Cutter, roots: &[(Root, &Closure)]) -> Option<Pattern> {
        let mut walk = Walk { cutter, seen: Vec::new(), pattern: Pattern { words: Vec::new(), starts: Vec::new() } };
        let stores = |(root, _): &&(Root, &Closure)| matches!(root, Root::Effect(_));
        let has_stores = roots.iter().any(|root| stores(&root));
        // Which of the values on the way others need says nothing about the loop that this was.
        for (root, closure) in roots.iter().filter(|root| !has_stores || stores(root)) {
            match root {
                Root::Effect(store) => {
                    let Op::Store { pointer, value, bytes, .. } = *cutter.op(*store) else { return None };
                    walk.address(pointer, bytes, true);
                    walk.value(value, closure)?;
                }
                Root::Value(value) => {
                    walk.pattern.words.push(Word::Value);
                    walk.value(*value, closure)?;
                }
                Root::Phi { value, .. } => {
                    walk.pattern.words.push(Word::Phi);
                    walk.value(*value, closure)?;
                }
            }
        }
        Some(walk.pattern).filter(Pattern::is_of_a_loop)
    }

    /// Does it step through memory, or pass something on that does? Numbers, as for sums to start from, are alike anywhere.
    fn is_of_a_loop(&self) -> bool {
        !self.starts.is_empty() || self.words.iter().any(|word| matches!(word, Word::Scalar(_)))
    }

    /// Can `later` be the next iteration?
    pub(super) fn is_followed_by(&self, later: &Pattern) -> bool {
        if self.words != later.words {
            return false;
        }
        let mut pairs = self.starts.iter().zip(&later.starts);
        let steps = self.starts.is_empty() || pairs.clone().any(|(a, b)| a.constant != b.constant);
        steps && pairs.all(|(a, b)| a.constant.abs_diff(b.constant) <= NEAR.unsigned_abs()) && !self.feeds(later)
    }

    /// Does the later one load what this one stores? Then they are steps of a recurrence, and better told apart.
    fn feeds(&self, later: &Pattern) -> bool {
        let loads = || later.starts.iter().filter(|start| !start.writes);
        self.starts.iter().filter(|start| start.writes).any(|store| loads().any(|load| store.overlaps(load)))
    }
}

impl Start {
    fn overlaps(&self, other: &Start) -> bool {
        let is_near = |distance: i64, bytes: u64| distance >= 0 && distance.unsigned_abs() < bytes;
        let distance = other.constant.saturating_sub(self.constant);
        self.place.base == other.place.base
            && self.place.terms == other.place.terms
            && (is_near(distance, self.place.bytes) || is_near(distance.saturating_neg(), other.place.bytes))
    }
}

struct Walk<'w, 'r, 'a> {
    cutter: &'w Cutter<'r, 'a>,
    seen: Vec<ValueId>,
    pattern: Pattern,
}

impl Walk<'_, '_, '_> {
    fn value(&mut self, value: ValueId, closure: &Closure) -> Option<()> {
        let values = self.cutter.values;
        let facts = values.facts;
        let value = values.stands_for(value);
        let type_name = || facts.value(value).type_name.clone();
        if values.is_outside(value) {
            self.pattern.words.push(Word::Outside(type_name()));
            return Some(());
        }
        if let Some(number) = self.seen.iter().position(|&v| v == value) {
            self.pattern.words.push(Word::Again(number));
            return Some(());
        }
        if closure.inductions.contains(&value) {
            self.pattern.words.push(Word::Counter(value));
            return Some(());
        }
        let is_read = |slot: Slot| closure.reads.contains(&(value, slot));
        if is_read(Slot::Value(value)) || is_read(Slot::Phi(value)) {
            self.pattern.words.push(Word::Scalar(type_name()));
            return Some(());
        }
        if self.seen.len() >= MAX_OPERATIONS {
            return None;
        }
        self.seen.push(value);
        let instruction = facts.instruction(value)?;
        let does = match &instruction.op {
            &Op::Load { pointer, bytes, .. } => {
                self.address(pointer, bytes, false);
                return Some(());
            }
            Op::Call(call) if instruction.pure_and_speculatable => call.callee.clone(),
            op @ (Op::Int(_) | Op::Float(_) | Op::FNeg | Op::Cast(_)) => format!("{op:?}"),
            op @ (Op::ICmp(_) | Op::FCmp | Op::Select | Op::Freeze | Op::MinMax(_)) => format!("{op:?}"),
            _ => return None,
        };
        self.pattern.words.push(Word::Operation(format!("{does} {}", type_name())));
        instruction.operands.iter().try_for_each(|&operand| self.value(operand, closure))
    }

    fn address(&mut self, pointer: ValueId, bytes: u64, writes: bool) {
        let (mut constant, mut terms, mut at) = (0i64, BTreeMap::new(), pointer);
        let values = self.cutter.values;
        for _ in 0..MAX_STEPS {
            at = values.stands_for(at);
            let Some(instruction) = values.facts.instruction(at) else {
                if let ValueKind::ConstantGep { base, offset } = values.facts.value(at).kind {
                    (at, constant) = (base, constant.wrapping_add(offset));
                }
                break;
            };
            match &instruction.op {
                Op::Gep { base, offset: Some(offset), .. } => {
                    constant = constant.wrapping_add(offset.constant);
                    for &(index, scale) in &offset.terms {
                        let (index, more) = self.without_number(index);
                        constant = constant.wrapping_add(more.wrapping_mul(scale));
                        let sum: &mut i64 = terms.entry(index).or_default();
                        *sum = sum.wrapping_add(scale);
                    }
                    at = *base;
                }
                Op::Cast(CastOp::BitCast) => at = instruction.operands[0],
                _ => break,
            }
        }
        let place = Place { base: at, terms, bytes };
        self.pattern.starts.push(Start { constant, writes, place: place.clone() });
        self.pattern.words.push(if writes { Word::Store(place) } else { Word::Load(place) });
    }

    /// `i + 3` as `i` and 3.
    fn without_number(&self, index: ValueId) -> (ValueId, i64) {
        let facts = self.cutter.values.facts;
        let (mut at, mut sum) = (index, 0i64);
        for _ in 0..MAX_STEPS {
            let Some(instruction) = facts.instruction(at) else { break };
            let is_sum = match instruction.op {
                Op::Int(IntOp::Add) => true,
                Op::Int(IntOp::Or) => instruction.flags.disjoint,
                _ => false,
            };
            let [first, second] = instruction.operands[..] else { break };
            let (true, ValueKind::ConstantInt(number)) = (is_sum, &facts.value(second).kind) else { break };
            (at, sum) = (first, sum.wrapping_add(*number));
        }
        (at, sum)
    }
}
