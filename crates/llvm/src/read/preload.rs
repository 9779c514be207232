//! Invariants become part of the model: which cell each is, when it may be loaded, and in which order.

use super::affine::{Scope, set_space};
use super::invariant::Readable;
use super::{Reader, Stop};
use crate::facts::ValueId;
use isl::{DimType, PwAff, Set};
use model::scop::{ParamId, Preload};
use std::collections::BTreeSet;

/// A cell that is read before the region, or was.
pub struct InvariantRead {
    pub load: ValueId,
    /// All loads of the cell in the region.
    pub loads: Vec<ValueId>,
    /// Where it is, unless the region reads it before it writes anything, and never again.
    pub place: Option<Place>,
    /// Without what is known with it.
    pub preload: Option<Preload>,
    pub line: u32,
}

pub struct Place {
    pub base: ValueId,
    pub offset: PwAff,
    pub bytes: u64,
    /// `{ [] : … }`: the parameters for which the region reads it.
    pub domain: Set,
}

impl InvariantRead {
    pub fn base(&self) -> Option<ValueId> {
        self.place.as_ref().map(|place| place.base)
    }
}

impl Reader<'_> {
    /// Ensures: what each needs stands before it.
    pub(super) fn read_invariants(&mut self) -> Result<Vec<InvariantRead>, Stop> {
        let mut found = Vec::new();
        for index in 0..self.invariants.len() {
            found.push(self.read_invariant(index)?);
        }
        self.in_order_of_need(found)
    }

    fn read_invariant(&mut self, index: usize) -> Result<InvariantRead, Stop> {
        let facts = self.facts;
        let (&load, invariant) = self.invariants.get_index(index).expect("an invariant");
        let (loads, readable) = (invariant.loads.clone(), invariant.readable.clone());
        let varies = || Stop::Varies(loads.clone());
        let nowhere = Set::empty(&set_space(&self.ctx, 0)?)?.params()?;
        let arrivals = |reader: &Self, loads: &[ValueId]| -> Result<Option<(Set, usize)>, Stop> {
            let mut all = (nowhere.clone(), 0);
            for &load in loads {
                let block = facts.instruction(load).expect("a load").block;
                // Inside a box, or never reached.
                let Some((params, assumptions)) = reader.arrivals.get(&block) else { return Ok(None) };
                all = (all.0.union(params)?.coalesce()?, all.1.max(*assumptions));
            }
            Ok(Some(all))
        };
        let runs = arrivals(self, &loads)?;
        let everywhere = Set::universe(&set_space(&self.ctx, 0)?)?;
        let preload =
            |when: Set, after| Some(Preload { when, needs: Vec::new(), after, params: Vec::new(), arrays: Vec::new() });
        let preload = match readable {
            Readable::Known => None,
            Readable::Always => preload(everywhere.params()?, 0),
            Readable::Where(safe) => {
                let (Some((when, after)), Some((runs, _))) = (arrivals(self, &safe)?, &runs) else {
                    return Err(varies());
                };
                if !runs.intersect(&self.context_assumed)?.is_subset(&when)? {
                    return Err(varies());
                }
                preload(when.gist(&self.context)?, after)
            }
        };
        let domain = match runs {
            Some((runs, _)) => everywhere.intersect_params(&runs)?,
            None => everywhere,
        };
        let instruction = facts.instruction(loads[0]).expect("a load");
        let line = if instruction.line != 0 { instruction.line } else { facts.line_of_block(instruction.block) };
        let scope = Scope { loops: Vec::new(), domain: domain.clone(), block: instruction.block, line };
        let mut place = None;
        if !loads.iter().all(|&load| self.is_read_once_before_writes(load)) {
            let read = self.attempt(|this| this.pointer(instruction.operands[0], &scope))?;
            let (base, offset) = read.ok_or_else(varies)?;
            place = Some(Place { base, offset, bytes: facts.value(load).bytes, domain });
        }
        Ok(InvariantRead { load, loads, place, preload, line })
    }

    fn in_order_of_need(&mut self, found: Vec<InvariantRead>) -> Result<Vec<InvariantRead>, Stop> {
        let mut needs = Vec::new();
        for (index, read) in found.iter().enumerate() {
            let mut all = BTreeSet::new();
            if let Some(preload) = &read.preload {
                all.extend(self.needed_by(index));
                all.extend(self.invariants_in(&preload.when)?);
                for assumption in &self.assumptions[..preload.after] {
                    all.extend(self.invariants_in(&assumption.valid)?);
                }
            }
            needs.push(all);
        }
        // Old number → new number.
        let mut placed: Vec<Option<usize>> = vec![None; found.len()];
        let mut order = Vec::new();
        while order.len() < found.len() {
            let is_ready = |&k: &usize| placed[k].is_none() && needs[k].iter().all(|&n| placed[n].is_some());
            let Some(next) = (0..found.len()).find(is_ready) else {
                let waiting = found.iter().zip(&placed).filter(|(_, p)| p.is_none());
                return Err(Stop::Varies(waiting.flat_map(|(read, _)| read.loads.clone()).collect()));
            };
            placed[next] = Some(order.len());
            order.push(next);
        }
        let mut slots: Vec<Option<InvariantRead>> = found.into_iter().map(Some).collect();
        let mut sorted = Vec::new();
        for old in order {
            let mut read = slots[old].take().expect("placed once");
            if let Some(preload) = &mut read.preload {
                preload.needs = needs[old].iter().map(|&n| placed[n].expect("placed before")).collect();
            }
            sorted.push(read);
        }
        Ok(sorted)
    }

    fn invariants_in(&self, set: &Set) -> Result<BTreeSet<usize>, isl::IslError> {
        Ok(self.values_in(set)?.into_iter().flat_map(|value| self.invariants_behind(value)).collect())
    }

    /// The values that a set of parameters speaks of.
    pub(super) fn values_in(&self, set: &Set) -> Result<Vec<ValueId>, isl::IslError> {
        let mut values = Vec::new();
        for p in 0..set.dim(DimType::Param)? {
            if set.involves_dims(DimType::Param, p, 1)? {
                let id = ParamId::from_isl_name(&set.get_dim_name(DimType::Param, p)?).expect("a parameter");
                values.push(self.param_values[id.index()]);
            }
        }
        Ok(values)
    }
}
