//! From flat byte offsets to subscripts of arrays, whose inner sizes are numbers or affine in the parameters.
//!
//! Words. A **cell** is the unit in which memory is divided; offsets are multiples of it. A **shape** is a list of inner sizes
//! L₁ … Lₖ; the **strides** of its dimensions are T₀ = L₁⋯Lₖ, T₁ = L₂⋯Lₖ, …, Tₖ = 1, each a multiple of the next. Every integer
//! offset has exactly one representation Σ xⱼ·Tⱼ with 0 ≤ xⱼ < Lⱼ for j ≥ 1, if all sizes are positive. So once those bounds hold
//! for all accesses, two accesses touch the same cell if and only if all their subscripts agree. A **view** of an access is a
//! list of affine subscripts that makes the same offsets.
//!
//! Example: A[i + 1][j − 1] in rows of n has the flat offset n·i + j + n − 1. The strides n and 1 come from the factors of the
//! counters; dividing by n splits the rest as 1·n − 1. Where j − 1 is in 0 .. n over the domain the view is proved; where it is
//! not for all parameters, those for which it is are the condition.

mod access;
mod block;
mod candidates;
mod condition;
mod division;
mod samples;
mod subscripts;
#[cfg(test)]
mod tests;

pub use block::{BlockCells, ByteBlock, between, loose_cells};

use crate::polynomial::{PiecewisePolynomial, Polynomial};
use access::{KnownDomain, Linear, all_params, cell_bytes};
use candidates::{COST_SCAN, Chain, constant_chains, parametric_chains, strides_of_counters};
use condition::{Broken, happening, outside_of, outside_of_each, worth_testing};
use isl::{Budget, Ctx, IslError, Map, PwAff, Set};
use samples::{Samples, Score};
use std::cell::OnceCell;
use subscripts::{Demand, Placements, Subscripts, divide_offset, view};

/// Bytes from the base of the array; the domain's tuple has no name.
#[derive(Clone, Debug)]
pub enum Offset {
    /// It may contain integer divisions.
    Affine(PwAff),
    Polynomial(PiecewisePolynomial),
}

impl Offset {
    pub fn as_affine(&self) -> Option<&PwAff> {
        match self {
            Offset::Affine(function) => Some(function),
            Offset::Polynomial(_) => None,
        }
    }
    /// Equal at a glance; others may be equal too.
    pub fn is_plainly_equal(&self, other: &Offset) -> bool {
        match (self, other) {
            (Offset::Affine(a), Offset::Affine(b)) => a.plain_is_equal(b).unwrap_or(false),
            (Offset::Polynomial(a), Offset::Polynomial(b)) => a.is_plainly_equal(b),
            _ => false,
        }
    }
}

/// `bytes` bytes from `offset` on, for every instance in `domain`.
#[derive(Clone, Debug)]
pub struct LinearAccess {
    /// `{ [i…] }`; its parameters are named `p<k>`.
    pub domain: Set,
    pub offset: Offset,
    pub bytes: u64,
}

/// A shape for the accesses of one array.
#[derive(Clone, Debug)]
pub struct Shape {
    pub cell_bytes: u64,
    /// In cells, affine in the parameters, outermost first; empty: flat.
    pub inner_sizes: Vec<Polynomial>,
    /// Per access `{ [i…] -> [subscripts] }`, restricted to its domain and the context; the range tuple has no name yet.
    /// `None`: there is no view of this access, it may touch anything in the array.
    pub relations: Vec<Option<Map>>,
    /// The parameters for which the relations are right and the inner subscripts stay in range; the universe where that is proved.
    pub condition: Set,
    /// Why some access has no view, for the programmer.
    pub refusal: Option<String>,
}

/// Shapes that are looked at closely, that is, with isl.
const MAX_EVALUATED: usize = 4;
/// Shapes that are tried of those that one access alone suggests.
const MAX_OF_ONE_ACCESS: usize = 4;
/// A condition of more convex parts is not worth testing at run time.
const MAX_CONDITION_PARTS: usize = 2;
/// Where sizes are parameters more of them are, for there is no flat view to fall back on.
const MAX_PARAMETRIC_CONDITION_PARTS: usize = 8;
/// Where subscripts leave their rows in more ways, no exact condition is looked for: the time grows with their square.
const MAX_BROKEN_PARTS: usize = 12;
/// A proved shape gets further dimensions under a condition only if they have so many cells: the 2 in a subscript 2i + k is a step, not
/// the length of a row.
const MIN_ROW: i128 = 8;
/// Percent of what a shape with less simple sizes fits that one with simpler sizes has to fit to be preferred: in general, and where
/// counters are multiplied with its strides as they are.
const LIKELY: usize = 75;
const LIKELY_ALONG_ROWS: usize = 50;
/// Operations of isl after which the best shape so far is taken.
const SEARCH_OPERATIONS: u64 = 100_000;
/// All of it, for one array.
const DELINEARIZE: Budget = Budget::new("delinearize", 500_000);
/// A shape that needs more than this to be proved is not taken.
const ONE_SHAPE: Budget = Budget::new("one shape", 50_000);

/// The shape in which the accesses have views under the weakest condition.
///
/// Affine offsets have a flat view without any condition. For them a shape is taken if it is proved, the one with the most
/// dimensions first; or if it tells loops apart that share a flat offset or a subscript of what is proved, under a condition that
/// leaves every access possible.
///
/// Ensures: under the condition the relations describe exactly the cells that the accesses touch; two of them meet if and only if
/// bytes overlap within a cell. Running out of budget is a refusal, not an error.
pub fn recover_shape(ctx: &Ctx, accesses: &[LinearAccess], context: &Set) -> Result<Shape, IslError> {
    let found = ctx.try_within(DELINEARIZE, || recover(ctx, accesses, context))?;
    found.map_or_else(|| flat_shape(ctx, accesses, context), Ok)
}

/// Affine offsets as they are; the others have no view. For when there is no time to look for shapes.
pub fn flat_shape(ctx: &Ctx, accesses: &[LinearAccess], context: &Set) -> Result<Shape, IslError> {
    let cell_bytes = cell_bytes(accesses)?;
    let linear = linear(ctx, accesses, cell_bytes, context)?;
    flat(ctx, &linear, cell_bytes, Some("too long a search".into()))
}

fn recover(ctx: &Ctx, accesses: &[LinearAccess], context: &Set) -> Result<Shape, IslError> {
    let cell_bytes = cell_bytes(accesses)?;
    let linear = linear(ctx, accesses, cell_bytes, context)?;
    let found = if linear.iter().all(|a| a.flat.is_some()) {
        constant_shape(ctx, &linear)?
    } else {
        parametric_shape(ctx, &linear)?
    };
    if let Some(found) = found {
        let shape = found.into_shape(ctx, &linear, cell_bytes)?;
        // A subscript that isl cannot be given is no reason to know less than the flat view does.
        if shape.relations.iter().all(Option::is_some) || linear.iter().any(|a| a.flat.is_none()) {
            return Ok(shape);
        }
    }
    flat(ctx, &linear, cell_bytes, None)
}

fn linear(ctx: &Ctx, accesses: &[LinearAccess], cell_bytes: u64, context: &Set) -> Result<Vec<Linear>, IslError> {
    let params = all_params(ctx, accesses, context)?;
    let context = context.align_params(&params)?;
    let mut all: Vec<Linear> = Vec::new();
    let mut domains: Vec<(usize, &Set)> = Vec::new();
    for access in accesses {
        let mut same = None;
        for (k, domain) in &domains {
            if domain.plain_is_equal(&access.domain)? {
                same = Some(&all[*k]);
                break;
            }
        }
        let domain = match same {
            Some(earlier) => earlier.domain.clone(),
            None => {
                domains.push((all.len(), &access.domain));
                KnownDomain::new(domains.len(), &access.domain.align_params(&params)?, &context)?
            }
        };
        all.push(Linear::new(ctx, access, cell_bytes, &params, domain)?);
    }
    Ok(all)
}

fn everywhere(ctx: &Ctx) -> Result<Set, IslError> {
    Set::universe(&isl::Space::params_alloc(ctx, 0)?)
}

const NO_SHAPE: &str = "no array shape with affine sizes fits all its subscripts";

fn flat(ctx: &Ctx, accesses: &[Linear], cell_bytes: u64, why: Option<String>) -> Result<Shape, IslError> {
    let relations = accesses.iter().map(Linear::flat_relation).collect::<Result<Vec<_>, _>>()?;
    let blind = accesses.iter().zip(&relations).find(|(_, r)| r.is_none());
    let refusal = blind.map(|(a, _)| a.obstacle.map_or_else(|| why.unwrap_or_else(|| NO_SHAPE.into()), str::to_string));
    Ok(Shape { cell_bytes, inner_sizes: Vec::new(), relations, condition: everywhere(ctx)?, refusal })
}

/// A shape that the accesses fit into: with a view per access.
struct Fit {
    chain: Chain,
    views: Vec<Option<Subscripts>>,
    /// `None`: proved.
    condition: Option<Set>,
    broken: Option<Set>,
}

impl Fit {
    fn into_shape(self, ctx: &Ctx, accesses: &[Linear], cell_bytes: u64) -> Result<Shape, IslError> {
        let dims = 1 + self.chain.sizes.len();
        let mut relations = Vec::new();
        for (access, view) in accesses.iter().zip(&self.views) {
            relations.push(match view {
                Some(view) => view.relation(access, dims)?,
                None => None,
            });
        }
        let blind = accesses.iter().zip(&relations).find(|(_, r)| r.is_none());
        let refusal = blind.map(|(a, _)| a.obstacle.unwrap_or(NO_SHAPE).to_string());
        let condition = self.condition.map_or_else(|| everywhere(ctx), Ok)?;
        Ok(Shape { cell_bytes, inner_sizes: self.chain.sizes, relations, condition, refusal })
    }

    fn missing(&self) -> usize {
        self.views.iter().filter(|v| v.is_none()).count()
    }

    fn pieces(&self) -> usize {
        self.views.iter().flatten().map(|v| v.pieces.len()).sum()
    }

    /// In some subscript two loops turn at different speeds.
    fn mixes_loops(&self) -> bool {
        let subscripts = self.views.iter().flatten().flat_map(|v| &v.pieces).flat_map(|(_, subscripts)| subscripts);
        subscripts.into_iter().any(Polynomial::mixes_counters)
    }

    /// Every access has one view for all its instances.
    fn is_steady(&self, accesses: &[Linear]) -> bool {
        let needed: usize = accesses.iter().map(|a| a.pieces.len()).sum();
        self.missing() == 0 && self.pieces() <= needed
    }

    /// Nothing better is to be expected.
    fn is_best(&self, accesses: &[Linear]) -> bool {
        self.broken.is_none() && self.is_steady(accesses)
    }

    /// Whether it should replace `other`, which was found earlier.
    fn is_better_than(&self, other: &Fit) -> Result<bool, IslError> {
        if self.missing() != other.missing() {
            return Ok(self.missing() < other.missing());
        }
        match (&self.broken, &other.broken) {
            (None, None) => Ok((self.pieces(), self.chain.sizes.len()) < (other.pieces(), other.chain.sizes.len())),
            (None, Some(_)) => Ok(true),
            (Some(_), None) => Ok(false),
            (Some(mine), Some(theirs)) => {
                if !mine.is_subset(theirs)? {
                    return Ok(false);
                }
                let weaker = !theirs.is_subset(mine)?;
                Ok(weaker || (self.pieces(), self.chain.sizes.len()) < (other.pieces(), other.chain.sizes.len()))
            }
        }
    }
}

/// Affine offsets in rows of constant size.
fn constant_shape(ctx: &Ctx, accesses: &[Linear]) -> Result<Option<Fit>, IslError> {
    if accesses.iter().any(|a| a.obstacle.is_some()) {
        return Ok(None);
    }
    let all: Vec<&Linear> = accesses.iter().collect();
    let chains = constant_chains(&all);
    let mut proved = None;
    for chain in &chains {
        proved = evaluate(accesses, chain, Demand::Proof, || everywhere(ctx))?;
        if proved.is_some() {
            break;
        }
    }
    let mixed = proved.as_ref().map_or_else(|| accesses.iter().any(Linear::mixes_loops), Fit::mixes_loops);
    if mixed {
        let happening = happening(&all)?.map_or_else(|| everywhere(ctx), Ok)?;
        for chain in chains.iter().filter(|c| proved.as_ref().is_none_or(|p| c.refines(&p.chain, MIN_ROW))) {
            let found = evaluate(accesses, chain, Demand::Condition, || Ok(happening.clone()))?;
            if let Some(found) = found.filter(|f| proved.is_none() || !f.mixes_loops()) {
                return Ok(Some(found));
            }
        }
    }
    Ok(proved)
}

/// Offsets with products of parameters and counters.
fn parametric_shape(ctx: &Ctx, accesses: &[Linear]) -> Result<Option<Fit>, IslError> {
    let readable: Vec<&Linear> = accesses.iter().filter(|a| a.obstacle.is_none()).collect();
    let mut search = Search::new(ctx, accesses)?;
    search.consider(parametric_chains(&readable, COST_SCAN - 1))?;
    // A far-fetched shape may hold a little more often, by views that jump between rows: not worth what they cost afterwards.
    if search.is_done() || search.best.as_ref().is_some_and(|b| b.is_steady(accesses)) {
        return Ok(search.best);
    }
    search.consider(parametric_chains(&readable, u32::MAX))?;
    if search.best.as_ref().is_none_or(|b| b.missing() > accesses.len() - readable.len()) {
        // Some access defeats every shape of all: the shapes that accesses suggest one by one.
        let mut chains = Vec::new();
        for access in &readable {
            chains.extend(parametric_chains(&[access], COST_SCAN - 1).into_iter().take(MAX_OF_ONE_ACCESS));
        }
        search.consider(chains)?;
    }
    Ok(search.best)
}

/// Looking for the best shape, by samples first, then by proof.
struct Search<'a> {
    ctx: &'a Ctx,
    accesses: &'a [Linear],
    samples: Samples,
    happening: OnceCell<Set>,
    seen: Vec<Vec<Polynomial>>,
    best: Option<Fit>,
    best_score: Option<Score>,
    start: u64,
}

impl<'a> Search<'a> {
    fn new(ctx: &'a Ctx, accesses: &'a [Linear]) -> Result<Self, IslError> {
        let start = ctx.operations_left().unwrap_or(u64::MAX);
        let samples = Samples::new(accesses)?;
        let (happening, seen) = (OnceCell::new(), Vec::new());
        Ok(Search { ctx, accesses, samples, happening, seen, best: None, best_score: None, start })
    }

    /// Nothing better is to be expected: it is proved, or fits wherever it was tried.
    fn is_done(&self) -> bool {
        let perfect = self.samples.perfect(self.accesses);
        self.best.as_ref().is_some_and(|b| b.is_best(self.accesses))
            || perfect.fitting > 0 && self.best_score == Some(perfect) && self.best.is_some()
    }

    /// Proves, or finds the conditions of, those of the chains that do best on the samples.
    fn consider(&mut self, mut chains: Vec<Chain>) -> Result<(), IslError> {
        chains.retain(|c| !self.seen.contains(&c.sizes));
        let scored: Vec<(Score, Chain)> =
            chains.into_iter().map(|c| (self.samples.score(self.accesses, &c), c)).collect();
        // n is a likelier size than n + 1, which the counters of a triangle suggest as much and which holds a little more; all the more
        // if some counter goes through rows of n, and one through the diagonal.
        let strides = strides_of_counters(self.accesses);
        let promoted = |(score, chain): &(Score, Chain)| {
            let goes_along_rows = chain.strides.iter().all(|stride| strides.contains(stride));
            let enough = if goes_along_rows { LIKELY_ALONG_ROWS } else { LIKELY };
            let variants = scored.iter().filter(|(_, other)| chain.is_simpler_than(other)).map(|(score, _)| score);
            let close =
                variants.filter(|other| other.views == score.views && 100 * score.fitting >= enough * other.fitting);
            (close.copied().max().unwrap_or(*score).max(*score), chain.clone())
        };
        let mut ranked: Vec<(Score, Chain)> = scored.iter().map(promoted).collect();
        ranked.sort_by_key(|(score, chain)| (std::cmp::Reverse(*score), chain.added(), chain.cost, chain.sizes.len()));
        for (evaluated, (score, chain)) in ranked.into_iter().enumerate() {
            let spent = self.start - self.ctx.operations_left().unwrap_or(self.start);
            if evaluated >= MAX_EVALUATED || self.best.is_some() && spent > SEARCH_OPERATIONS {
                break;
            }
            if score.views == 0 || self.best_score.is_some_and(|best| score < best) {
                break;
            }
            self.seen.push(chain.sizes.clone());
            let happening = || -> Result<Set, IslError> {
                if let Some(known) = self.happening.get() {
                    return Ok(known.clone());
                }
                let all = happening(&self.accesses.iter().filter(|a| a.obstacle.is_none()).collect::<Vec<_>>())?;
                let all = all.map_or_else(|| everywhere(self.ctx), Ok)?;
                Ok(self.happening.get_or_init(|| all).clone())
            };
            let evaluate = || evaluate(self.accesses, &chain, Demand::Condition, happening);
            let Some(found) = self.ctx.try_within(ONE_SHAPE, evaluate)?.flatten() else { continue };
            let better = match &self.best {
                None => true,
                Some(best) if best.chain.is_simpler_than(&found.chain) && found.broken.is_some() => {
                    found.missing() < best.missing()
                }
                Some(best) => found.is_better_than(best)?,
            };
            if better {
                let done = found.is_best(self.accesses);
                self.best = Some(found);
                self.best_score = Some(score);
                if done {
                    break;
                }
            }
        }
        Ok(())
    }
}

/// All views in this shape; `None` if there are none, or they hold under a condition that is not worth testing.
fn evaluate(
    accesses: &[Linear],
    chain: &Chain,
    demand: Demand,
    happening: impl FnOnce() -> Result<Set, IslError>,
) -> Result<Option<Fit>, IslError> {
    let mut views = Vec::new();
    let mut broken = Broken::default();
    let mut placements = Placements::default();
    let constant = chain.sizes.iter().all(|s| s.degree() == 0);
    for access in accesses {
        let fits = access.obstacle.is_none() && access.pieces.iter().all(|(_, p)| divide_offset(p, chain).is_some());
        let found = if fits { view(access, chain, demand, &mut placements)? } else { None };
        if found.is_none() && constant {
            return Ok(None);
        }
        if let Some(view) = &found {
            broken.add_all(&view.broken)?;
        }
        views.push(found);
    }
    if views.iter().all(Option::is_none) {
        return Ok(None);
    }
    if broken.parts.is_empty() {
        return Ok(Some(Fit { chain: chain.clone(), views, condition: None, broken: None }));
    }
    let max_parts = if constant { MAX_CONDITION_PARTS } else { MAX_PARAMETRIC_CONDITION_PARTS };
    let each = || accesses.iter().zip(&views).filter_map(|(a, v)| Some((a, &v.as_ref()?.broken)));
    let (condition, all_broken) = if broken.parts.len() > MAX_BROKEN_PARTS {
        (outside_of_each(each())?, broken.union()?)
    } else {
        let all_broken = broken.union()?.coalesce()?;
        let exact = outside_of(&all_broken, &happening()?)?;
        let too_long = exact.n_basic_set()? > max_parts;
        (if too_long { outside_of_each(each())? } else { exact }, all_broken)
    };
    let seen: Vec<&Linear> = accesses.iter().zip(&views).filter(|(_, v)| v.is_some()).map(|(a, _)| a).collect();
    if !worth_testing(&condition, &seen, max_parts)? {
        return Ok(None);
    }
    Ok(Some(Fit { chain: chain.clone(), views, condition: Some(condition), broken: Some(all_broken) }))
}
