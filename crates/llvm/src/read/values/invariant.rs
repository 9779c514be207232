//! Values in memory that the region reads again and again, and that nobody seems to change: bounds, strides and data pointers behind
//! a pointer, `m->rows` or `grid[0]`.
//!
//! Such a load is taken for a value from outside: the check loads it once, before the loops (a *preload*), and shows that no write
//! of the region hits it. That is a circle only at first sight. Suppose that the check passed with the values that memory held at the
//! start. As long as no write hit one of these cells, all loads gave those values, so control and addresses were as modelled; so
//! the next write, too, is one of the model's, and those miss the cells.
//!
//! A preload must not fault where the original does not. It may run where its cell is known to be readable, or under the condition under
//! which the original gets to a load of the cell before it has written anything: up to there nothing can have become different. Or
//! after it has, if what is written makes no difference: where neither the address nor the way to the load rests on memory.

use super::Values;
use crate::facts::{BlockId, CastOp, MemoryUse, Op, Predicate, Type, UseSize, ValueId, ValueKind};
use std::collections::BTreeSet;

/// An address is followed through at most this many operations.
const MAX_STEPS: usize = 32;
/// One pass finds what is loaded through what the pass before found.
const MAX_PASSES: usize = 6;

/// Loads of one cell that the region does not seem to write, and φs that choose between them.
pub struct InvariantLoads {
    /// In program order.
    pub loads: Vec<ValueId>,
    pub readable: Readable,
    cell: LoadedCell,
}

/// Why the cell may be read before the region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readable {
    /// It exists whenever the region is entered.
    Always,
    /// Wherever control gets to one of these loads first; nothing is written before that control or the address could rest on.
    Where(Vec<ValueId>),
    /// It was: nothing was written since this load, which stands before the region.
    Known,
}

/// A value from outside, a number of bytes, and multiples of values from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
struct CellAddress {
    root: ValueId,
    constant: i64,
    terms: Vec<(ValueId, i64)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct LoadedCell {
    address: CellAddress,
    /// LLVM's name of what is loaded there.
    type_name: String,
}

impl Values<'_> {
    /// Finds the loads that bounds, conditions and addresses rest on and that can be taken for invariant.
    ///
    /// Ensures: the first of the loads of an invariant stands for all of them, and for the φs that choose between them.
    pub(super) fn find_invariants(&mut self, distrusted: &BTreeSet<ValueId>) {
        let mut wanted = self.loads_that_shape_the_region();
        wanted.retain(|load| !distrusted.contains(load));
        if wanted.is_empty() {
            return;
        }
        let writes = self.writes();
        for _ in 0..MAX_PASSES {
            let mut changed = false;
            for &load in &wanted {
                changed |= self.take_for_invariant(load, &writes);
            }
            changed |= self.take_choices_between_equals();
            if !changed {
                break;
            }
        }
    }

    /// Integers and pointers loaded in the region that conditions and addresses in it are computed from, in program order.
    fn loads_that_shape_the_region(&self) -> Vec<ValueId> {
        let facts = self.facts;
        let mut todo: Vec<ValueId> = Vec::new();
        for instruction in self.instructions().filter_map(|v| facts.instruction(v)) {
            if let Some(MemoryUse { reads, writes, size, .. }) = instruction.op.memory() {
                let length = if let UseSize::Value(length) = size { Some(length) } else { None };
                todo.extend([reads, writes, length].into_iter().flatten());
            }
            if let Op::Branch { .. } | Op::Switch { .. } = instruction.op {
                todo.extend(instruction.operands.first());
            }
        }
        let mut seen = BTreeSet::new();
        while let Some(value) = todo.pop() {
            let Some(instruction) = facts.instruction(value).filter(|_| !self.is_outside(value)) else { continue };
            if seen.insert(value) && !matches!(instruction.op, Op::Load { .. }) {
                todo.extend(&instruction.operands);
            }
        }
        self.instructions().filter(|v| seen.contains(v) && self.is_load_of_number_or_pointer(*v)).collect()
    }

    fn is_load_of_number_or_pointer(&self, value: ValueId) -> bool {
        let suitable = match self.facts.value(value).ty {
            Type::Int(bits) => bits <= 64 && bits % 8 == 0,
            Type::Pointer { address_space, integral } => address_space == 0 && integral,
            _ => false,
        };
        suitable && matches!(self.facts.instruction(value).map(|i| &i.op), Some(Op::Load { simple: true, .. }))
    }

    /// Where the region writes: pointer and, if constant, number of bytes.
    fn writes(&self) -> Vec<(ValueId, Option<i64>)> {
        let facts = self.facts;
        let write = |value: ValueId| {
            let MemoryUse { writes, size, .. } = facts.instruction(value)?.op.memory()?;
            let bytes = match size {
                UseSize::Bytes(bytes) => i64::try_from(bytes).ok(),
                UseSize::Value(length) => match facts.value(length).kind {
                    ValueKind::ConstantInt(bytes) if bytes >= 0 => Some(bytes),
                    _ => None,
                },
            };
            Some((writes?, bytes))
        };
        self.instructions().filter_map(write).collect()
    }

    fn take_for_invariant(&mut self, load: ValueId, writes: &[(ValueId, Option<i64>)]) -> bool {
        if self.is_outside(load) {
            return false;
        }
        let Some(cell) = self.cell_of(load) else { return false };
        if let Some((&leader, known)) = self.invariants.iter_mut().find(|(_, known)| known.cell == cell) {
            known.loads.push(load);
            self.twins.insert(load, leader);
            let loads = self.invariants[&leader].loads.clone();
            if matches!(self.invariants[&leader].readable, Readable::Where(_)) {
                let safe = loads.into_iter().filter(|&l| self.is_reached_as_modelled(l)).collect();
                self.invariants[&leader].readable = Readable::Where(safe);
            }
            return true;
        }
        if self.is_certainly_written(load, &cell.address, writes) {
            return false;
        }
        let readable = if let Some(before) = self.load_before(&cell) {
            self.twins.insert(load, before);
            let invariant = InvariantLoads { loads: vec![load], readable: Readable::Known, cell };
            self.invariants.insert(before, invariant);
            return true;
        } else if self.oracle.is_readable_at(load, self.region.entry) {
            Readable::Always
        } else if self.is_reached_as_modelled(load) {
            Readable::Where(vec![load])
        } else {
            return false;
        };
        self.invariants.insert(load, InvariantLoads { loads: vec![load], readable, cell });
        true
    }

    /// φs to which one and the same invariant is brought on all edges.
    ///
    /// The φs of nested loops bring it to each other, so all are taken to be the same until one is found that is not. Those that are
    /// left are: to the first of them that is evaluated none of the others can be brought, and so on with the next.
    fn take_choices_between_equals(&mut self) -> bool {
        let facts = self.facts;
        let leaders: Vec<ValueId> = self.invariants.keys().copied().collect();
        let mut changed = false;
        for leader in leaders {
            let mut same: BTreeSet<ValueId> = self
                .instructions()
                .filter(|&v| facts.is_phi(v) && facts.value(v).ty == facts.value(leader).ty)
                .filter(|&v| !self.is_outside(v) && !self.twins.contains_key(&v))
                .collect();
            loop {
                let kept = same.iter().copied().filter(|&phi| self.is_brought(phi, leader, &same)).collect();
                let before = std::mem::replace(&mut same, kept);
                if before.len() == same.len() {
                    break;
                }
            }
            changed |= !same.is_empty();
            self.twins.extend(same.into_iter().map(|phi| (phi, leader)));
        }
        changed
    }

    /// Is the invariant, or one of the φs that are the same, all that is brought to the φ?
    fn is_brought(&self, phi: ValueId, leader: ValueId, same: &BTreeSet<ValueId>) -> bool {
        let instruction = self.facts.instruction(phi).expect("a φ");
        let Op::Phi { incoming } = &instruction.op else { return false };
        let is_it = |v: ValueId| self.stands_for(v) == leader || same.contains(&v);
        // A compiler that knows `x == 7` on an edge writes 7 for it.
        instruction.operands.iter().zip(incoming).all(|(&value, &from)| {
            is_it(value) || self.equal_on_edge(from, instruction.block, value).is_some_and(is_it)
        })
    }

    /// What is compared with the constant so that control comes from `from` to `block` only if it is equal.
    fn equal_on_edge(&self, from: BlockId, block: BlockId, constant: ValueId) -> Option<ValueId> {
        let facts = self.facts;
        let number = |v: ValueId| match facts.value(v).kind {
            ValueKind::ConstantInt(number) => Some(number),
            _ => None,
        };
        number(constant)?;
        let terminator = facts.terminator(from)?;
        let Op::Branch { targets } = &terminator.op else { return None };
        let [on_true, on_false] = targets[..] else { return None };
        let condition = facts.instruction(*terminator.operands.first()?)?;
        let equal = match condition.op {
            Op::ICmp(Predicate::Eq) => on_true,
            Op::ICmp(Predicate::Ne) => on_false,
            _ => return None,
        };
        let [x, with] = condition.operands[..] else { return None };
        (equal == block && on_true != on_false && number(with) == number(constant)).then_some(x)
    }

    /// The address of a load, if it is the same in all instances.
    fn cell_of(&self, load: ValueId) -> Option<LoadedCell> {
        let Op::Load { pointer, .. } = self.facts.instruction(load)?.op else { return None };
        let address = self.invariant_address(pointer)?;
        Some(LoadedCell { address, type_name: self.facts.value(load).type_name.clone() })
    }

    fn invariant_address(&self, pointer: ValueId) -> Option<CellAddress> {
        let facts = self.facts;
        let (mut at, mut constant, mut terms) = (pointer, 0i64, Vec::new());
        for _ in 0..MAX_STEPS {
            at = self.stands_for(at);
            let Some(instruction) = facts.instruction(at) else {
                if let ValueKind::ConstantGep { base, offset } = facts.value(at).kind {
                    (at, constant) = (base, constant.checked_add(offset)?);
                }
                terms.sort_unstable();
                return Some(CellAddress { root: at, constant, terms });
            };
            at = match &instruction.op {
                Op::Gep { base, offset: Some(offset), .. } => {
                    constant = constant.checked_add(offset.constant)?;
                    for &(index, scale) in &offset.terms {
                        let index = self.stands_for(index);
                        if !self.is_hoistable(index, 0) {
                            return None;
                        }
                        terms.push((self.first_of_its_kind(index), scale));
                    }
                    *base
                }
                Op::Cast(CastOp::BitCast) => instruction.operands[0],
                _ if self.is_outside(at) => {
                    terms.sort_unstable();
                    return Some(CellAddress { root: at, constant, terms });
                }
                _ => return None,
            };
        }
        None
    }

    /// Two extensions of one value are one value.
    fn first_of_its_kind(&self, index: ValueId) -> ValueId {
        let facts = self.facts;
        let Some(instruction) = facts.instruction(index) else { return index };
        let Op::Cast(cast @ (CastOp::SExt | CastOp::ZExt)) = &instruction.op else { return index };
        let of = self.stands_for(instruction.operands[0]);
        let same = |v: ValueId| {
            let Some(other) = facts.instruction(v) else { return false };
            matches!(&other.op, Op::Cast(c) if c == cast)
                && facts.value(v).ty == facts.value(index).ty
                && self.stands_for(other.operands[0]) == of
        };
        self.instructions().find(|&v| same(v)).unwrap_or(index)
    }

    /// One of the writes goes to this very cell.
    fn is_certainly_written(&self, load: ValueId, cell: &CellAddress, writes: &[(ValueId, Option<i64>)]) -> bool {
        let bytes = self.facts.value(load).bytes as i64;
        writes.iter().any(|&(pointer, length)| {
            let Some(to) = self.invariant_address(pointer) else { return false };
            let apart = |length: i64| {
                to.constant.saturating_add(length) <= cell.constant
                    || cell.constant.saturating_add(bytes) <= to.constant
            };
            to.root == cell.root && to.terms == cell.terms && !length.is_some_and(apart)
        })
    }

    /// Does control get to the load's first execution, and with the same address, whatever the region writes before?
    fn is_reached_as_modelled(&self, load: ValueId) -> bool {
        if self.nothing_is_written_before(load) {
            return true;
        }
        let pointer = self.facts.instruction(load).expect("a load").operands[0];
        let ways = self.ways_to_first(load);
        let decided_by = ways.iter().filter_map(|&b| self.facts.terminator(b)).flat_map(|t| &t.operands);
        [pointer].iter().chain(decided_by).all(|&value| !self.rests_on_memory(value))
    }

    /// Is something of the region that reads memory among what the value is computed from?
    fn rests_on_memory(&self, value: ValueId) -> bool {
        let mut todo = vec![value];
        let mut seen = BTreeSet::new();
        while let Some(value) = todo.pop() {
            let Some(instruction) = self.facts.instruction(value).filter(|_| !self.is_defined_before(value)) else {
                continue;
            };
            if !seen.insert(value) {
                continue;
            }
            if instruction.reads_memory || instruction.side_effects {
                return true;
            }
            todo.extend(&instruction.operands);
        }
        false
    }

    /// Does every way from the start of the region to the load's first execution avoid all writes?
    fn nothing_is_written_before(&self, load: ValueId) -> bool {
        let facts = self.facts;
        let home = facts.instruction(load).expect("a load").block;
        let writes = |v: &ValueId| facts.instruction(*v).is_some_and(|i| i.writes_memory);
        let in_home = &facts.block(home).instructions;
        let at = in_home.iter().position(|&v| v == load).expect("in its block");
        if in_home[..at].iter().any(writes) {
            return false;
        }
        !self.ways_to_first(load).iter().flat_map(|&b| &facts.block(b).instructions).any(writes)
    }

    /// The blocks that control may go through before it first gets to the load's own.
    fn ways_to_first(&self, load: ValueId) -> BTreeSet<BlockId> {
        let facts = self.facts;
        let home = facts.instruction(load).expect("a load").block;
        if self.region.entry == home {
            return BTreeSet::new();
        }
        let before = |from: BlockId, next: &dyn Fn(BlockId) -> Vec<BlockId>| {
            let mut reached = BTreeSet::from([from]);
            let mut todo = vec![from];
            while let Some(block) = todo.pop() {
                for next in next(block) {
                    if self.region.contains(next) && next != home && reached.insert(next) {
                        todo.push(next);
                    }
                }
            }
            reached
        };
        let from_entry = before(self.region.entry, &|b| facts.block(b).successors.clone());
        let to_home = before(home, &|b| facts.block(b).predecessors.clone());
        from_entry.intersection(&to_home).copied().filter(|&b| b != home).collect()
    }

    pub fn is_read_once_before_writes(&self, load: ValueId) -> bool {
        let home = self.facts.instruction(load).expect("a load").block;
        self.facts.block(home).innermost_loop == self.region.scope && self.nothing_is_written_before(load)
    }

    /// A load of the cell that stands before the region, with nothing written in between.
    fn load_before(&self, cell: &LoadedCell) -> Option<ValueId> {
        let facts = self.facts;
        let writes = |v: &ValueId| facts.instruction(*v).is_some_and(|i| i.writes_memory || i.side_effects);
        let is_it =
            |v: &ValueId| self.is_load_of_number_or_pointer(*v) && self.cell_of(*v).is_some_and(|found| found == *cell);
        let mut block = self.region.entry;
        // Up a straight line only: behind a join, what other ways there have done would have to be known.
        loop {
            let from = &facts.block(block).predecessors;
            // Where the region is entered; if that is the header of a loop, not where it turns.
            let mut from = from.iter().copied().filter(|b| block != self.region.entry || !self.region.contains(*b));
            let (Some(above), None) = (from.next(), from.next()) else { return None };
            if self.region.contains(above) || facts.block(above).innermost_loop != self.region.scope {
                return None;
            }
            for v in facts.block(above).instructions.iter().rev() {
                if is_it(v) {
                    return Some(*v);
                }
                if writes(v) {
                    return None;
                }
            }
            block = above;
        }
    }

    /// What a person may call a value: by its own name, or by where it is, `m_8` for the value 8 bytes behind `m`.
    pub fn name_of(&self, value: ValueId) -> Option<String> {
        let own = &self.facts.value(value).name;
        if !own.is_empty() {
            return Some(own.clone());
        }
        let CellAddress { root, constant, terms } = &self.invariants.get(&value)?.cell.address;
        let root = self.name_of(*root)?;
        terms.is_empty().then(|| format!("{root}_{constant}"))
    }

    /// The invariants to be loaded whose values `value` is computed from.
    pub fn invariants_behind(&self, value: ValueId) -> BTreeSet<ValueId> {
        let mut behind = self.all_invariants_behind(value);
        behind.retain(|load| self.invariants[load].readable != Readable::Known);
        behind
    }

    /// The invariants whose values `value` is computed from, those that the program knows before the region too.
    pub fn all_invariants_behind(&self, value: ValueId) -> BTreeSet<ValueId> {
        let mut found = BTreeSet::new();
        let mut todo = vec![value];
        let mut seen = BTreeSet::new();
        while let Some(value) = todo.pop() {
            let value = self.stands_for(value);
            if !seen.insert(value) {
                continue;
            }
            if self.invariants.contains_key(&value) {
                found.insert(value);
            } else if let Some(instruction) = self.facts.instruction(value).filter(|_| !self.is_outside(value)) {
                todo.extend(&instruction.operands);
            }
        }
        found
    }

    /// What has to be loaded before the address of the invariant can be computed.
    pub fn needed_by(&self, load: ValueId) -> BTreeSet<ValueId> {
        let pointer = self.facts.instruction(load).expect("a load").operands[0];
        self.invariants_behind(pointer)
    }
}
