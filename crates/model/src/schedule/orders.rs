//! The orders that isl's scheduler finds, neither tiled nor judged.

use super::Fusion;
use crate::dependence::{Dependences, Ranged, once};
use crate::scop::{ArrayId, Scop};
use crate::transform::are_apart;
use isl::{
    BasicMap, Constraint, Ctx, DimType, IslError, Schedule, ScheduleAlgorithm, ScheduleConstraints, UnionMap, UnionSet,
};
use std::cell::OnceCell;

/// Large coefficients and shifts make loops that nobody wants to run, and linear programs that take long.
const MAX_COEFFICIENT: i32 = 20;
const MAX_CONSTANT_TERM: i32 = 20;

/// A number in a constraint that says how far a loop goes, not how far a dependence reaches.
const SIZE: i64 = 64;

/// The budgets of the first runs of isl's scheduler, each half of what is left. Where numbers of many digits arise, as they do from
/// constant sizes, one run would use up everything.
const SIMPLIFIED: &str = "schedule from simplified dependences";
const UNSIZED: &str = "schedule from dependences without sizes";
const EXACT: &str = "schedule from exact dependences";

/// What may happen to the live ranges of scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalars {
    /// They keep their order.
    InOrder,
    /// They may change places.
    Reordered,
}

/// What isl's scheduler is told of a region, prepared once for all runs of it.
pub struct Orders<'a> {
    ctx: Ctx,
    domain: UnionSet,
    /// What is not simplified is made when it is needed for the first time.
    exact: OnceCell<Relations>,
    simplified: Relations,
    unsized_relations: OnceCell<Relations>,
    told: Told<'a>,
}

/// What is told, as it is.
#[derive(Clone)]
struct Told<'a> {
    has_predicates: bool,
    deps: &'a Dependences,
    /// Those that may change places.
    ranges: Vec<Ranged>,
}

/// `{ source -> sink }` each.
struct Relations {
    /// What every order must respect.
    validity: UnionMap,
    /// What iterations that run at once must not have between them, if that is something else.
    coincidence: Option<UnionMap>,
    /// What should be close together.
    proximity: UnionMap,
    /// `{ [source -> A[]] -> [sink -> A[]] }`: pairs to respect wherever a live range of the scalar A that ends at their source or
    /// begins at their sink is not local.
    conditional: Option<Conditional>,
}

struct Conditional {
    live: UnionMap,
    order: UnionMap,
}

impl Told<'_> {
    /// What may not be written hides nothing that was there before, so that all pairs of a chain depend on each other. The scheduler
    /// only needs neighbours: where those are in order, all are. What comes of it is checked with all.
    fn neighbours(&self, pairs: UnionMap) -> Result<UnionMap, IslError> {
        if self.has_predicates { pairs.subtract(&pairs.apply_range(&pairs)?)?.coalesce() } else { Ok(pairs) }
    }

    /// All of it through `simplify`, but what is in `done` already.
    fn relations(
        &self,
        simplify: impl Fn(&UnionMap) -> Result<UnionMap, IslError>,
        done: Option<&Relations>,
    ) -> Result<Relations, IslError> {
        let deps = self.deps;
        let ctx = deps.flow.ctx();
        let proximity = match done {
            Some(done) => done.proximity.clone(),
            None => simplify(&self.neighbours(deps.flow.clone())?.union(&deps.reduction)?)?,
        };
        let all = || -> Result<UnionMap, IslError> {
            match done {
                Some(done) => Ok(done.validity.clone()),
                None => simplify(&self.neighbours(deps.validity()?)?),
            }
        };
        if self.ranges.is_empty() {
            let validity = all()?;
            let coincidence = match deps.has_reductions()? {
                true => Some(validity.union(&simplify(&deps.reduction)?)?.coalesce()?),
                false => None,
            };
            return Ok(Relations { validity, coincidence, proximity, conditional: None });
        }
        let (mut live, mut order) = (Vec::new(), Vec::new());
        let mut coincidence = all()?.union(&simplify(&deps.reduction)?)?;
        for scalar in &self.ranges {
            live.push((scalar.arrays[0], simplify(&scalar.live)?));
            let kept = simplify(&scalar.order)?;
            coincidence = coincidence.union(&kept)?;
            order.push((scalar.arrays[0], kept));
        }
        Ok(Relations {
            validity: simplify(&self.neighbours(deps.firm_validity()?)?)?,
            coincidence: Some(coincidence.coalesce()?),
            proximity,
            conditional: Some(Conditional { live: tagged(ctx, &live)?, order: tagged(ctx, &order)? }),
        })
    }
}

impl<'a> Orders<'a> {
    /// Of those in which live ranges of scalars keep their order.
    ///
    /// Requires: `deps` are the dependences of `scop`.
    pub fn of(scop: &Scop, deps: &'a Dependences) -> Result<Orders<'a>, IslError> {
        let ctx = &scop.ctx;
        let mut domain = UnionSet::empty_ctx(ctx)?;
        for statement in scop.statements.values() {
            domain = domain.union(&UnionSet::from_set(&statement.domain)?)?;
        }
        let has_predicates = scop.statements.values().any(|s| !s.predicates.is_empty());
        let told = Told { has_predicates, deps, ranges: Vec::new() };
        Orders::from_told(ctx.clone(), domain, told, None)
    }

    /// Of those in which they may change places, where they can.
    pub fn with_scalars_reordered(&self) -> Result<Orders<'a>, IslError> {
        let ranges = self.told.deps.ranges.as_ref().map_or_else(Vec::new, |ranges| ranges.scalars.clone());
        let told = Told { ranges, ..self.told.clone() };
        Orders::from_told(self.ctx.clone(), self.domain.clone(), told, Some(&self.simplified))
    }

    fn from_told(ctx: Ctx, domain: UnionSet, told: Told<'a>, done: Option<&Relations>) -> Result<Orders<'a>, IslError> {
        let simplify = |pairs: &UnionMap| pairs.gist_domain(&domain)?.gist_range(&domain)?.coalesce();
        let simplified = told.relations(simplify, done)?;
        Ok(Orders { ctx, domain, exact: OnceCell::new(), simplified, unsized_relations: OnceCell::new(), told })
    }

    fn exact(&self) -> Result<&Relations, IslError> {
        once(&self.exact, || self.told.relations(|pairs| Ok(pairs.clone()), None))
    }

    fn without_sizes(&self) -> Result<&Relations, IslError> {
        once(&self.unsized_relations, || self.told.relations(without_sizes, None))
    }

    /// One run of the scheduler.
    ///
    /// It turns every constraint of a dependence into an unknown of its linear programs, and every number in a constraint into
    /// a coefficient. So it is told less at first: what is left out of a relation makes it relate more pairs, and an order
    /// that respects those respects the dependences. But it may relate so many more, at any distance, that there is no such
    /// order; isl calls that an error, and then it is told more:
    ///
    /// 1. without the constraints that the domains imply: a stencil of three dimensions is sixty times faster to schedule;
    /// 2. without those that say how large the region is: what relates all pairs with `i < j < n` is the same for every n, and
    ///    numbers of many digits do not arise;
    /// 3. the exact relations.
    ///
    /// Where that takes too long, it is told of nothing that should be close together, and otherwise as in 2: distances then need
    /// no bound, and without sizes they often have none.
    ///
    /// Ensures: the order respects all dependences; where live ranges may change places, they are apart, also after bands are
    /// permuted and tiled. `None`: the scheduler did not see to the latter.
    pub fn find(&self, fusion: Fusion) -> Result<Option<Schedule>, IslError> {
        let ctx = &self.ctx;
        ctx.set_schedule_algorithm(ScheduleAlgorithm::Isl);
        ctx.set_schedule_serialize_sccs(fusion == Fusion::Min);
        ctx.set_schedule_whole_component(false);
        ctx.set_schedule_maximize_band_depth(true);
        ctx.set_schedule_maximize_coincidence(true);
        ctx.set_schedule_outer_coincidence(false);
        ctx.set_schedule_treat_coalescing(true);
        ctx.set_schedule_max_coefficient(MAX_COEFFICIENT);
        ctx.set_schedule_max_constant_term(MAX_CONSTANT_TERM);
        let schedule = self.find_any()?;
        Ok(if are_apart(&schedule, &self.told.ranges)? { Some(schedule) } else { None })
    }

    fn find_any(&self) -> Result<Schedule, IslError> {
        let ctx = &self.ctx;
        match ctx.try_within_part(SIMPLIFIED, 2, || self.compute(&self.simplified)) {
            Ok(Some(schedule)) => return Ok(schedule),
            Ok(None) => {}
            Err(error) if is_no_order(&error) => {}
            Err(error) => return Err(error),
        }
        let unsized_relations = self.without_sizes()?;
        let (stage, found) = match ctx.try_within_part(UNSIZED, 2, || self.compute(unsized_relations)) {
            Err(error) if is_no_order(&error) => {
                let exact = self.exact()?;
                (EXACT, ctx.try_within_part(EXACT, 2, || self.compute(exact)))
            }
            found => (UNSIZED, found),
        };
        match found? {
            Some(schedule) => Ok(schedule),
            None => {
                let nothing = UnionMap::empty_ctx(ctx)?;
                let otherwise = self.compute_with_proximity(unsized_relations, &nothing);
                otherwise.map_err(|_| IslError::OutOfBudget { stage })
            }
        }
    }

    fn compute(&self, relations: &Relations) -> Result<Schedule, IslError> {
        self.compute_with_proximity(relations, &relations.proximity)
    }

    fn compute_with_proximity(&self, relations: &Relations, proximity: &UnionMap) -> Result<Schedule, IslError> {
        let mut constraints = ScheduleConstraints::on_domain(&self.domain)?
            .set_validity(&relations.validity)?
            .set_coincidence(relations.coincidence.as_ref().unwrap_or(&relations.validity))?
            .set_proximity(proximity)?;
        if let Some(Conditional { live, order }) = &relations.conditional {
            constraints = constraints.set_conditional_validity(live, order)?;
        }
        constraints.compute_schedule()
    }
}

/// `{ A[] -> A[] }`
fn tag(ctx: &Ctx, array: ArrayId) -> Result<UnionMap, IslError> {
    UnionMap::read_from_str(ctx, &format!("{{ {array}[] -> {array}[] }}"))
}

/// `{ [s -> A[]] -> [t -> A[]] }` for each pair `{ s -> t }` of a scalar A.
fn tagged(ctx: &Ctx, pairs: &[(ArrayId, UnionMap)]) -> Result<UnionMap, IslError> {
    let mut all = UnionMap::empty_ctx(ctx)?;
    for (array, pairs) in pairs {
        all = all.union(&pairs.product(&tag(ctx, *array)?)?)?;
    }
    Ok(all)
}

/// Did the scheduler find no linear order that carries a dependence?
pub fn is_uncarried(error: &IslError) -> bool {
    matches!(error, IslError::Invalid { message, .. } if message.contains("unable to carry"))
}

fn is_no_order(error: &IslError) -> bool {
    !matches!(error, IslError::OutOfBudget { .. } | IslError::OutOfMemory { .. })
}

/// The relation without the constraints on parameters alone and without inequalities with large numbers.
///
/// Ensures: relates at least the pairs it related before.
fn without_sizes(pairs: &UnionMap) -> Result<UnionMap, IslError> {
    let mut out = UnionMap::empty_ctx(pairs.ctx())?;
    for piece in pairs.maps()?.iter().map(|map| map.basic_maps()).collect::<Result<Vec<_>, _>>()?.concat() {
        out = out.union(&UnionMap::from_basic_map(&piece_without_sizes(piece)?)?)?;
    }
    out.coalesce()
}

fn piece_without_sizes(piece: BasicMap) -> Result<BasicMap, IslError> {
    // A constraint with a variable of its own says little without the others.
    if piece.dim(DimType::Div)? > 0 {
        return Ok(piece);
    }
    let mut out = BasicMap::universe(&piece.get_space()?)?;
    for constraint in piece.constraints()? {
        if !is_about_size(&constraint)? {
            out = out.add_constraint(&constraint)?;
        }
    }
    Ok(out)
}

fn is_about_size(constraint: &Constraint) -> Result<bool, IslError> {
    let instances = [DimType::In, DimType::Out];
    let mut on_parameters_alone = true;
    if constraint.is_equality()? {
        return Ok(false);
    }
    for kind in instances {
        on_parameters_alone &= !constraint.involves_dims(kind, 0, constraint.dim(kind)?)?;
    }
    let mut numbers = vec![constraint.get_constant_val()?];
    for kind in instances.into_iter().chain([DimType::Param]) {
        for at in 0..constraint.dim(kind)? {
            numbers.push(constraint.get_coefficient_val(kind, at)?);
        }
    }
    let is_large = |n: &isl::Val| n.to_i64().is_none_or(|n| n.unsigned_abs() > SIZE as u64);
    Ok(on_parameters_alone || numbers.iter().any(is_large))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_far_loops_go_is_left_out_and_how_far_dependences_reach_is_kept() {
        let ctx = Ctx::new();
        let kept = |text: &str| without_sizes(&UnionMap::read_from_str(&ctx, text).unwrap()).unwrap();
        for (given, expected) in [
            (
                "[p0] -> { S0[i] -> S1[j] : p0 <= 2501 and 0 <= i < j < p0 }",
                "[p0] -> { S0[i] -> S1[j] : 0 <= i < j < p0 }",
            ),
            ("{ S0[i] -> S1[j] : 0 <= i < j <= 1998 }", "{ S0[i] -> S1[j] : 0 <= i < j }"),
            ("{ S0[i] -> S1[j] : i = 2500 and i <= j <= i + 3 }", "{ S0[2500] -> S1[j] }"),
            (
                "{ S0[i] -> S1[2i] : exists e : i = 3e and 0 <= i < 2000 }",
                "{ S0[i] -> S1[2i] : i mod 3 = 0 and 0 <= i < 2000 }",
            ),
        ] {
            let found = kept(given);
            assert!(found.is_equal(&UnionMap::read_from_str(&ctx, expected).unwrap()).unwrap(), "{given}: {found}");
        }
    }
}
