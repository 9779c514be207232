//! The orders that isl's scheduler finds, neither tiled nor judged.

use super::Fusion;
use crate::dependence::Dependences;
use crate::scop::Scop;
use isl::{
    BasicMap, Constraint, Ctx, DimType, IslError, Schedule, ScheduleAlgorithm, ScheduleConstraints, UnionMap, UnionSet,
};

/// Large coefficients and shifts make loops that nobody wants to run, and linear programs that take long.
const MAX_COEFFICIENT: i32 = 20;
const MAX_CONSTANT_TERM: i32 = 20;

/// A number in a constraint that says how far a loop goes, not how far a dependence reaches.
const SIZE: i64 = 64;

/// What isl's scheduler is told of a region, prepared once for all runs of it.
pub struct Orders {
    ctx: Ctx,
    domain: UnionSet,
    exact: Relations,
    simplified: Relations,
    /// Made when it is needed for the first time.
    unsized_relations: Option<Relations>,
}

/// `{ source -> sink }` each.
struct Relations {
    /// What every order must respect.
    validity: UnionMap,
    /// What iterations that run at once must not have between them, if that is something else.
    coincidence: Option<UnionMap>,
    /// What should be close together.
    proximity: UnionMap,
}

impl Relations {
    fn map(&self, simplify: impl Fn(&UnionMap) -> Result<UnionMap, IslError>) -> Result<Relations, IslError> {
        Ok(Relations {
            validity: simplify(&self.validity)?,
            coincidence: self.coincidence.as_ref().map(&simplify).transpose()?,
            proximity: simplify(&self.proximity)?,
        })
    }
}

impl Orders {
    /// Requires: `deps` are the dependences of `scop`.
    pub fn of(scop: &Scop, deps: &Dependences, reuse_of_reads: bool) -> Result<Orders, IslError> {
        let mut domain = UnionSet::empty_ctx(&scop.ctx)?;
        for statement in scop.statements.values() {
            domain = domain.union(&UnionSet::from_set(&statement.domain)?)?;
        }
        let mut proximity = deps.flow.union(&deps.reduction)?;
        if reuse_of_reads {
            proximity = proximity.union(&reads_of_one_cell(scop)?)?;
        }
        let coincidence = if deps.has_reductions()? { Some(deps.with_reductions()?) } else { None };
        let exact = Relations { validity: deps.validity()?, coincidence, proximity };
        let simplified = exact.map(|pairs| pairs.gist_domain(&domain)?.gist_range(&domain)?.coalesce())?;
        Ok(Orders { ctx: scop.ctx.clone(), domain, exact, simplified, unsized_relations: None })
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
    /// Ensures: the order respects all dependences.
    pub fn find(&mut self, fusion: Fusion) -> Result<Schedule, IslError> {
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
        match self.compute(&self.simplified) {
            Err(error) if is_no_order(&error) => {}
            result => return result,
        }
        let unsized_relations = match self.unsized_relations.take() {
            Some(relations) => relations,
            None => self.exact.map(without_sizes)?,
        };
        let result = self.compute(&unsized_relations);
        self.unsized_relations = Some(unsized_relations);
        match result {
            Err(error) if is_no_order(&error) => self.compute(&self.exact),
            result => result,
        }
    }

    fn compute(&self, relations: &Relations) -> Result<Schedule, IslError> {
        ScheduleConstraints::on_domain(&self.domain)?
            .set_validity(&relations.validity)?
            .set_coincidence(relations.coincidence.as_ref().unwrap_or(&relations.validity))?
            .set_proximity(&relations.proximity)?
            .compute_schedule()
    }
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

/// `{ s -> t }`, s earlier than t, both reading a cell.
fn reads_of_one_cell(scop: &Scop) -> Result<UnionMap, IslError> {
    let mut reads = UnionMap::empty_ctx(&scop.ctx)?;
    for access in scop.statements.values().flat_map(|s| &s.accesses).filter(|a| !a.is_write()) {
        reads = reads.union(&UnionMap::from_map(&access.relation)?)?;
    }
    let times = scop.schedule.get_map()?;
    reads.apply_range(&reads.reverse()?)?.intersect(&times.lex_lt_union_map(&times)?)
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
