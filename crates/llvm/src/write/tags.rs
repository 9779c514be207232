//! Metadata on new code: what the plan knows and LLVM's later passes could not find out themselves.

use super::ir::{Builder, Metadata, Value};
use crate::body::ReadRegion;
use indexmap::IndexMap;
use model::loop_ast::Apart;
use model::plan::{Plan, Test};
use model::scop::ArrayId;
use std::collections::HashSet;

/// On stores of iterations side by side, until [`crate::module::FunctionHandle::clean_up`] has put them behind the loads.
const SIDE_BY_SIDE: &str = "loopwright.side_by_side";

/// The alias scopes of one region, one per memory array, and the access group of the innermost vector loop being written.
pub(super) struct Tags {
    scopes: Vec<Metadata>,
    /// Of the slots that iterations side by side have for themselves: nobody else has their addresses.
    slots: Option<Metadata>,
    lists: IndexMap<ArrayId, ScopeLists>,
    group: Option<Metadata>,
    points: Option<Points>,
}

struct ScopeLists {
    own: Metadata,
    /// Of arrays that are known to be separate.
    others: Vec<Metadata>,
}

/// Iterations that are written out side by side, being written.
pub(super) struct Points {
    /// For arrays of which some of them touch no byte together, if one writes it: a scope for each class, and the class of each.
    scopes: IndexMap<ArrayId, (Vec<Metadata>, Vec<usize>)>,
    /// The one being written.
    now: usize,
}

impl Tags {
    /// Arrays a and b are *separate* when no byte that the region reaches through a is reached through b. That holds when LLVM says
    /// so (the pair is not in `may_alias`) or when the check tests their extents, which cover all that the region touches. A pair
    /// that is never written may overlap untested, so it gets no tag.
    pub(super) fn new(build: &Builder, region: &ReadRegion, plan: &Plan) -> Tags {
        let ordered = |a: ArrayId, b: ArrayId| (a.min(b), a.max(b));
        let mut tested: HashSet<_> = HashSet::new();
        for term in &plan.check {
            match &term.test {
                Test::Disjoint { first, second, .. } => drop(tested.insert(ordered(first.array, second.array))),
                Test::Rows(rows) => tested.extend(rows.apart().map(|(a, b)| ordered(a, b))),
                Test::Holds(_) | Test::Preload { .. } => {}
            }
        }
        let doubtful: HashSet<_> =
            region.scop.may_alias.iter().map(|&(a, b)| ordered(a, b)).filter(|pair| !tested.contains(pair)).collect();
        let domain = build.self_node(&[build.metadata_text("loopwright")]);
        // Memory of our own is nobody's else.
        let temporaries = plan.temporaries.iter().map(|temporary| &temporary.array);
        let scopes: Vec<(ArrayId, Metadata)> = region
            .bases
            .keys()
            .chain(region.row_loads.keys())
            .chain(&region.errno)
            .chain(temporaries)
            .map(|&array| (array, build.self_node(&[domain, build.metadata_text(&array.to_string())])))
            .collect();
        let has_own = !plan.body.private_scalars().is_empty();
        let slots = has_own.then(|| build.self_node(&[domain, build.metadata_text("scalars")]));
        let lists = scopes
            .iter()
            .map(|&(array, scope)| {
                let others: Vec<Metadata> = scopes
                    .iter()
                    .filter(|(other, _)| *other != array && !doubtful.contains(&ordered(array, *other)))
                    .map(|(_, scope)| *scope)
                    .chain(slots)
                    .collect();
                (array, ScopeLists { own: scope, others })
            })
            .collect();
        let scopes = scopes.iter().map(|&(_, scope)| scope).chain(slots).collect();
        Tags { scopes, slots, lists, group: None, points: None }
    }

    /// Until [`Tags::leave_points`], accesses to these arrays in points of one class are separate from those of others: so it is for all
    /// iterations of the loops around, hence for one execution of the new code.
    pub(super) fn enter_points(&mut self, build: &Builder, apart: &[Apart]) -> Option<Points> {
        let mut scopes = IndexMap::new();
        for Apart { array, classes } in apart {
            let domain = build.self_node(&[build.metadata_text("loopwright side by side")]);
            let scope = |number| build.self_node(&[domain, build.metadata_text(&format!("{array} {number}"))]);
            let count = classes.iter().max().map_or(0, |last| last + 1);
            let own: Vec<Metadata> = (0..count).map(scope).collect();
            self.scopes.extend(&own);
            scopes.insert(*array, (own, classes.clone()));
        }
        self.points.replace(Points { scopes, now: 0 })
    }
    pub(super) fn at_point(&mut self, number: usize) {
        if let Some(points) = &mut self.points {
            points.now = number;
        }
    }
    pub(super) fn leave_points(&mut self, outer: Option<Points>) {
        self.points = outer;
    }

    /// The scopes begin here, at the start of the new code: their promise is about one execution of it.
    pub(super) fn declare_before(&self, first: Value) {
        first.begin_alias_scopes_before(&self.scopes);
    }

    /// For the copy of an access whose array the reader knows.
    pub(super) fn mark_array(&self, build: &Builder, access: Value, array: ArrayId) {
        let Some(ScopeLists { own, others }) = self.lists.get(&array) else { return };
        let (mut own, mut others) = (vec![*own], others.clone());
        if let Some((points, now)) = self.points.as_ref().and_then(|p| Some((p.scopes.get(&array)?, p.now))) {
            let (scopes, classes) = points;
            let class = classes[now];
            own.push(scopes[class]);
            others.extend(scopes.iter().enumerate().filter(|(other, _)| *other != class).map(|(_, scope)| *scope));
        }
        access.set_metadata("alias.scope", build.metadata_node(&own));
        if !others.is_empty() {
            access.set_metadata("noalias", build.metadata_node(&others));
        }
        if self.points.is_some() && access.is_store() {
            access.set_metadata(SIDE_BY_SIDE, build.metadata_node(&[]));
        }
    }

    /// For an access to a slot that an iteration has for itself. LLVM does not know it by itself: it takes nothing for granted of
    /// pointers that were frozen.
    pub(super) fn mark_slot(&self, build: &Builder, access: Value) {
        let Some(slots) = self.slots else { return };
        access.set_metadata("alias.scope", build.metadata_node(&[slots]));
        let arrays: Vec<Metadata> = self.lists.values().map(|lists| lists.own).collect();
        if !arrays.is_empty() {
            access.set_metadata("noalias", build.metadata_node(&arrays));
        }
    }

    /// For the copy of any instruction that touches memory other than slots.
    pub(super) fn mark_independent(&self, access: Value) {
        if let Some(group) = self.group {
            access.set_metadata("llvm.access.group", group);
        }
    }

    /// Until [`Tags::leave_vector_loop`], accesses join a new group.
    pub(super) fn enter_vector_loop(&mut self, build: &Builder) -> Option<Metadata> {
        self.group.replace(build.distinct_node())
    }

    /// The loop id for the loop that is left. Its iterations do not depend on each other through any access of its group, which is
    /// what `llvm.loop.parallel_accesses` says; accesses to slots are in no group, so that LLVM judges them itself.
    pub(super) fn leave_vector_loop(&mut self, build: &Builder, outer: Option<Metadata>) -> Metadata {
        let group = std::mem::replace(&mut self.group, outer).expect("entered before");
        let independent = build.metadata_node(&[build.metadata_text("llvm.loop.parallel_accesses"), group]);
        build.self_node(&[must_progress(build), independent])
    }
}

/// A loop id for a loop of which nothing is known but that it ends: all of ours count, and statements end.
pub(super) fn plain_loop_id(build: &Builder) -> Metadata {
    build.self_node(&[must_progress(build)])
}

/// The same for one that has a few iterations only, and few of those run: code for many would be for nothing.
pub(super) fn short_loop_id(build: &Builder) -> Metadata {
    let unrolled = build.metadata_node(&[build.metadata_text("llvm.loop.unroll.disable")]);
    let one = build.metadata_value(build.constant_of(build.int(32), 1));
    let scalar = [build.metadata_text("llvm.loop.vectorize.width"), one];
    let scalar = build.metadata_node(&scalar);
    build.self_node(&[must_progress(build), unrolled, scalar])
}

fn must_progress(build: &Builder) -> Metadata {
    build.metadata_node(&[build.metadata_text("llvm.loop.mustprogress")])
}
