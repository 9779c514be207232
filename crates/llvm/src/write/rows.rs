//! The test that rows behind pointers are apart.
//!
//! ```text
//!   for each array of rows:  for each row that is touched:  p = its pointer; look at [p + low, p + high)
//!   each array that is written ascends or descends, and no array reaches into another one?  ─▶ it holds
//!   else, if there is enough work:  the same into memory of our own, sorted, and each compared with those before it
//! ```
//! An address of 2⁶³ or more takes the original, as does all arithmetic that overflows.

use super::Site;
use super::WriteError;
use super::check::{Check, EXPECTED, Ends, Number, Overflows};
use super::ir::{Builder, Compare, Library, Type, Value};
use model::plan::{MAX_SORTED_BYTES, RowExtent, RowsTest};
use model::scop::ArrayId;
use planted::Fault;

/// What was seen of the rows of an array, in variables: the first byte and the one behind the last; those of the row before; and whether each
/// row began behind the one before it, or ended before it.
struct Seen {
    low: Value,
    high: Value,
    first: Value,
    end: Value,
    ascends: Value,
    descends: Value,
}

/// The bytes of a row: two addresses, and whether it is written.
const ENTRY_BYTES: i64 = 16;

impl Site<'_> {
    /// What the addresses of the pointers to the rows of an array are multiples of.
    pub(super) fn alignment_of_pointers(&self, array: ArrayId) -> u32 {
        let loads = self.region.row_loads.get(&array).into_iter().flatten().map(|&load| self.value(load).alignment());
        loads.min().unwrap_or(1)
    }
}

impl Check<'_> {
    pub(super) fn write_rows(&mut self, test: &RowsTest) -> Result<(), WriteError> {
        let build = self.build;
        let original = self.site.joints.original;
        let mut others = Vec::new();
        for other in &test.others {
            let mut overflows = Overflows::default();
            let ends = self.checked_extent(&other.extent, &mut overflows)?;
            let wrong = ends.wrapped.iter().fold(self.is_large(ends.first, ends.end), |any, &bit| build.or(any, bit));
            overflows.bits.push(build.and(wrong, build.not(ends.empty)));
            self.leave_on_overflow(overflows);
            others.push((ends, other.written));
        }
        let count = self.variable(0);
        let mut all = Vec::new();
        for rows in &test.rows {
            let seen = Seen {
                low: self.variable(-1),
                high: self.variable(0),
                first: self.variable(-1),
                end: self.variable(0),
                ascends: self.variable(1),
                descends: self.variable(1),
            };
            let cells = || test.cells.iter().filter(|&&k| rows.written || others[k].1).map(|&k| &others[k].0);
            self.for_each_row(rows, |check, first, end| {
                for cell in cells().filter(|_| !planted::is(Fault::RowPointersReadAtOnce)) {
                    let before = build.compare(Compare::UnsignedLe, end, cell.first);
                    let behind = build.compare(Compare::UnsignedLe, cell.end, first);
                    check.go_on_if(build.or(cell.empty, build.or(before, behind)));
                }
                check.look_at(&seen, first, end);
                check.change(count, |count| build.add(count, build.constant(1)));
            })?;
            all.push((seen, rows.written));
        }
        let fast = self.in_order(&all, &others);
        let Some(sorted_if) = &test.sorted_if else {
            self.go_on_if(fast);
            return Ok(());
        };
        let holds = build.new_block(c"lw.check");
        let sort = build.new_block(c"lw.rows.sort");
        build.branch_if(fast, holds, sort);
        build.at_end(sort);
        let mut overflows = Overflows::default();
        let worth = self.checked_bool(sorted_if, &mut overflows)?;
        self.leave_on_overflow(overflows);
        let count = build.add(build.load(build.i64(), count), build.constant(others.len() as i64));
        let small = build.compare(Compare::Le, count, build.constant(MAX_SORTED_BYTES / ENTRY_BYTES));
        self.go_on_if(build.and(worth, small));
        let apart = self.sorted_apart(test, &others, count)?;
        build.branch_if(apart, holds, original).set_branch_weights(EXPECTED.0, EXPECTED.1);
        build.at_end(holds);
        Ok(())
    }

    /// A variable of the check, which SROA makes a register of.
    fn variable(&self, value: i64) -> Value {
        let top = self.site.function.entry_block().instructions()[0];
        let variable = self.build.elsewhere(|b| b.before(top), |b| b.alloca(b.i64()));
        self.build.store(self.build.constant(value), variable);
        variable
    }

    fn change(&self, variable: Value, to: impl FnOnce(Value) -> Value) {
        let now = to(self.build.load(self.build.i64(), variable));
        self.build.store(now, variable);
    }

    /// Is one of two addresses too large to be doubled?
    fn is_large(&self, first: Value, end: Value) -> Value {
        self.build.compare(Compare::Lt, self.build.or(first, end), self.build.constant(0))
    }

    /// Takes the original unless the condition holds.
    fn go_on_if(&self, condition: Value) {
        let next = self.build.new_block(c"lw.check");
        let branch = self.build.branch_if(condition, next, self.site.joints.original);
        if condition.constant_bool().is_none() {
            branch.set_branch_weights(EXPECTED.0, EXPECTED.1);
        }
        self.build.at_end(next);
    }

    /// Lets `each` see where every touched row begins and ends. A row of which nothing is touched is not looked at, nor is its pointer.
    fn for_each_row(&mut self, rows: &RowExtent, each: impl FnOnce(&mut Self, Value, Value)) -> Result<(), WriteError> {
        let build = self.build;
        let described = self.site.region.scop.arrays.get(&rows.array).and_then(|array| array.rows);
        let described = described.ok_or_else(|| WriteError::Plan(format!("{} has no rows", rows.array)))?;
        let base = self.base_in_check(described.pointers)?;
        let mut overflows = Overflows::default();
        let (first, end) =
            (self.checked_int(&rows.first, &mut overflows)?, self.checked_int(&rows.end, &mut overflows)?);
        let [first_row, end_row] = self.known_or_leave([first, end], &mut overflows);
        self.leave_on_overflow(overflows);
        let before = build.block();
        let [head, body, look, next, done] =
            [c"lw.rows", c"lw.row", c"lw.row.touched", c"lw.row.next", c"lw.rows.done"]
                .map(|name| build.new_block(name));
        build.branch(head);
        build.at_end(head);
        let counter = build.phi(build.i64());
        counter.add_incoming(first_row, before);
        build.branch_if(build.compare(Compare::Lt, counter, end_row), body, done);

        build.at_end(body);
        // first + (end − 1 − counter), which lies between the two.
        let from_behind = |counter| build.sub(build.add(first_row, build.sub(end_row, build.constant(1))), counter);
        let row = if rows.backwards { from_behind(counter) } else { counter };
        self.row = Some((rows.row, Number::of(row, first.low, end.high - 1)));
        let mut overflows = Overflows::default();
        let touched = self.checked_bool(&rows.touched, &mut overflows)?;
        self.leave_on_overflow(overflows);
        build.branch_if(touched, look, next);

        build.at_end(look);
        let mut overflows = Overflows::default();
        let (low, high) = (self.checked_int(&rows.low, &mut overflows)?, self.checked_int(&rows.high, &mut overflows)?);
        let [low_value, high_value] = self.known_or_leave([low, high], &mut overflows);
        self.leave_on_overflow(overflows);
        let offset = build.mul(row, build.constant(described.stride));
        let place = build.offset(base, build.add(offset, build.constant(described.first)));
        let pointer = build.load(build.pointer(), place);
        pointer.set_alignment(self.site.alignment_of_pointers(rows.array));
        let address = build.address(build.freeze(pointer));
        let mut wrapped = Vec::new();
        let first = self.checked_address(address, low, low_value, &mut wrapped);
        let end = self.checked_address(address, high, high_value, &mut wrapped);
        let some = build.compare(Compare::Lt, low_value, high_value);
        let wrong = wrapped.into_iter().fold(self.is_large(first, end), |any, bit| build.or(any, bit));
        self.go_on_if(build.not(build.and(some, wrong)));
        let seen = build.new_block(c"lw.row.seen");
        build.branch_if(some, seen, next);
        build.at_end(seen);
        each(self, first, end);
        build.branch(next);

        self.row = None;
        build.at_end(next);
        counter.add_incoming(build.add(counter, build.constant(1)), next);
        build.branch(head);
        build.at_end(done);
        Ok(())
    }

    /// Their values; where one does not fit 64 bits, the original runs.
    fn known_or_leave<const N: usize>(&self, numbers: [Number; N], overflows: &mut Overflows) -> [Value; N] {
        numbers.map(|number| {
            overflows.always |= number.value.is_none();
            number.value.unwrap_or(self.build.constant(0))
        })
    }

    fn look_at(&self, seen: &Seen, first: Value, end: Value) {
        let build = self.build;
        let bit = |condition| build.zext(condition, build.i64());
        let before = |variable| build.load(build.i64(), variable);
        let behind = bit(build.compare(Compare::UnsignedLe, before(seen.end), first));
        let ahead = bit(build.compare(Compare::UnsignedLe, end, before(seen.first)));
        self.change(seen.ascends, |so_far| build.and(so_far, behind));
        self.change(seen.descends, |so_far| build.and(so_far, ahead));
        self.change(seen.low, |low| build.intrinsic("llvm.umin", low, first));
        self.change(seen.high, |high| build.intrinsic("llvm.umax", high, end));
        build.store(first, seen.first);
        build.store(end, seen.end);
    }

    /// Are the rows of each array that is written in order, and arrays, of which one is written, apart as a whole?
    ///
    /// In ascending order each row begins behind the end of the one before it, and so of all before it; in descending order likewise.
    fn in_order(&self, all: &[(Seen, bool)], others: &[(Ends, bool)]) -> Value {
        let build = self.build;
        let now = |variable| build.load(build.i64(), variable);
        let ends: Vec<(Value, Value)> = all.iter().map(|(seen, _)| (now(seen.low), now(seen.high))).collect();
        let apart = |a: (Value, Value), b: (Value, Value)| {
            let a_before = build.compare(Compare::UnsignedLe, a.1, b.0);
            build.or(a_before, build.compare(Compare::UnsignedLe, b.1, a.0))
        };
        let mut fast = build.bool(true);
        for (k, (seen, written)) in all.iter().enumerate() {
            if *written {
                let ordered = build.or(now(seen.ascends), now(seen.descends));
                fast = build.and(fast, build.compare(Compare::Ne, ordered, build.constant(0)));
            }
            for (other, (_, also_written)) in all.iter().enumerate().skip(k + 1) {
                if *written || *also_written {
                    fast = build.and(fast, apart(ends[k], ends[other]));
                }
            }
            for (other, also_written) in others {
                if *written || *also_written {
                    fast = build.and(fast, build.or(other.empty, apart(ends[k], (other.first, other.end))));
                }
            }
        }
        fast
    }

    /// Are all of them apart where one of two is written? Takes the original if there is no memory for them.
    fn sorted_apart(&mut self, test: &RowsTest, others: &[(Ends, bool)], count: Value) -> Result<Value, WriteError> {
        let (build, site) = (self.build, self.site);
        self.allocates = true;
        let unknown = || WriteError::Plan("the check may not get memory".into());
        let malloc = Library::Malloc.declared_for(site.function).ok_or_else(unknown)?;
        let free = Library::Free.declared_for(site.function).ok_or_else(unknown)?;
        let malloc_type = build.function_type(build.pointer(), &[build.i64()], false);
        let free_type = build.function_type(build.void(), &[build.pointer()], false);
        let bytes = build.mul(count, build.constant(ENTRY_BYTES));
        let memory = site.call_beside_errno(|| build.call(malloc_type, malloc, &[bytes]));
        self.go_on_if(build.compare(Compare::Ne, memory, build.null()));
        let end_of_list = self.variable(0);
        let add = |check: &Self, first: Value, end: Value, written: bool| {
            let at = build.load(build.i64(), end_of_list);
            let entry = build.offset(memory, build.mul(at, build.constant(ENTRY_BYTES)));
            build.store(first, entry);
            let doubled = build.add(build.add(end, end), build.constant(written.into()));
            build.store(doubled, build.offset(entry, build.constant(ENTRY_BYTES / 2)));
            check.change(end_of_list, |at| build.add(at, build.constant(1)));
        };
        for rows in &test.rows {
            self.for_each_row(rows, |check, first, end| add(check, first, end, rows.written))?;
        }
        for (ends, written) in others {
            // What is empty is where nobody else is.
            let (nowhere, end) = (build.constant(0), build.select(ends.empty, build.constant(0), ends.end));
            add(self, build.select(ends.empty, nowhere, ends.first), end, *written);
        }
        let count = build.load(build.i64(), end_of_list);
        let (ty, apart) = site.apart_function();
        let result = build.call(ty, apart, &[memory, count]);
        site.call_beside_errno(|| build.call(free_type, free, &[memory]));
        Ok(build.compare(Compare::Ne, result, build.constant(0)))
    }
}

impl Site<'_> {
    /// `apart(entries, count)`, with its type: one function for all checks of the module. An entry is the first address of a range and,
    /// doubled, the one behind its last, plus 1 if it is written. It sorts them, and is not 0 if none that is written has a byte in
    /// common with another.
    fn apart_function(&self) -> (Type, Value) {
        let build = &self.build;
        let ty = build.function_type(build.i64(), &[build.pointer(), build.i64()], false);
        if let Some(known) = self.function.module().function(c"loopwright.apart") {
            return (ty, known);
        }
        let function = build.worker(self.function, "loopwright.apart", ty);
        let here = build.block();
        build.set_location(function.artificial_location());
        let entry = build.new_block_in(function, c"");
        build.at_end(entry);
        let (entries, count) = (function.argument(0), function.argument(1));
        write_sort(build, entries, count);
        write_sweep(build, entries, count);
        build.set_location(self.function.artificial_location());
        build.at_end(here);
        (ty, function)
    }
}

/// Where the n-th entry has its first address, and its end.
fn fields(build: &Builder, entries: Value, n: Value) -> [Value; 2] {
    let entry = build.offset(entries, build.mul(n, build.constant(ENTRY_BYTES)));
    [entry, build.offset(entry, build.constant(ENTRY_BYTES / 2))]
}

/// Shell's sort by first addresses, in place. The builder then stands behind it.
fn write_sort(build: &Builder, entries: Value, count: Value) {
    let int = build.i64();
    let [gaps, insert, take, shift, compare, moved, placed, done] =
        [c"gap", c"insert", c"take", c"shift", c"compare", c"moved", c"placed", c"sorted"].map(|n| build.new_block(n));
    let (zero, one) = (build.constant(0), build.constant(1));
    let before = build.block();
    build.branch(gaps);

    build.at_end(gaps);
    let last_gap = build.phi(int);
    let smaller = build.udiv(build.mul(last_gap, build.constant(5)), build.constant(11));
    let is_two = build.compare(Compare::Eq, last_gap, build.constant(2));
    let gap = build.select(is_two, one, smaller);
    last_gap.add_incoming(count, before);
    last_gap.add_incoming(gap, insert);
    build.branch_if(build.compare(Compare::Eq, gap, zero), done, insert);

    build.at_end(insert);
    let number = build.phi(int);
    number.add_incoming(gap, gaps);
    build.branch_if(build.compare(Compare::Lt, number, count), take, gaps);

    build.at_end(take);
    let taken = fields(build, entries, number).map(|field| build.load(int, field));
    build.branch(shift);

    build.at_end(shift);
    let hole = build.phi(int);
    hole.add_incoming(number, take);
    build.branch_if(build.compare(Compare::Ge, hole, gap), compare, placed);

    build.at_end(compare);
    let above = build.sub(hole, gap);
    let from = fields(build, entries, above);
    let first = build.load(int, from[0]);
    build.branch_if(build.compare(Compare::UnsignedLe, first, taken[0]), placed, moved);

    build.at_end(moved);
    let end = build.load(int, from[1]);
    let to = fields(build, entries, hole);
    build.store(first, to[0]);
    build.store(end, to[1]);
    hole.add_incoming(above, moved);
    build.branch(shift);

    build.at_end(placed);
    let to = fields(build, entries, hole);
    build.store(taken[0], to[0]);
    build.store(taken[1], to[1]);
    number.add_incoming(build.add(number, one), placed);
    build.branch(insert);
    build.at_end(done);
}

/// Entries in the order of their first addresses: one has a byte in common with another before it if it begins before the last end among
/// those. For one that is written all others count, else those that are written.
fn write_sweep(build: &Builder, entries: Value, count: Value) {
    let int = build.i64();
    let [head, look, next, apart, meet] =
        [c"sweep", c"look", c"next", c"apart", c"meet"].map(|name| build.new_block(name));
    let (zero, one) = (build.constant(0), build.constant(1));
    let before = build.block();
    build.branch(head);

    build.at_end(head);
    let [number, end_of_all, end_of_written] = [(); 3].map(|()| build.phi(int));
    for variable in [number, end_of_all, end_of_written] {
        variable.add_incoming(zero, before);
    }
    build.branch_if(build.compare(Compare::Lt, number, count), look, apart);

    build.at_end(look);
    let [first, marked] = fields(build, entries, number).map(|field| build.load(int, field));
    let is_written = build.compare(Compare::Ne, build.and(marked, one), zero);
    let end = build.udiv(marked, build.constant(2));
    let limit = build.select(is_written, end_of_all, end_of_written);
    build.branch_if(build.compare(Compare::UnsignedLe, limit, first), next, meet);

    build.at_end(next);
    number.add_incoming(build.add(number, one), next);
    end_of_all.add_incoming(build.intrinsic("llvm.umax", end_of_all, end), next);
    let with_this = build.intrinsic("llvm.umax", end_of_written, end);
    end_of_written.add_incoming(build.select(is_written, with_this, end_of_written), next);
    build.branch(head);
    build.at_end(apart);
    build.return_value(one);
    build.at_end(meet);
    build.return_value(zero);
}
