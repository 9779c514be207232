//! The run-time check. Its arithmetic is in ℤ or it fails: every operation that could leave 64 bits says so, and then the original
//! runs. Operations whose operands' ranges show that they cannot are plain.

use super::expression::{comparison, positive_divisor, power_of_two, write_arithmetic, write_division};
use super::inputs::Inputs;
use super::ir::{Builder, Compare, Value};
use super::{Site, WriteError};
use model::loop_ast::{BinaryOp, Expr, interval_of};
use model::plan::{CheckTerm, Extent, Test, Window};
use model::scop::{ArrayId, ParamId, ValueId};
use planted::Fault;

/// The new code is expected to run this many times for one run of the original.
pub(super) const EXPECTED: (u32, u32) = (127, 1);

/// A number of the check. `value` holds it exactly whenever no overflow was recorded; it then lies in low ..= high. `value` is
/// absent where the number does not fit at all: only comparisons that the ranges decide may use it.
#[derive(Clone, Copy)]
pub(super) struct Number {
    pub(super) value: Option<Value>,
    pub(super) low: i128,
    pub(super) high: i128,
}

/// Bits that are set where something overflowed, in one term of the check.
#[derive(Default)]
pub(super) struct Overflows {
    pub(super) bits: Vec<Value>,
    pub(super) always: bool,
}

/// Where an extent begins and ends in memory.
#[derive(Clone)]
pub(super) struct Ends {
    pub(super) empty: Value,
    /// The first address, and the one behind the last; not where one of the bits `wrapped` is set.
    pub(super) first: Value,
    pub(super) end: Value,
    pub(super) wrapped: Vec<Value>,
}

const I64: (i128, i128) = (i64::MIN as i128, i64::MAX as i128);

impl Number {
    pub(super) fn of(value: Value, low: i128, high: i128) -> Number {
        // Where no overflow was recorded the number fits, so that the range may be cut to 64 bits.
        Number { value: Some(value), low: low.max(I64.0), high: high.min(I64.1) }
    }
    fn never_negative(self) -> bool {
        self.low >= 0
    }
}

/// The check being written. A test that fails, or overflows, leaves for the original.
pub(super) struct Check<'s> {
    pub(super) site: &'s Site<'s>,
    pub(super) build: &'s Builder,
    inputs: Inputs<'s>,
    /// The extents that were computed.
    extents: Vec<(Extent, Ends)>,
    /// The number of a row that is looked at, and what stands for it.
    pub(super) row: Option<(ParamId, Number)>,
    /// Memory is got and given back.
    pub(super) allocates: bool,
}

impl<'s> Check<'s> {
    pub(super) fn new(inputs: Inputs<'s>) -> Self {
        Check { site: inputs.site, build: &inputs.site.build, inputs, extents: Vec::new(), row: None, allocates: false }
    }

    /// The builder then stands where all terms hold, and the inputs are all that new code needs from before the region. Beside them:
    /// whether memory is got and given back.
    pub(super) fn write(mut self, terms: &[CheckTerm]) -> Result<(Inputs<'s>, bool), WriteError> {
        for term in terms {
            match &term.test {
                Test::Preload { invariant, when } => self.write_preload(*invariant, when)?,
                Test::Holds(expr) => self.write_test(|check, overflows| check.checked_bool(expr, overflows))?,
                Test::Rows(rows) => self.write_rows(rows)?,
                Test::Disjoint { first, second, windows } => {
                    let windows = windows.as_deref();
                    self.write_test(|check, overflows| check.checked_disjoint(first, second, windows, overflows))?
                }
            }
        }
        Ok((self.inputs, self.allocates))
    }

    /// Loads an invariant where `when` says that the cell can be read. Elsewhere nothing that runs looks at it, and 0 will do.
    fn write_preload(&mut self, invariant: ValueId, when: &Expr) -> Result<(), WriteError> {
        let load = self.site.value(invariant);
        let pointer = load.operands()[0];
        if !self.inputs.is_known(pointer) {
            return Err(WriteError::Plan("a preload comes before one that it needs".into()));
        }
        let mut overflows = Overflows::default();
        let readable = self.checked_bool(when, &mut overflows)?;
        self.leave_on_overflow(overflows);
        // Outside of the condition: what was computed on the way is used behind it too.
        let pointer = self.inputs.hoisted(pointer);
        let from = self.build.block();
        let join = self.build.new_block(c"lw.check");
        let certain = readable.constant_bool() == Some(true) || planted::is(Fault::PreloadAlways);
        if !certain {
            let block = self.build.new_block(c"lw.preload");
            self.build.branch_if(readable, block, join);
            self.build.at_end(block);
        }
        let copy = self.build.load(load.ty(), pointer);
        copy.set_alignment(self.certain_alignment(invariant));
        let copy = self.build.freeze(copy);
        let loaded_in = self.build.block();
        self.build.branch(join);
        self.build.at_end(join);
        let value = self.build.phi(load.ty());
        value.add_incoming(copy, loaded_in);
        if !certain {
            value.add_incoming(load.ty().zero(), from);
        }
        self.inputs.know_invariant(invariant, value);
        self.inputs.write_params()
    }

    /// Which load of the cell the region gets to is not known here: the least that one of them promises.
    fn certain_alignment(&self, load: ValueId) -> u32 {
        let same = &self.site.region.scop.invariants[&load].same;
        let loads = same.iter().chain([&load]).map(|&id| self.site.value(id)).filter(|value| value.is_load());
        loads.map(Value::alignment).min().expect("a load")
    }

    /// Takes the original where the arithmetic of a preload's condition left 64 bits; continues in a new block.
    pub(super) fn leave_on_overflow(&mut self, overflows: Overflows) {
        let always = overflows.always.then(|| self.build.bool(true));
        let Some(any) = always.or_else(|| overflows.bits.into_iter().reduce(|a, b| self.build.or(a, b))) else {
            return;
        };
        let next = self.build.new_block(c"lw.check");
        self.build.branch_if(any, self.site.joints.original, next);
        self.build.at_end(next);
    }

    /// Leaves for the original unless the test holds; continues in a new block.
    fn write_test(
        &mut self,
        test: impl FnOnce(&mut Self, &mut Overflows) -> Result<Value, WriteError>,
    ) -> Result<(), WriteError> {
        let mut overflows = Overflows::default();
        let holds = test(self, &mut overflows)?;
        let mut ok = holds;
        if planted::is(Fault::OverflowUnnoticed) {
            overflows = Overflows::default();
        }
        if overflows.always {
            ok = self.build.bool(false);
        } else if let Some(any) = overflows.bits.into_iter().reduce(|a, b| self.build.or(a, b)) {
            ok = self.build.and(holds, self.build.not(any));
        }
        let next = self.build.new_block(c"lw.check");
        let branch = self.build.branch_if(ok, next, self.site.joints.original);
        if ok.constant_bool().is_none() {
            branch.set_branch_weights(EXPECTED.0, EXPECTED.1);
        }
        self.build.at_end(next);
        Ok(())
    }

    /// Both extents are `[p + low, p + high)` with p an unsigned address. Disjoint ⇔ one is empty, or one ends where or before the
    /// other begins.
    fn checked_disjoint(
        &mut self,
        first: &Extent,
        second: &Extent,
        windows: Option<&[Window; 2]>,
        overflows: &mut Overflows,
    ) -> Result<Value, WriteError> {
        let (a, b) = (self.checked_extent(first, overflows)?, self.checked_extent(second, overflows)?);
        let build = self.build;
        let a_before = build.compare(Compare::UnsignedLe, a.end, b.first);
        let b_before = build.compare(Compare::UnsignedLe, b.end, a.first);
        let mut apart = build.or(a_before, b_before);
        if let Some([window, other]) = windows {
            let bases = (self.base_in_check(first.array)?, self.base_in_check(second.array)?);
            // Rarely needed, and a division.
            let from = build.block();
            let (beside, join) = (build.new_block(c"lw.check"), build.new_block(c"lw.check"));
            build.branch_if(apart, join, beside);
            build.at_end(beside);
            let side_by_side = self.checked_windows((bases.0, window), (bases.1, other))?;
            let computed_in = build.block();
            build.branch(join);
            build.at_end(join);
            let both = build.phi(apart.ty());
            both.add_incoming(build.bool(true), from);
            both.add_incoming(side_by_side, computed_in);
            apart = both;
        }
        for &bit in a.wrapped.iter().chain(&b.wrapped) {
            apart = build.and(apart, build.not(bit));
        }
        // Where one is empty its addresses mean nothing and may have wrapped.
        Ok(build.or(build.or(a.empty, b.empty), apart))
    }

    /// Are the windows of two arrays apart, in rows that are equally long?
    ///
    /// Let f and g be the addresses at which a window of v and one of w bytes begin, f ≤ g, the rows s bytes long, and r = (g − f) mod s.
    /// Where v ≤ r and r + w ≤ s, a byte of the first has a distance from f that is, modulo s, in 0 .. v, and a byte of the other one in
    /// r .. r + w. No address is beyond 64 bits: the caller sees to that for the extents, which are in numbers what is meant here.
    ///
    /// What is computed here is used nowhere else, overflows included.
    fn checked_windows(&mut self, a: (Value, &Window), b: (Value, &Window)) -> Result<Value, WriteError> {
        let build = self.build;
        let mut overflows = Overflows::default();
        let mut wrapped = Vec::new();
        let mut begins_and_widths = Vec::new();
        let mut strides = Vec::new();
        for (base, window) in [a, b] {
            let [low, high, stride] = [
                self.checked_int(&window.low, &mut overflows)?,
                self.checked_int(&window.high, &mut overflows)?,
                self.checked_int(&window.stride, &mut overflows)?,
            ];
            let width = self.checked_arithmetic(BinaryOp::Sub, high, low, &mut overflows);
            let (Some(low_value), Some(width), Some(stride)) = (low.value, width.value, stride.value) else {
                return Ok(build.bool(false));
            };
            let begin = self.checked_address(build.address(base), low, low_value, &mut wrapped);
            begins_and_widths.push((begin, width));
            strides.push(stride);
        }
        if overflows.always {
            return Ok(build.bool(false));
        }
        let [(f, v), (g, w)] = [begins_and_widths[0], begins_and_widths[1]];
        let one = build.constant(1);
        let in_order = build.compare(Compare::UnsignedLe, f, g);
        let distance = build.select(in_order, build.sub(g, f), build.sub(f, g));
        let (first, second) = (build.select(in_order, v, w), build.select(in_order, w, v));
        let mut ok =
            build.and(build.compare(Compare::Eq, strides[0], strides[1]), build.compare(Compare::Ge, strides[0], one));
        // No division by zero, whatever comes of the rest; and no width is longer than a row, so that sums are no overflow.
        let stride = build.select(ok, strides[0], one);
        for width in [first, second] {
            ok = build.and(ok, build.compare(Compare::UnsignedLe, width, stride));
        }
        let rest = build.urem(distance, stride);
        ok = build.and(ok, build.compare(Compare::UnsignedLe, first, rest));
        ok = build.and(ok, build.compare(Compare::UnsignedLe, second, build.sub(stride, rest)));
        for bit in overflows.bits.into_iter().chain(wrapped) {
            ok = build.and(ok, build.not(bit));
        }
        Ok(ok)
    }

    /// Every term runs only where those before it held, without an overflow; so what they computed can be used again.
    pub(super) fn checked_extent(&mut self, extent: &Extent, overflows: &mut Overflows) -> Result<Ends, WriteError> {
        if let Some((_, ends)) = self.extents.iter().find(|(known, _)| known == extent) {
            return Ok(ends.clone());
        }
        let ends = self.new_extent(extent, overflows)?;
        self.extents.push((extent.clone(), ends.clone()));
        Ok(ends)
    }

    fn new_extent(&mut self, extent: &Extent, overflows: &mut Overflows) -> Result<Ends, WriteError> {
        let base = self.base_in_check(extent.array)?;
        let (low, high) = (self.checked_int(&extent.low, overflows)?, self.checked_int(&extent.high, overflows)?);
        let (Some(low_value), Some(high_value)) = (low.value, high.value) else {
            overflows.always = true;
            let zero = self.build.constant(0);
            return Ok(Ends { empty: self.build.bool(false), first: zero, end: zero, wrapped: Vec::new() });
        };
        let empty = match (low.low >= high.high, low.high < high.low) {
            (true, _) => self.build.bool(true),
            (_, true) => self.build.bool(false),
            _ => self.build.compare(Compare::Ge, low_value, high_value),
        };
        let address = self.build.address(base);
        let mut wrapped = Vec::new();
        let first = self.checked_address(address, low, low_value, &mut wrapped);
        let end = self.checked_address(address, high, high_value, &mut wrapped);
        Ok(Ends { empty, first, end, wrapped })
    }

    pub(super) fn base_in_check(&mut self, array: ArrayId) -> Result<Value, WriteError> {
        if self.site.region.errno == Some(array) {
            return self.site.errno_location().ok_or_else(|| WriteError::Plan("the check cannot ask for errno".into()));
        }
        let base = self.site.region.bases.get(&array);
        let base = base.ok_or_else(|| WriteError::Plan(format!("the check names {array}, which has no base")))?;
        Ok(self.inputs.hoisted(self.site.value(*base)))
    }

    /// `address + offset` where the address is unsigned and the offset signed.
    pub(super) fn checked_address(
        &self,
        address: Value,
        offset: Number,
        value: Value,
        wrapped: &mut Vec<Value>,
    ) -> Value {
        if (offset.low, offset.high) == (0, 0) {
            return address;
        }
        // As unsigned numbers the offset o ≥ 0 is itself and o < 0 is 2⁶⁴ + o. The exact sum lies in 0 .. 2⁶⁴ in the first case
        // iff nothing is carried, in the second iff something is: it does not iff carry ≠ (o < 0).
        let sum = self.build.intrinsic("llvm.uadd.with.overflow", address, value);
        let carry = self.build.field(sum, 1);
        let zero = self.build.constant(0);
        wrapped.push(if offset.never_negative() {
            carry
        } else {
            self.build.xor(carry, self.build.compare(Compare::Lt, value, zero))
        });
        self.build.field(sum, 0)
    }

    pub(super) fn checked_bool(&mut self, expr: &Expr, overflows: &mut Overflows) -> Result<Value, WriteError> {
        if let Expr::Binary(op, a, b) = expr {
            if let Some(how) = comparison(*op) {
                if let Some((difference, limit)) = against_constant(a, b) {
                    let difference = self.checked_int(&difference, overflows)?;
                    let limit = self.checked_int(&Expr::Int(limit), overflows)?;
                    return Ok(self.checked_compare(how, difference, limit, overflows));
                }
                let (a, b) = (self.checked_int(a, overflows)?, self.checked_int(b, overflows)?);
                return Ok(self.checked_compare(how, a, b, overflows));
            }
            if matches!(op, BinaryOp::And | BinaryOp::Or) {
                let (a, b) = (self.checked_bool(a, overflows)?, self.checked_bool(b, overflows)?);
                return Ok(if *op == BinaryOp::And { self.build.and(a, b) } else { self.build.or(a, b) });
            }
        }
        let number = self.checked_int(expr, overflows)?;
        let zero = Number::of(self.build.constant(0), 0, 0);
        let is_zero = self.checked_compare(Compare::Eq, number, zero, overflows);
        Ok(self.build.not(is_zero))
    }

    fn checked_compare(&self, how: Compare, a: Number, b: Number, overflows: &mut Overflows) -> Value {
        // Always or never true for all numbers in the ranges?
        let decided = match how {
            Compare::Lt if a.high < b.low => Some(true),
            Compare::Lt if a.low >= b.high => Some(false),
            Compare::Le if a.high <= b.low => Some(true),
            Compare::Le if a.low > b.high => Some(false),
            Compare::Gt if a.low > b.high => Some(true),
            Compare::Gt if a.high <= b.low => Some(false),
            Compare::Ge if a.low >= b.high => Some(true),
            Compare::Ge if a.high < b.low => Some(false),
            Compare::Eq if a.high < b.low || b.high < a.low => Some(false),
            _ => None,
        };
        match (decided, a.value, b.value) {
            (Some(truth), ..) => self.build.bool(truth),
            (None, Some(a), Some(b)) => self.build.compare(how, a, b),
            _ => {
                overflows.always = true;
                self.build.bool(false)
            }
        }
    }

    pub(super) fn checked_int(&mut self, expr: &Expr, overflows: &mut Overflows) -> Result<Number, WriteError> {
        Ok(match expr {
            Expr::Int(value) => {
                let constant = i64::try_from(*value).ok().map(|v| self.build.constant(v));
                Number { value: constant, low: *value, high: *value }
            }
            Expr::Param(param) if self.row.is_some_and(|(row, _)| row == *param) => self.row.expect("it is").1,
            Expr::Param(param) => {
                let known = self.site.region.scop.params.get(param.index());
                let (Some(value), Some(known)) = (self.inputs.param(*param), known) else {
                    return Err(WriteError::Plan(format!("the parameter {param} does not exist")));
                };
                Number::of(value, known.range.0, known.range.1)
            }
            Expr::Counter(_) => return Err(WriteError::Plan("a loop counter in the check".into())),
            Expr::Neg(operand) => {
                let zero = Number::of(self.build.constant(0), 0, 0);
                let operand = self.checked_int(operand, overflows)?;
                self.checked_arithmetic(BinaryOp::Sub, zero, operand, overflows)
            }
            Expr::Binary(op, a, b) => match op {
                BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Min | BinaryOp::Max => {
                    let (a, b) = (self.checked_int(a, overflows)?, self.checked_int(b, overflows)?);
                    self.checked_arithmetic(*op, a, b, overflows)
                }
                BinaryOp::FloorDiv
                | BinaryOp::ExactDiv
                | BinaryOp::NonNegDiv
                | BinaryOp::NonNegRem
                | BinaryOp::ZeroTestRem => {
                    let divisor = positive_divisor(b)?;
                    let dividend = self.checked_int(a, overflows)?;
                    self.checked_division(*op, dividend, divisor, overflows)
                }
                BinaryOp::Power => {
                    power_of_two(a)?;
                    let exponent = self.checked_int(b, overflows)?;
                    self.checked_power_of_two(exponent, overflows)
                }
                BinaryOp::Eq
                | BinaryOp::Lt
                | BinaryOp::Le
                | BinaryOp::Gt
                | BinaryOp::Ge
                | BinaryOp::And
                | BinaryOp::Or => {
                    let truth = self.checked_bool(expr, overflows)?;
                    Number::of(self.build.zext(truth, self.build.i64()), 0, 1)
                }
            },
            Expr::Select { condition, then, otherwise } => {
                let condition = self.checked_bool(condition, overflows)?;
                let (a, b) = (self.checked_int(then, overflows)?, self.checked_int(otherwise, overflows)?);
                let value = a.value.zip(b.value).map(|(a, b)| self.build.select(condition, a, b));
                Number { value, low: a.low.min(b.low), high: a.high.max(b.high) }
            }
        })
    }

    fn checked_arithmetic(&self, op: BinaryOp, a: Number, b: Number, overflows: &mut Overflows) -> Number {
        let range = interval_of(op, (a.low, a.high), (b.low, b.high));
        // Numbers of which nothing is known: those that have a value have products of 127 bits at most.
        let (low, high) = range.unwrap_or((i128::MIN, i128::MAX));
        let (Some(x), Some(y)) = (a.value, b.value) else { return Number { value: None, low, high } };
        let build = self.build;
        let name = match op {
            BinaryOp::Add => "llvm.sadd.with.overflow",
            BinaryOp::Sub => "llvm.ssub.with.overflow",
            BinaryOp::Mul => "llvm.smul.with.overflow",
            BinaryOp::Min => return Number::of(build.intrinsic("llvm.smin", x, y), low, high),
            _ => return Number::of(build.intrinsic("llvm.smax", x, y), low, high),
        };
        if low >= I64.0 && high <= I64.1 {
            return Number::of(write_arithmetic(build, op, x, y), low, high);
        }
        if low > I64.1 || high < I64.0 {
            return Number { value: None, low, high };
        }
        let pair = build.intrinsic(name, x, y);
        overflows.bits.push(build.field(pair, 1));
        Number::of(build.field(pair, 0), low, high)
    }

    /// 2^x for 0 ≤ x ≤ 62; any other exponent counts as an overflow.
    fn checked_power_of_two(&self, exponent: Number, overflows: &mut Overflows) -> Number {
        const MOST: i64 = 62;
        let most = i128::from(MOST);
        let range = (1 << exponent.low.clamp(0, most), 1 << exponent.high.clamp(0, most));
        let Some(x) = exponent.value.filter(|_| exponent.low <= most && exponent.high >= 0) else {
            overflows.always = true;
            return Number { value: None, low: range.0, high: range.1 };
        };
        let build = self.build;
        let mut shift = x;
        if exponent.low < 0 || exponent.high > most {
            let fits = build.compare(Compare::UnsignedLe, x, build.constant(MOST));
            overflows.bits.push(build.not(fits));
            // A shift by more than there are bits would be poison, and poison the branch.
            shift = build.and(x, build.constant(63));
        }
        Number::of(build.shl(build.constant(1), shift), range.0, range.1)
    }

    /// Rounds towards −∞ whatever is claimed of the dividend: the claim may rest on a later term.
    fn checked_division(&self, op: BinaryOp, a: Number, divisor: i64, overflows: &mut Overflows) -> Number {
        let d = i128::from(divisor);
        let Some(value) = a.value else {
            overflows.always = true;
            return a;
        };
        let quotient = write_division(self.build, BinaryOp::FloorDiv, value, divisor);
        match op {
            BinaryOp::FloorDiv | BinaryOp::ExactDiv | BinaryOp::NonNegDiv => {
                Number::of(quotient, a.low.div_euclid(d), a.high.div_euclid(d))
            }
            _ => {
                // 0 ≤ x − d·⌊x/d⌋ < d; the product may wrap where x is near the least number, and the difference undoes it.
                let product = self.build.mul(quotient, self.build.constant(divisor));
                Number::of(self.build.sub(value, product), 0, d - 1)
            }
        }
    }
}

/// `a + c ⋈ b` as `a − b ⋈ −c` where c is so large that adding it overflows for nearly all a, though what is compared is small: that
/// is how isl writes "p − q fits its type" for two addresses.
fn against_constant(a: &Expr, b: &Expr) -> Option<(Expr, i128)> {
    const LARGE: i128 = 1 << 62;
    let split = |e: &Expr| match e {
        Expr::Binary(BinaryOp::Add, e, c) if matches!(**c, Expr::Int(_)) => (Some((**e).clone()), constant(c)),
        Expr::Binary(BinaryOp::Add, c, e) if matches!(**c, Expr::Int(_)) => (Some((**e).clone()), constant(c)),
        Expr::Binary(BinaryOp::Sub, e, c) if matches!(**c, Expr::Int(_)) => (Some((**e).clone()), -constant(c)),
        Expr::Int(c) => (None, *c),
        e => (Some(e.clone()), 0),
    };
    let ((a, c), (b, d)) = (split(a), split(b));
    let (Some(a), Some(b)) = (a, b) else { return None };
    let limit = d.checked_sub(c)?;
    (limit.abs() >= LARGE).then(|| (Expr::binary(BinaryOp::Sub, a, b), limit))
}

fn constant(e: &Expr) -> i128 {
    if let Expr::Int(c) = e { *c } else { 0 }
}
