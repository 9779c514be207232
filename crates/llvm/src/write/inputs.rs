//! What the check and the new code use of the world before the region: copies, each made once and frozen where it could be poison, so
//! that all who look at one see the same number.

use super::ir::{Block, Builder, Value};
use super::{Site, WriteError};
use crate::body::LiveOut;
use crate::facts::ValueId;
use model::scop::ParamId;
use planted::Fault;
use std::collections::HashMap;

pub(super) struct Inputs<'s> {
    pub(super) site: &'s Site<'s>,
    build: &'s Builder,
    /// As i64; defined where the region is entered, or behind a preload.
    params: HashMap<ParamId, Value>,
    /// A value of the original and the copy that is used instead.
    copies: HashMap<Value, Value>,
    /// Values of the region that are loaded before it, and the load that stands for them.
    preloaded: HashMap<Value, Value>,
}

impl<'s> Inputs<'s> {
    /// Copies what can be copied without a look into memory at the end of the block that enters the region, which loses its branch, or
    /// in `apart` behind it. The builder stands there then.
    pub(super) fn freeze(site: &'s Site<'s>, apart: Option<Block>) -> Result<Self, WriteError> {
        let (build, region, entering) = (&site.build, site.region, site.joints.entering);
        let invariants = &region.scop.invariants;
        let preloaded = invariants.iter().filter(|(_, i)| i.preload.is_some()).flat_map(|(load, invariant)| {
            let load = site.value(*load);
            invariant.same.iter().map(|&v| site.value(v)).chain([load]).map(move |value| (value, load))
        });
        let preloaded = preloaded.collect();
        let mut inputs = Inputs { site, build, params: HashMap::new(), copies: HashMap::new(), preloaded };
        let end = entering.terminator();
        let mut used = Vec::new();
        let params = region.scop.params.iter().map(|param| &param.value);
        for &id in params.chain(region.bases.values()).chain(invariants.keys()) {
            inputs.collect(site.value(id), &mut used)?;
        }
        // Asked before anything is written: the answer is about the place where the region is entered.
        used.retain(|value| !value.is_never_poison(end));
        build.at_end(entering);
        build.erase(end);
        if let Some(apart) = apart {
            build.branch(apart);
            build.at_end(apart);
        }
        for value in used {
            inputs.copies.insert(value, build.freeze(value));
        }
        for &id in invariants.keys() {
            let load = site.value(id);
            if !site.is_inside(load) {
                let copy = inputs.hoisted(load);
                inputs.know_invariant(id, copy);
            }
        }
        inputs.write_params()?;
        inputs.hand_on()?;
        Ok(inputs)
    }

    pub(super) fn param(&self, param: ParamId) -> Option<Value> {
        self.params.get(&param).copied()
    }

    /// What stands for a value of the original, where it is not itself.
    pub(super) fn copy_of(&self, value: Value) -> Option<Value> {
        self.copies.get(&value).copied()
    }

    /// The values from outside that `value` is computed from.
    fn collect(&self, value: Value, inputs: &mut Vec<Value>) -> Result<(), WriteError> {
        if !self.site.is_inside(value) {
            if !inputs.contains(&value) && !value.is_constant() {
                inputs.push(value);
            }
            return Ok(());
        }
        if let Some(&load) = self.preloaded.get(&value) {
            return self.collect(load.operands()[0], inputs);
        }
        // The program loaded it before the region.
        let mut invariants = self.site.region.scop.invariants.iter();
        if let Some((load, _)) = invariants.find(|(_, i)| i.same.iter().any(|&v| self.site.value(v) == value)) {
            return self.collect(self.site.value(*load), inputs);
        }
        if value.is_phi() || value.is_alloca() || value.touches_memory() {
            return Err(WriteError::Reader("a parameter or base pointer cannot be computed before the region".into()));
        }
        value.operands().into_iter().try_for_each(|operand| self.collect(operand, inputs))
    }
    /// What the region computes from frozen inputs, computed here, once; without promises, since nothing says that control gets there.
    ///
    /// Operations are poison without any promise too: a shift by too much, the number of zeros that end a zero, the integer that a
    /// huge floating-point number does not fit into. So each is frozen by itself, behind its operands, and that copy is what the
    /// check, the new code and what else is computed from it here see; two copies, each frozen, might be two numbers.
    ///
    /// Let v be a value of the region and v' its copy. Where the region computes v and it is not poison, v' = v: the operands are the
    /// same by induction, and without promises the operation gives the same. Where v is poison, the original does not look at it in any
    /// branch or address, since it would have no meaning. Where it does not compute v, neither does it look at it. In both cases
    /// the model is right for every number in the place of v, for what it knows of v as a parameter is true of v', whatever it is:
    /// the range of its type, and how operations that are exact for all numbers relate it to others (`Arithmetic::define`), which
    /// holds for v' because it was computed from the copies of those.
    pub(super) fn hoisted(&mut self, value: Value) -> Value {
        if !self.site.is_inside(value) || self.copies.contains_key(&value) {
            return self.copy_of(value).unwrap_or(value);
        }
        let operands: Vec<Value> = value.operands().into_iter().map(|operand| self.hoisted(operand)).collect();
        let mut copy = self.build.clone_here(value);
        copy.drop_promises();
        for (index, operand) in operands.into_iter().enumerate() {
            copy.set_operand(index, operand);
        }
        if !copy.is_never_poison(copy) && !planted::is(Fault::PoisonHoisted) {
            copy = self.build.freeze(copy);
        }
        self.copies.insert(value, copy);
        copy
    }
    /// From here on, `copy` is what new code uses for the invariant.
    pub(super) fn know_invariant(&mut self, load: ValueId, copy: Value) {
        for &id in self.site.region.scop.invariants[&load].same.iter().chain([&load]) {
            let value = self.site.value(id);
            if copy != value {
                self.copies.insert(value, copy);
            }
        }
    }
    /// All parameters that can be computed by now.
    pub(super) fn write_params(&mut self) -> Result<(), WriteError> {
        for (id, param) in (0..).map(ParamId).zip(&self.site.region.scop.params) {
            let value = self.site.value(param.value);
            if !self.params.contains_key(&id) && self.is_known(value) {
                let number = self.write_param(value, param.unsigned)?;
                self.params.insert(id, number);
            }
        }
        Ok(())
    }
    /// Does it rest on no preload that is still to come?
    pub(super) fn is_known(&self, value: Value) -> bool {
        if !self.site.is_inside(value) || self.copies.contains_key(&value) {
            return true;
        }
        !self.preloaded.contains_key(&value) && value.operands().into_iter().all(|operand| self.is_known(operand))
    }
    fn write_param(&mut self, value: Value, unsigned: bool) -> Result<Value, WriteError> {
        let copy = self.hoisted(value);
        match value.ty().int_bits() {
            Some(64) => Ok(copy),
            Some(bits) if bits < 64 && unsigned => Ok(self.build.zext(copy, self.build.i64())),
            Some(bits) if bits < 64 => Ok(self.build.sext(copy, self.build.i64())),
            None if value.ty().is_pointer() => Ok(self.build.address(copy)),
            _ => Err(WriteError::Reader("a parameter is wider than 64 bits or no integer".into())),
        }
    }
    /// New code behind this region may use what the original there does not: a check looks through conversions. What the region
    /// computes for it from values of outside is computed before both versions; it runs whenever the region does, since it
    /// dominates its users.
    fn hand_on(&mut self) -> Result<(), WriteError> {
        let site = self.site;
        let mut within = site.blocks.clone();
        within.extend([site.joints.original_exit, site.joints.merge]);
        within.extend(site.region.error_paths.iter().map(|&b| site.block(b)));
        let live = site.region.live_outs.iter().filter_map(|live| match *live {
            LiveOut::Value { value, .. } => Some(site.value(value)),
            LiveOut::ExitPhi { phi, only, .. } if site.is_taken_over(phi) => only.map(|v| site.value(v)),
            LiveOut::ExitPhi { .. } => None,
        });
        let live: Vec<Value> = live.collect();
        let values: Vec<Value> = site.blocks.iter().flat_map(|block| block.instructions()).collect();
        for value in values {
            if live.contains(&value) || !value.is_used_outside(&within) {
                continue;
            }
            // An error unless it can be computed here.
            self.collect(value, &mut Vec::new())?;
            if !self.is_known(value) {
                return Err(WriteError::Reader("what is used behind the region rests on a value in memory".into()));
            }
            let copy = self.hoisted(value);
            value.replace_uses_outside(&within, copy);
        }
        Ok(())
    }
}
