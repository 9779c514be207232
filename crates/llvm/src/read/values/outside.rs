//! What the region's values from outside are computed from, and which of them are only asked whether they are some number.

use super::Values;
use crate::facts::{Op, Predicate, Type, ValueId, ValueKind};
use std::collections::{BTreeMap, BTreeSet};

/// The values that those which the region uses are computed from, by operations that reading looks through.
#[derive(Default)]
pub struct Outside {
    pub all: BTreeSet<ValueId>,
    /// Those that are used for more than a comparison with a number.
    counting: BTreeSet<ValueId>,
    /// By value and number: the comparison that stands for all that ask whether they are equal.
    switches: BTreeMap<(ValueId, i64), ValueId>,
}

impl Values<'_> {
    pub fn outside(&self) -> &Outside {
        self.outside.get_or_init(|| {
            let mut outside = Outside::default();
            for value in self.instructions() {
                let instruction = self.facts.instruction(value).expect("an instruction");
                let switch = self.equality(value);
                if let Some((key, _)) = switch {
                    outside.switches.entry(key).or_insert(value);
                }
                for &used in instruction.operands.iter().filter(|&&v| self.is_outside(v)) {
                    self.collect_leaves(used, &mut outside.all);
                    if switch.is_none() && self.facts.value(used).ty != Type::Int(1) {
                        self.collect_leaves(used, &mut outside.counting);
                    }
                }
            }
            outside
        })
    }

    /// A question, decided before the region, whether a value is a number, where that is all that the region asks of it: the
    /// comparison that stands for it, and whether that one asks the opposite.
    ///
    /// One bit instead of `x < 0 or x > 0`, which takes all that meets it to pieces.
    pub fn switch(&self, condition: ValueId) -> Option<(ValueId, bool)> {
        let ((value, number), equal) = self.equality(condition)?;
        let outside = self.outside();
        let mut about = BTreeSet::new();
        self.collect_leaves(value, &mut about);
        let mut asked = outside.switches.range((value, i64::MIN)..=(value, i64::MAX));
        let (&key, &first) = asked.next()?;
        let is_only = key == (value, number) && asked.next().is_none() && about.is_disjoint(&outside.counting);
        (is_only && self.is_hoistable(first, 0)).then(|| (first, self.equality(first).is_some_and(|e| e.1 != equal)))
    }

    /// `value == number` (or, with false, `!=`) of a value that is known before the region.
    fn equality(&self, condition: ValueId) -> Option<((ValueId, i64), bool)> {
        let instruction = self.facts.instruction(condition)?;
        let Op::ICmp(predicate @ (Predicate::Eq | Predicate::Ne)) = instruction.op else { return None };
        let ValueKind::ConstantInt(number) = self.facts.value(instruction.operands[1]).kind else { return None };
        let value = self.stands_for(instruction.operands[0]);
        self.is_hoistable(value, 0).then_some(((value, number), predicate == Predicate::Eq))
    }

    /// What a value is computed from.
    pub fn collect_leaves(&self, value: ValueId, leaves: &mut BTreeSet<ValueId>) {
        let mut seen = BTreeSet::new();
        let mut work = vec![value];
        while let Some(value) = work.pop() {
            let value = self.stands_for(value);
            if !seen.insert(value) {
                continue;
            }
            match self.facts.instruction(value) {
                Some(i) if is_looked_through(&i.op) => work.extend(&i.operands),
                None if matches!(self.facts.value(value).kind, ValueKind::ConstantInt(_)) => {}
                _ => drop(leaves.insert(value)),
            }
        }
    }
}

fn is_looked_through(op: &Op) -> bool {
    use Op::*;
    matches!(op, Int(_) | Cast(_) | ICmp(_) | Select | Freeze | MinMax(_) | Gep { .. })
}
