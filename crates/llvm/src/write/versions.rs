//! Both versions side by side: slots filled before the new code, values merged behind it.

use super::ir::{Block, Joints, Value};
use super::{Anchors, Slot, WriteError, Writer};
use crate::body::{BodyKind, LiveOut};
use crate::facts::ValueId;
use model::scop::ArrayId;
use planted::Fault;

impl<A: Anchors> Writer<'_, A> {
    /// One alloca per scalar array, in the function's first block so that SROA promotes them.
    pub(super) fn make_slots(&mut self) -> Result<(), WriteError> {
        let mut typed: Vec<(ArrayId, Value)> = Vec::new();
        let region = self.region;
        typed.extend(region.initial.iter().map(|&(slot, value)| (slot, self.value(value))));
        for body in region.bodies.values() {
            typed.extend(body.reads.iter().chain(&body.writes).map(|access| (access.slot, self.value(access.value))));
            if let BodyKind::Boxed { edge_writes, .. } = &body.kind
                && !planted::is(Fault::EdgeSlotsForgotten)
            {
                // Where all readers found the value elsewhere, nobody else mentions the slot.
                typed.extend(edge_writes.iter().map(|(_, access)| (access.slot, self.value(access.value))));
            }
        }
        for live in &region.live_outs {
            let (LiveOut::Value { value, slot } | LiveOut::ExitPhi { phi: value, slot, .. }) = live;
            typed.push((*slot, self.value(*value)));
        }
        let place = self.function.entry_block().instructions()[0];
        self.build.before(place);
        for (slot, value) in typed {
            let ty = value.ty();
            match self.slots.get(&slot) {
                Some(known) if known.ty == ty => {}
                Some(_) => return Err(WriteError::Reader(format!("slot {slot} holds values of two types"))),
                None => {
                    let pointer = self.build.alloca(ty);
                    self.slots.insert(slot, Slot { ty, pointer });
                }
            }
        }
        Ok(())
    }

    /// New code behind this region may use what the original there does not: a check looks through conversions. What the region
    /// computes for it from values of outside is computed before both versions; it runs whenever the region does, since it
    /// dominates its users.
    pub(super) fn hand_on(&mut self, joints: Joints) -> Result<(), WriteError> {
        let mut within = self.blocks.clone();
        within.extend([joints.original_exit, joints.merge]);
        within.extend(self.region.error_paths.iter().map(|&b| self.block(b)));
        let live: Vec<Value> = self
            .region
            .live_outs
            .iter()
            .filter_map(|live| match *live {
                LiveOut::Value { value, .. } => Some(self.value(value)),
                LiveOut::ExitPhi { phi, only, .. } if self.is_taken_over(phi, joints) => only.map(|v| self.value(v)),
                LiveOut::ExitPhi { .. } => None,
            })
            .collect();
        let values: Vec<Value> = self.blocks.iter().flat_map(|block| block.instructions()).collect();
        for value in values {
            if live.contains(&value) || !value.is_used_outside(&within) {
                continue;
            }
            // An error unless it can be computed here.
            self.collect_inputs(value, &mut Vec::new())?;
            if !self.is_known(value) {
                return Err(WriteError::Reader("what is used behind the region rests on a value in memory".into()));
            }
            let copy = self.hoisted(value);
            value.replace_uses_outside(&within, copy);
        }
        Ok(())
    }

    /// A region behind this one, written before it, begins with the block of this φ: the edge from here now leads to code that was
    /// put in front of it, and what came over the edge is used there.
    fn is_taken_over(&self, phi: ValueId, joints: Joints) -> bool {
        self.value(phi).incoming().into_iter().all(|(_, from)| from != joints.merge)
    }

    /// Stores what scalars hold when the region is entered.
    pub(super) fn fill_slots(&mut self, joints: Joints) -> Result<(), WriteError> {
        for &(slot, id) in self.region.initial.iter().filter(|_| !planted::is(Fault::InitialValueLost)) {
            let mut value = self.value(id);
            // A φ of the region's entry stands for what arrives from outside, by now over one edge.
            if !self.frozen.contains_key(&value) && value.block().is_some_and(|b| self.inside.contains(&b)) {
                let arriving =
                    value.is_phi().then(|| value.incoming().into_iter().find(|(_, from)| *from == joints.original));
                match arriving.flatten() {
                    Some((incoming, _)) => value = incoming,
                    None => return Err(WriteError::Reader(format!("slot {slot} starts with a value of the region"))),
                }
            }
            let value = self.frozen.get(&value).copied().unwrap_or(value);
            self.build.store(value, self.slots[&slot].pointer);
        }
        Ok(())
    }

    /// Ends the new code in `merge` and makes one value of both versions' wherever one is used behind the region.
    pub(super) fn join(&mut self, joints: Joints) -> Result<(), WriteError> {
        let last_new = self.build.block();
        // Loads must precede the branch.
        let loaded: Vec<Value> = self
            .region
            .live_outs
            .iter()
            .map(|live| {
                let (LiveOut::Value { slot, .. } | LiveOut::ExitPhi { slot, .. }) = live;
                let Slot { ty, pointer } = self.slots[slot];
                if planted::is(Fault::LastValueLost) { ty.zero() } else { self.build.load(ty, pointer) }
            })
            .collect();
        self.build.branch(joints.merge);
        let merge_end = joints.merge.terminator();
        for (live, new) in self.region.live_outs.iter().zip(loaded) {
            self.build.before(merge_end);
            match *live {
                LiveOut::Value { value, .. } => self.merge_value(value, new, last_new, joints),
                LiveOut::ExitPhi { phi, slot, only } if self.is_taken_over(phi, joints) => {
                    // The value is from before both regions, or of this one; then it is what the slot holds.
                    if self.region.initial.iter().any(|(initial, _)| *initial == slot)
                        || planted::is(Fault::TakenOverEdgeIgnored)
                    {
                        continue;
                    }
                    let Some(value) = only.filter(|&v| self.is_inside(self.value(v))) else {
                        return Err(WriteError::Reader("a live-out φ has no edge from the region".into()));
                    };
                    self.merge_value(value, new, last_new, joints);
                }
                LiveOut::ExitPhi { phi, .. } => {
                    let phi = self.value(phi);
                    let old = phi.incoming().into_iter().find(|(_, from)| *from == joints.merge);
                    let Some((old, _)) = old else {
                        return Err(WriteError::Reader("a live-out φ has no edge from the region".into()));
                    };
                    let merged = self.build.phi(phi.ty());
                    merged.copy_fast_math_flags(phi);
                    merged.add_incoming(old, joints.original_exit);
                    merged.add_incoming(new, last_new);
                    phi.set_incoming_value(joints.merge, merged);
                }
            }
        }
        self.expect_merged(joints)
    }

    /// Behind the region, `id` is itself or `new`.
    fn merge_value(&mut self, id: ValueId, new: Value, last_new: Block, joints: Joints) {
        let original = self.value(id);
        let merged = self.build.phi(original.ty());
        merged.add_incoming(original, joints.original_exit);
        merged.add_incoming(new, last_new);
        // φs that the split put into `original_exit` take the value over edges of the region: they stay.
        let mut untouched = self.blocks.clone();
        untouched.push(joints.original_exit);
        original.merge_uses_outside(&untouched, merged);
        self.written.replaced.push((id, merged.0));
    }

    /// Every value of the region that a φ of the exit takes must have been listed as live-out: else the new side has none for it.
    fn expect_merged(&self, joints: Joints) -> Result<(), WriteError> {
        for phi in joints.exit.phis() {
            for (value, from) in phi.incoming() {
                let place = value.block();
                let only_original = place.is_some_and(|b| self.inside.contains(&b) || b == joints.original_exit);
                if from == joints.merge && only_original {
                    return Err(WriteError::Reader("a φ behind the region takes a value that is not live-out".into()));
                }
            }
        }
        Ok(())
    }
}
