//! Live ranges of scalars, which may change places as wholes.
//!
//! Words. A **live range** of a scalar is a pair (w, r) of instances: r reads the value that w wrote. It is **apart** from a write
//! w′ of the same scalar if w′ does not run between w and r. A write that nobody reads is **dead**.
//!
//! Anti and output dependences of a scalar keep its live ranges in their original order. All that the values need is that each is
//! apart from all other writes: for `t = A[i][j]; B[j][i] = t;` any order of the iterations will do, but not all assignments to t
//! before all its uses.

use super::{Phased, PhasedAccesses, Phases, Prepared, possible};
use crate::dataflow::Question;
use crate::known::KnownParams;
use crate::scop::{AccessKind, ArrayId, Scop, StatementId};
use isl::{Ctx, DimType, IslError, Set, UnionMap};
use std::collections::BTreeSet;

/// Another condition under which an order computes the same values, weaker than the one of [`super::Dependences`].
///
/// Ensures: every order in which each source of `flow` and of `firm` runs before its sink, and in which all live ranges of
/// `scalars` are apart from all other writes, computes the same values as the original, as said there.
#[derive(Clone, Debug)]
pub struct LiveRanges {
    /// The anti and output dependences of everything but `scalars`.
    pub firm: UnionMap,
    /// Scalars whose live ranges may change places.
    pub scalars: Vec<Ranged>,
}

/// The live ranges of one scalar, or of several with the same accesses, and what keeps them apart.
///
/// A pair (a, b) of `order` is *adjacent* to the live range (w, r) if a = r or b = w.
///
/// Why these pairs. Let (w, r) be a live range and w′ another write. In the original order w′ does not lie between the two.
/// Either r runs before w′ (or in the same instance): (r, w′) is in `order`, adjacent to (w, r). Or w′ runs before w. If w′
/// is dead, (w′, w) is in `order`, adjacent to (w, r). Otherwise some r′ reads w′, not later than w overwrites it, and
/// w′ → r′ → w is made of a live range and a pair adjacent to both live ranges (or r′ = w).
/// So an order that keeps all pairs that are adjacent to a live range keeps it apart from all other writes. It need not keep all
/// of them, see [`crate::schedule`]. Pairs of instances with other accesses between them are there too: where some pairs are
/// not kept, chains of them prove nothing.
#[derive(Clone, Debug)]
pub struct Ranged {
    pub arrays: Vec<ArrayId>,
    /// In how many loops, outermost first, all live ranges stay in one iteration.
    pub local_loops: usize,
    /// `{ w -> r }`
    pub live: UnionMap,
    /// `{ r -> w′ }` for each read r and each later write w′, `{ w′ -> w }` for each dead write w′ and each later write w.
    pub order: UnionMap,
}

impl LiveRanges {
    /// `order` of all scalars.
    pub fn order(&self, ctx: &Ctx) -> Result<UnionMap, IslError> {
        let mut all = UnionMap::empty_ctx(ctx)?;
        for scalar in &self.scalars {
            all = all.union(&scalar.order)?;
        }
        Ok(all)
    }
}

/// The live ranges of the scalars for which it could matter and for which they can be known exactly: all accesses certain, no reduction taken apart already,
/// every read sees a write of the region, nobody is interested in the final content.
pub(super) fn ranges(scop: &Scop, prepared: &Prepared) -> Result<Vec<Ranged>, IslError> {
    let Prepared { known, order, all } = prepared;
    let candidates = candidates(scop)?;
    let mut alike: Vec<(Vec<Accessed>, Vec<ArrayId>)> = Vec::new();
    for array in candidates {
        let accessed = accessed(&all.filtered(|a| a.array == array))?;
        match position(&alike, &accessed)? {
            Some(at) => alike[at].1.push(array),
            None => alike.push((accessed, vec![array])),
        }
    }
    let mut out = Vec::new();
    for (_, arrays) in alike {
        let accesses = all.filtered(|a| a.array == arrays[0]);
        out.extend(ranged(scop, arrays, &accesses, order, known)?);
    }
    Ok(out)
}

fn candidates(scop: &Scop) -> Result<BTreeSet<ArrayId>, IslError> {
    let mut out: BTreeSet<ArrayId> =
        scop.arrays.iter().filter(|(_, a)| a.kind.is_scalar() && !a.live_out).map(|(id, _)| *id).collect();
    for statement in scop.statements.values() {
        for access in &statement.accesses {
            let certain = access.exact && access.kind != AccessKind::MayWrite && !statement.boxed;
            // A live range that ends outside of the loops does not stay in them.
            let ends_outside = !access.is_write() && statement.domain.dim(DimType::Set)? == 0;
            if !certain || access.update.is_some() || ends_outside {
                out.remove(&access.array);
            }
        }
    }
    Ok(out)
}

/// A statement, whether it writes, and the instances that do.
type Accessed = (StatementId, bool, Set);

fn accessed(accesses: &PhasedAccesses) -> Result<Vec<Accessed>, IslError> {
    let mut out: Vec<Accessed> = Vec::new();
    for Phased { statement, writes, relation, .. } in &accesses.0 {
        let instances = relation.domain()?;
        if !contains(&out, (*statement, *writes, &instances))? {
            out.push((*statement, *writes, instances));
        }
    }
    Ok(out)
}

fn contains(all: &[Accessed], (statement, writes, instances): (StatementId, bool, &Set)) -> Result<bool, IslError> {
    for (s, w, i) in all {
        if *s == statement && *w == writes && i.plain_is_equal(instances)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn position(all: &[(Vec<Accessed>, Vec<ArrayId>)], accessed: &[Accessed]) -> Result<Option<usize>, IslError> {
    for (at, (other, _)) in all.iter().enumerate() {
        if is_same(other, accessed)? {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

fn is_same(a: &[Accessed], b: &[Accessed]) -> Result<bool, IslError> {
    for (statement, writes, instances) in a {
        if !contains(b, (*statement, *writes, instances))? {
            return Ok(false);
        }
    }
    Ok(a.len() == b.len())
}

fn ranged(
    scop: &Scop,
    arrays: Vec<ArrayId>,
    accesses: &PhasedAccesses,
    order: &Phases,
    known: &KnownParams,
) -> Result<Option<Ranged>, IslError> {
    let ctx = &scop.ctx;
    let reads = accesses.relation(ctx, |a| !a.writes)?;
    let writes = accesses.relation(ctx, |a| a.writes)?;
    let flow = Question::certain(&reads, &writes).ask(&order.of_accesses(ctx, accesses)?)?.certain()?;
    let initial = reads.domain()?.subtract(&flow.range()?)?;
    if !initial.intersect_params(&known.values)?.is_empty()? {
        return Ok(None);
    }
    let live = possible(&order.instances(ctx, &flow)?, known)?;
    let local_loops = local_loops(&live)?;
    if local_loops == 0 {
        return Ok(None);
    }
    let dead = writes.domain()?.subtract(&flow.domain()?)?;
    let mut pairs = UnionMap::empty_ctx(ctx)?;
    for sink in accesses.0.iter().filter(|a| a.writes) {
        for source in &accesses.0 {
            let source = match source.writes {
                false => source.clone(),
                true => {
                    let dead = dead.extract_set(&source.relation.get_space()?.domain()?)?;
                    Phased { relation: source.relation.intersect_domain(&dead)?, ..source.clone() }
                }
            };
            if !source.relation.is_empty()? {
                pairs = pairs.union(&order.conflicts(ctx, &source, sink)?)?;
            }
        }
    }
    Ok(Some(Ranged { arrays, local_loops, live, order: possible(&pairs, known)? }))
}

fn local_loops(live: &UnionMap) -> Result<usize, IslError> {
    let mut least = usize::MAX;
    for map in live.maps()? {
        let depth = map.dim(DimType::In)?.min(map.dim(DimType::Out)?);
        let mut loops = 0;
        while loops < depth && map.is_subset(&map.equate(DimType::In, loops, DimType::Out, loops)?)? {
            loops += 1;
        }
        least = least.min(loops);
    }
    Ok(least)
}
