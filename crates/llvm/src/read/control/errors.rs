//! Errors are assumed not to happen, and what the program says of itself is believed.
//!
//! A *promise* (`llvm.assume`, a branch to `unreachable`) says that something holds whenever control gets to it. So it speaks of
//! instances that are reached, and tells nothing of parameters for which control stops before: at an error, wherever it stands in
//! the text, since an earlier iteration may run into it; in a loop that never ends. The same is true of no-wrap flags, but those are
//! only ever used for the value in an instance of its own, which needs no more than that this instance is reached: let d be the
//! first instance in which the original does something else than the model. Everything before d is as modelled, so d is reached
//! and what it promises of itself holds; so it is an error taken, a number that wraps without a promise, or a loop that does not
//! end, and each of these is excluded by an assumption, computed from all instances of the model and d among them.
//!
//! What a promise tells of the *parameters* may make assumptions simpler, those about errors too. It is believed where it holds for
//! all parameters with which the program has a meaning: where the assumptions made so far imply that control gets to it. Those are
//! enough once the whole outermost loop around it was read, or at once if nothing in that loop can stop control ([`Control::promise`]).

use super::Control;
use super::guards::hints;
use crate::facts::{BlockId, CastOp, Instruction, Loop, LoopId, Op, Predicate, ValueId, ValueKind};
use crate::read::Stop;
use crate::read::arithmetic::{MAX_ASSUMPTION_PARTS, NotAffine, Scope};
use isl::{DimType, Set};
use model::assume::{Assumption, AssumptionKind};
use model::refusal::RefusalKind;
use model::scop::Param;
use model::source::Line;
use planted::Fault;
use std::collections::BTreeSet;

/// A branch that leads to an error.
pub struct ErrorBranch {
    /// The error is reached where the condition is (not) true; none for a case of a `switch`.
    pub condition: Option<(ValueId, bool)>,
    pub error: BlockId,
}

impl Control<'_, '_> {
    /// Takes for granted that a branch on a condition leads to the error in no instance.
    pub fn assume_passed(&mut self, check: ErrorBranch, scope: &Scope) -> Result<(), Stop> {
        let Some((condition, fails)) = check.condition else { return Ok(()) };
        let (condition, trusted) = self.without_freeze(condition);
        let mark = self.arithmetic.known.mark();
        let affine = self.arithmetic.or_forget(|this| this.condition_at(condition, scope, trusted, 0));
        let refusal = match affine {
            Ok(taken) => {
                let failing = if fails { scope.domain.intersect(&taken)? } else { scope.domain.subtract(&taken)? };
                match self.assume_no_error(&failing, &check, scope) {
                    Err(Stop::Refused { refusal, block }) if refusal.kind == RefusalKind::ErrorBranch => {
                        Stop::Refused { refusal, block }
                    }
                    done => return done,
                }
            }
            Err(NotAffine::Isl(error)) => return Err(Stop::Isl(error)),
            Err(error) => {
                let scope = Scope { line: self.line_of_check(condition, scope), ..scope.clone() };
                error.refused(RefusalKind::ErrorBranch, &scope)
            }
        };
        self.arithmetic.known.go_back_to(mark);
        // Of what the program promises nothing is learnt that is not a set.
        if self.is_undefined(check.error) || !self.arithmetic.may_assume(AssumptionKind::EB) {
            return Err(refusal);
        }
        let bounds = self.arithmetic.attempt(|this| this.bounds_of(condition, !fails, scope, trusted))?;
        let bounds = bounds.ok_or(refusal)?;
        if bounds.is_empty() {
            return Ok(());
        }
        let line = self.line_of_check(condition, scope);
        let valid = Set::universe(&self.arithmetic.known.context.get_space()?)?;
        let because = self.sentence(&check);
        Ok(self.arithmetic.known.assume(Assumption { kind: AssumptionKind::EB, because, line, valid, bounds })?)
    }

    /// What the condition gives if it is not poison. LLVM freezes conditions of checks that it moves out of loops: where one is poison
    /// the program goes on in any way it likes, if nobody else asks the same question, and so past the check; but no flag on the
    /// way to the condition is a promise.
    fn without_freeze(&self, condition: ValueId) -> (ValueId, bool) {
        match self.values.facts.instruction(condition) {
            Some(Instruction { op: Op::Freeze, operands, .. })
                if !self.values.is_outside(condition) && self.values.is_used_once(condition) =>
            {
                (operands[0], false)
            }
            _ => (condition, true),
        }
    }

    /// Takes for granted that the error is reached in none of these instances.
    pub fn assume_no_error(&mut self, failing: &Set, check: &ErrorBranch, scope: &Scope) -> Result<(), Stop> {
        if self.is_undefined(check.error) {
            // Nothing is said on the way there, and nothing is to be said of what follows: the program promises not to go there.
            return self.promise(failing, scope);
        }
        let bad = failing.params()?.intersect(&self.arithmetic.known.assumed)?.coalesce()?;
        if bad.is_empty()? || planted::is(Fault::ErrorsNotTested) {
            return Ok(());
        }
        let running = scope.domain.params()?.intersect(&self.arithmetic.known.assumed)?;
        let valid = self.likely_part(bad.complement()?.gist(&running)?.coalesce()?, scope)?;
        let line = check.condition.map_or(scope.line, |(condition, _)| self.line_of_check(condition, scope));
        let possible = scope.domain.intersect_params(&valid)?.intersect_params(&self.arithmetic.known.assumed)?;
        let useful = !possible.is_empty()? && valid.basic_sets()?.len() <= MAX_ASSUMPTION_PARTS;
        if !self.arithmetic.may_assume(AssumptionKind::EB) {
            return Err(self.arithmetic.unassumed(
                AssumptionKind::EB,
                line,
                "that the check here never fails",
                scope.block,
            ));
        }
        if !useful {
            let why = "when it fails is not a simple condition on unchanging values";
            return Err(Stop::refuse(RefusalKind::ErrorBranch, line, why, scope.block));
        }
        let (because, bounds) = (self.sentence(check), Vec::new());
        Ok(self.arithmetic.known.assume(Assumption { kind: AssumptionKind::EB, because, line, valid, bounds })?)
    }

    /// Of a condition in several parts, one of which speaks of what bounds the loops and the others of sizes that make no sense
    /// (an end before the beginning), that one: whatever implies the condition may be assumed in its place.
    fn likely_part(&self, valid: Set, scope: &Scope) -> Result<Set, Stop> {
        let parts = valid.basic_sets()?;
        if parts.len() < 2 {
            return Ok(valid);
        }
        let bounds = involved(&scope.domain)?;
        let mut likely = Vec::new();
        for part in parts {
            let part = part.to_set()?;
            if !involved(&part)?.is_disjoint(&bounds) {
                likely.push(part);
            }
        }
        Ok(if let [only] = &likely[..] { only.clone() } else { valid })
    }

    /// Believes `llvm.assume` (`__builtin_assume`, `[[assume]]`): where it is false the program has no meaning.
    pub fn learn_from_hints(&mut self, scope: &Scope) -> Result<(), Stop> {
        let facts = self.values.facts;
        for condition in hints(facts, scope.block) {
            if let Some(holds) = self.arithmetic.prove(|this| this.condition(condition, scope))? {
                self.promise(&scope.domain.subtract(&holds)?, scope)?;
            }
        }
        Ok(())
    }

    /// The program promises that control gets to none of these instances of the scope.
    fn promise(&mut self, broken: &Set, scope: &Scope) -> Result<(), Stop> {
        self.promises.push(broken.params()?);
        let at_once = scope.loops.first().is_none_or(|&outermost| !self.may_stop_in(outermost));
        if at_once || planted::is(Fault::PromisesBelievedEarly) { self.believe_promises() } else { Ok(()) }
    }

    /// Can control get into the loop, and not out of it where it usually is left?
    pub fn may_stop_in(&self, id: LoopId) -> bool {
        let facts = self.values.facts;
        let inner = facts.loops.iter().filter(|l| facts.in_loop(l.header, id));
        let fails = |b: &BlockId| facts.block(*b).successors.iter().any(|&s| self.is_defined_error(s));
        facts.loops[id.index()].blocks.iter().any(fails) || inner.into_iter().any(Loop::may_never_end)
    }

    fn is_defined_error(&self, block: BlockId) -> bool {
        self.values.facts.block(block).is_error && !self.is_undefined(block)
    }

    /// Takes the promises so far for facts.
    ///
    /// Requires: all that may keep control from what was promised is excluded by the assumptions made so far.
    /// Ensures: what is known holds for all parameters with which the program has a meaning. For let p be such parameters, and the
    /// assumptions so far hold for p. Then control runs as modelled up to here, and gets to all instances of what was read; if a
    /// promise were broken in one of them, the program would have no meaning. So the assumptions imply that none is broken,
    /// and that implication is what is known. It does not follow where control rests on memory: that this is what it was before the
    /// region is an assumption still to come, whose test must not be made simpler by it.
    pub fn believe_promises(&mut self) -> Result<(), Stop> {
        let promises = std::mem::take(&mut self.promises);
        let in_memory = |param: &Param| !self.values.all_invariants_behind(param.value).is_empty();
        // Nor where it rests on bounds: the set would say more than is implied, and the tests of the bounds must not be made simpler by it.
        let has_bounds = |assumption: &Assumption| !assumption.bounds.is_empty();
        let known = &self.arithmetic.known;
        if known.params.iter().any(in_memory) || known.assumptions.iter().any(has_bounds) {
            return Ok(());
        }
        promises.iter().try_for_each(|broken| self.know_never(broken))
    }

    /// The assumptions so far imply that the parameters are none of these. Something in many parts costs more than it tells.
    fn know_never(&mut self, broken: &Set) -> Result<(), Stop> {
        let known = &mut self.arithmetic.known;
        let bad = broken.intersect(&known.assumed)?.coalesce()?;
        if bad.is_empty()? {
            return Ok(());
        }
        let never = bad.complement()?;
        let (always, assumed) = (never.gist(&known.context)?.coalesce()?, never.gist(&known.assumed)?.coalesce()?);
        if always.basic_sets()?.len() == 1 {
            known.learn(&always)?;
        } else if assumed.basic_sets()?.len() == 1 {
            known.assumed = known.assumed.intersect(&assumed)?;
        }
        Ok(())
    }

    /// Control that gets there has no defined behaviour, and nothing happens before.
    fn is_undefined(&self, block: BlockId) -> bool {
        let instructions = &self.values.facts.block(block).instructions;
        let silent = |v: &ValueId| self.values.facts.instruction(*v).is_some_and(|i| !i.side_effects);
        let (last, before) = instructions.split_last().expect("a block has an end");
        let ends = matches!(self.values.facts.instruction(*last).map(|i| &i.op), Some(Op::Unreachable));
        ends && before.iter().all(silent)
    }

    fn line_of_check(&self, condition: ValueId, scope: &Scope) -> Line {
        self.values.facts.instruction(condition).map_or(scope.line, |i| i.line.or(scope.line))
    }

    fn sentence(&self, check: &ErrorBranch) -> String {
        let mut sentence = match check.condition.and_then(|(condition, fails)| self.shown_check(condition, !fails)) {
            Some(text) => format!("the check `{text}` never fails"),
            None => "the check here never fails".into(),
        };
        if let Some(name) = self.called_on_error(check.error) {
            sentence += &format!(": `{name}` is never called");
        }
        sentence
    }

    /// `i < n`, where both sides have names in the source.
    fn shown_check(&self, condition: ValueId, truth: bool) -> Option<String> {
        let instruction = self.values.facts.instruction(condition)?;
        let Op::ICmp(predicate) = instruction.op else { return None };
        let side = |v: ValueId| {
            let v = self.without_casts(v);
            let counter = self.values.facts.instruction(v).filter(|_| self.values.facts.is_phi(v)).and_then(|phi| {
                let l = &self.values.facts.loops[self.values.facts.block(phi.block).innermost_loop?.index()];
                Some(l.counter_name.as_str()).filter(|name| l.header == phi.block && !name.is_empty())
            });
            let is_counter = counter.is_some();
            let name = match (&self.values.facts.value(v).kind, counter, self.values.facts.value(v).name.as_str()) {
                (ValueKind::ConstantInt(c), ..) => c.to_string(),
                (_, Some(name), _) => name.to_string(),
                (_, _, "") => return None,
                (_, _, name) => name.to_string(),
            };
            Some((name, is_counter))
        };
        let ((mut left, counts), (mut right, _)) = (side(instruction.operands[0])?, side(instruction.operands[1])?);
        use Predicate::*;
        let sign = match (predicate, truth) {
            (Eq, true) | (Ne, false) => "==",
            // LLVM ends a count where it meets its bound.
            (Ne, true) | (Eq, false) if counts => "<",
            (Ne, true) | (Eq, false) => "!=",
            (Slt | Ult, true) | (Sge | Uge, false) => "<",
            (Sle | Ule, true) | (Sgt | Ugt, false) => "<=",
            (Sgt | Ugt, true) | (Sle | Ule, false) => ">",
            (Sge | Uge, true) | (Slt | Ult, false) => ">=",
        };
        // LLVM puts constants on the right, people the counter on the left.
        let sign = match sign {
            ">" if !is_number(&right) => {
                std::mem::swap(&mut left, &mut right);
                "<"
            }
            sign => sign,
        };
        Some(format!("{left} {sign} {right}"))
    }

    /// The value that people wrote: without conversions, and without the 0 that a size is no less than.
    fn without_casts(&self, value: ValueId) -> ValueId {
        let is_constant = |v: &ValueId| matches!(self.values.facts.value(*v).kind, ValueKind::ConstantInt(_));
        let mut at = value;
        while let Some(instruction) = self.values.facts.instruction(at) {
            let operands = &instruction.operands;
            at = match instruction.op {
                Op::Cast(CastOp::ZExt | CastOp::SExt | CastOp::Trunc) | Op::Freeze => operands[0],
                Op::MinMax(_) if is_constant(&operands[1]) => operands[0],
                _ => break,
            };
        }
        at
    }

    /// Names that only linkers read are not shown.
    fn called_on_error(&self, block: BlockId) -> Option<&str> {
        self.values.facts.block(block).instructions.iter().find_map(|&v| match &self.values.facts.instruction(v)?.op {
            Op::Call(call)
                if !call.callee.is_empty()
                    && !call.is_intrinsic
                    && !call.callee.starts_with("_Z")
                    && call.callee != "__cxa_allocate_exception" =>
            {
                Some(call.callee.as_str())
            }
            _ => None,
        })
    }
}

/// The parameters that a set says something of.
fn involved(set: &Set) -> Result<BTreeSet<String>, isl::IslError> {
    let mut names = BTreeSet::new();
    for at in 0..set.dim(DimType::Param)? {
        if set.involves_dims(DimType::Param, at, 1)? {
            names.insert(set.get_dim_name(DimType::Param, at)?);
        }
    }
    Ok(names)
}

fn is_number(text: &str) -> bool {
    text.parse::<i64>().is_ok()
}
