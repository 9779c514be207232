//! Both versions side by side: slots filled before the new code, values merged behind it.

use super::inputs::Inputs;
use super::ir::{Block, Type, Value};
use super::{Site, WriteError};
use crate::body::{BodyKind, LiveOut};
use crate::facts::ValueId;
use indexmap::IndexMap;
use model::plan::Plan;
use model::scop::ArrayId;
use planted::Fault;

/// A scalar that crosses statements lives in one stack slot; SROA makes registers of them all afterwards.
#[derive(Clone, Copy)]
pub(super) struct StackSlot {
    pub(super) ty: Type,
    pub(super) pointer: Value,
}

pub(super) struct Slots(IndexMap<ArrayId, StackSlot>);

impl Slots {
    pub(super) fn get(&self, slot: ArrayId) -> Result<StackSlot, WriteError> {
        let known = self.0.get(&slot).copied();
        known.ok_or_else(|| WriteError::Reader(format!("slot {slot} is never described")))
    }

    /// One alloca per scalar array, for as many as run side by side, in the function's first block so that SROA promotes them.
    pub(super) fn make(site: &Site, plan: &Plan) -> Result<Slots, WriteError> {
        let mut typed: Vec<(ArrayId, Value)> = Vec::new();
        let several = plan.body.private_scalars();
        let region = site.region;
        typed.extend(region.initial.iter().map(|&(slot, value)| (slot, site.value(value))));
        for body in region.bodies.values() {
            typed.extend(body.reads.iter().chain(&body.writes).map(|access| (access.slot, site.value(access.value))));
            if let BodyKind::Boxed { edge_writes, .. } = &body.kind
                && !planted::is(Fault::EdgeSlotsForgotten)
            {
                // Where all readers found the value elsewhere, nobody else mentions the slot.
                typed.extend(edge_writes.iter().map(|(_, access)| (access.slot, site.value(access.value))));
            }
        }
        for live in &region.live_outs {
            let (LiveOut::Value { value, slot } | LiveOut::ExitPhi { phi: value, slot, .. }) = live;
            typed.push((*slot, site.value(*value)));
        }
        site.build.before(site.function.entry_block().instructions()[0]);
        let mut slots: IndexMap<ArrayId, StackSlot> = IndexMap::new();
        for (slot, value) in typed {
            let ty = value.ty();
            match slots.get(&slot) {
                Some(known) if known.ty == ty => {}
                Some(_) => return Err(WriteError::Reader(format!("slot {slot} holds values of two types"))),
                None => {
                    let place = match several.get(&slot) {
                        Some(&count) => site.build.array_type(ty, count as u64),
                        None => ty,
                    };
                    slots.insert(slot, StackSlot { ty, pointer: site.build.alloca(place) });
                }
            }
        }
        Ok(Slots(slots))
    }

    /// Stores what scalars hold when the region is entered.
    pub(super) fn fill(&self, site: &Site, inputs: &Inputs) -> Result<(), WriteError> {
        for &(slot, id) in site.region.initial.iter().filter(|_| !planted::is(Fault::InitialValueLost)) {
            let mut value = site.value(id);
            // A φ of the region's entry stands for what arrives from outside, by now over one edge.
            if inputs.copy_of(value).is_none() && site.is_inside(value) {
                let arriving = if value.is_phi() { value.incoming() } else { Vec::new() };
                match arriving.into_iter().find(|(_, from)| *from == site.joints.original) {
                    Some((incoming, _)) => value = incoming,
                    None => return Err(WriteError::Reader(format!("slot {slot} starts with a value of the region"))),
                }
            }
            site.build.store(inputs.copy_of(value).unwrap_or(value), self.get(slot)?.pointer);
        }
        Ok(())
    }

    /// Ends the new code in `merge` and makes one value of both versions' wherever one is used behind the region.
    pub(super) fn join(&self, site: &Site) -> Result<(), WriteError> {
        let (build, joints) = (&site.build, site.joints);
        let last_new = build.block();
        // Loads must precede the branch.
        let mut loaded = Vec::new();
        for live in &site.region.live_outs {
            let (LiveOut::Value { slot, .. } | LiveOut::ExitPhi { slot, .. }) = live;
            let StackSlot { ty, pointer } = self.get(*slot)?;
            loaded.push(if planted::is(Fault::LastValueLost) { ty.zero() } else { build.load(ty, pointer) });
        }
        build.branch(joints.merge);
        let merge_end = joints.merge.terminator();
        for (live, new) in site.region.live_outs.iter().zip(loaded) {
            build.before(merge_end);
            match *live {
                LiveOut::Value { value, .. } => site.merge_value(value, new, last_new),
                LiveOut::ExitPhi { phi, slot, only } if site.is_taken_over(phi) => {
                    // The value is from before both regions, or of this one; then it is what the slot holds.
                    if site.region.initial.iter().any(|(initial, _)| *initial == slot)
                        || planted::is(Fault::TakenOverEdgeIgnored)
                    {
                        continue;
                    }
                    let Some(value) = only.filter(|&v| site.is_inside(site.value(v))) else {
                        return Err(WriteError::Reader("a live-out φ has no edge from the region".into()));
                    };
                    site.merge_value(value, new, last_new);
                }
                LiveOut::ExitPhi { phi, .. } => {
                    let phi = site.value(phi);
                    let old = phi.incoming().into_iter().find(|(_, from)| *from == joints.merge);
                    let Some((old, _)) = old else {
                        return Err(WriteError::Reader("a live-out φ has no edge from the region".into()));
                    };
                    let merged = build.phi(phi.ty());
                    merged.copy_fast_math_flags(phi);
                    merged.add_incoming(old, joints.original_exit);
                    merged.add_incoming(new, last_new);
                    phi.set_incoming_value(joints.merge, merged);
                }
            }
        }
        site.expect_merged()
    }
}

impl Site<'_> {
    /// A region behind this one, written before it, begins with the block of this φ: the edge from here now leads to code that was
    /// put in front of it, and what came over the edge is used there.
    pub(super) fn is_taken_over(&self, phi: ValueId) -> bool {
        self.value(phi).incoming().into_iter().all(|(_, from)| from != self.joints.merge)
    }

    /// Behind the region, `id` is itself or `new`.
    fn merge_value(&self, id: ValueId, new: Value, last_new: Block) {
        let original = self.value(id);
        let merged = self.build.phi(original.ty());
        merged.add_incoming(original, self.joints.original_exit);
        merged.add_incoming(new, last_new);
        // φs that the split put into `original_exit` take the value over edges of the region: they stay.
        let mut untouched = self.blocks.clone();
        untouched.push(self.joints.original_exit);
        original.merge_uses_outside(&untouched, merged);
    }

    /// Every value of the region that a φ of the exit takes must have been listed as live-out: else the new side has none for it.
    fn expect_merged(&self) -> Result<(), WriteError> {
        for phi in self.joints.exit.phis() {
            for (value, from) in phi.incoming() {
                let only_original = self.is_inside(value) || value.block() == Some(self.joints.original_exit);
                if from == self.joints.merge && only_original {
                    return Err(WriteError::Reader("a φ behind the region takes a value that is not live-out".into()));
                }
            }
        }
        Ok(())
    }
}
