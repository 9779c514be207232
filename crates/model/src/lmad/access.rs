//! Descriptors of the accesses of a region.

use super::{Dim, Ground, Lmad, Loop, Mark, Side};
use crate::delinearize::Offset;
use crate::polynomial::{Facts, PiecewisePolynomial, Polynomial, Product, Symbol, TooLarge, Var, Whole};
use crate::scop::{Access, AccessKind, Role, Statement};
use isl::{BasicSet, Budget, Constraint, DimType, IslError, Set};

/// Operations of isl for one access.
const DESCRIBE: Budget = Budget::new("access descriptor", 20_000);
/// Loops around, and bounds of one of them on one side, beyond which nobody would read the descriptor.
const MAX_LOOPS: usize = 8;
const MAX_BOUNDS: usize = 3;

impl Lmad {
    /// What the access touches in all instances of its statement: bytes from the base of the array, one dimension for each loop that
    /// moves it, the innermost first.
    ///
    /// It is meant for parameters at which the assumptions hold and the statement has an instance; guards that speak of nothing else
    /// than parameters hold there, and are no part of what is shown. `None`: the address is not one polynomial, a loop has too many
    /// bounds, or nobody knows in which direction it goes.
    ///
    /// `given` is what is known and assumed of the parameters, see [`Scop::given`].
    pub fn of_access(statement: &Statement, access: &Access, given: &Set) -> Result<Option<Lmad>, IslError> {
        Ok(given.ctx().try_within(DESCRIBE, || of_access(statement, access, given))?.flatten())
    }
}

fn of_access(statement: &Statement, access: &Access, given: &Set) -> Result<Option<Lmad>, IslError> {
    // Rows behind pointers have no place in a row of bytes.
    if access.row.is_some() || access.bytes == 0 {
        return Ok(None);
    }
    let Some((somewhere, offset)) = one_polynomial(access)? else { return Ok(None) };
    let domain = statement.domain.reset_tuple_id()?;
    let instances = domain.intersect_params(given)?;
    let depth = domain.dim(DimType::Set)?;
    if depth > MAX_LOOPS || instances.is_empty()? || !instances.is_subset(&somewhere.reset_tuple_id()?)? {
        return Ok(None);
    }
    let Some(nest) = Nest::of(&domain.gist_params(given)?.coalesce()?, depth)? else { return Ok(None) };
    let params = known_of(&instances)?;
    let element = Lmad::element(Whole::from(&offset), access.bytes.into());
    let Ok(Some(lmad)) = nest.expand(element, &params).and_then(|lmad| lmad.countable(&params)) else {
        return Ok(None);
    };
    // A write is also taken for one that may not happen where nobody knows an array's shape, whether it happens or not.
    let is_store = access.unshaped.is_some() && matches!(access.role, Role::Store { .. });
    let is_certain = statement.is_certain() && (access.kind != AccessKind::MayWrite || is_store);
    let is_exact =
        is_certain && lmad.is_plain(&params) && nest.points.intersect_params(given)?.is_subset(&instances)?;
    Ok(Some(if is_exact { lmad } else { lmad.marked(Mark::Over) }))
}

/// The address, and where it is that; `None` if it is several polynomials or none.
fn one_polynomial(access: &Access) -> Result<Option<(Set, Polynomial)>, IslError> {
    let pieces = match (&access.offset, &access.unshaped) {
        (Some(Offset::Polynomial(offset)), _) | (None, Some(offset)) => offset.clone(),
        (Some(Offset::Affine(function)), _) => match PiecewisePolynomial::from_pw_aff(function)? {
            Some(offset) => offset,
            None => return Ok(None),
        },
        (None, None) => return Ok(None),
    };
    let pieces = if pieces.pieces.len() > 1 { pieces.merged()?.pieces } else { pieces.pieces };
    let one: Result<[_; 1], _> = pieces.try_into();
    Ok(one.ok().map(|[piece]| piece))
}

/// The loops around a statement.
///
/// Each counter d is between bounds that speak of the counters before it: the constraints on it that hold of all instances, projected to
/// the first d + 1 counters. All of these constraints together hold of `points`, which may be more than the instances.
struct Nest {
    bounds: Vec<Bounds>,
    points: Set,
}

struct Bounds {
    /// As functions of the counters around it: the first and the last value, of several the greatest and the least.
    lowest: Vec<Whole>,
    highest: Vec<Whole>,
    /// ≥ 0 at all points.
    known: Vec<Whole>,
}

impl Nest {
    /// `None`: there is no bound, there are too many, or their numbers are too large.
    fn of(domain: &Set, depth: usize) -> Result<Option<Nest>, IslError> {
        let domain = domain.remove_divs()?.simple_hull()?;
        let mut points = Set::universe(&domain.get_space()?)?;
        let mut bounds = Vec::new();
        for d in 0..depth {
            let inner = depth - d - 1;
            let within = match inner {
                0 => domain.clone(),
                _ => domain.to_set()?.project_out(DimType::Set, d + 1, inner)?.remove_divs()?.simple_hull()?,
            };
            let own = within.drop_constraints_not_involving_dims(DimType::Set, d, 1)?;
            points = points.intersect(&own.to_set()?.add_dims(DimType::Set, inner)?)?;
            match Bounds::of(&within, d)? {
                Some(found) => bounds.push(found),
                None => return Ok(None),
            }
        }
        Ok(Some(Nest { bounds, points }))
    }

    /// Loop by loop from the inside, each counted from 0.
    fn expand(&self, mut lmad: Lmad, params: &Facts) -> Result<Lmad, TooLarge> {
        for (d, bounds) in self.bounds.iter().enumerate().rev() {
            // At the points around the loop.
            let known: Vec<&Whole> = self.bounds[..d].iter().flat_map(|around| &around.known).collect();
            let facts = params.and(&known);
            let extreme = |of: &[Whole], take: fn(&Facts, &Whole, &Whole) -> Result<Whole, TooLarge>| {
                let (first, others) = of.split_first().ok_or(TooLarge)?;
                others.iter().try_fold(first.clone(), |a, b| take(&facts, &a, b))
            };
            let lowest = extreme(&bounds.lowest, Facts::max)?;
            let highest = extreme(&bounds.highest, Facts::min)?;
            let index = Symbol::counter(d);
            if !lowest.is_zero() {
                lmad = lmad.with(index, &lowest.add(&Whole::symbol(index))?)?;
            }
            let around = Loop { index, last: highest.sub(&lowest)? };
            lmad = lmad.expand(&around, &mut Ground::proved(facts)).map_err(|_| TooLarge)?;
        }
        Ok(lmad)
    }
}

impl Bounds {
    /// Of counter d.
    fn of(within: &BasicSet, d: usize) -> Result<Option<Bounds>, IslError> {
        let mut bounds = Bounds { lowest: Vec::new(), highest: Vec::new(), known: Vec::new() };
        for constraint in within.constraints()? {
            if !constraint.involves_dims(DimType::Set, d, 1)? {
                continue;
            }
            let Some(sum) = Polynomial::from_aff(&constraint.get_aff()?)? else { return Ok(None) };
            if bounds.add(&sum, constraint.is_equality()?, d).is_err() {
                return Ok(None);
            }
        }
        let is_readable = |of: &[Whole]| (1..=MAX_BOUNDS).contains(&of.len());
        Ok((is_readable(&bounds.lowest) && is_readable(&bounds.highest)).then_some(bounds))
    }

    /// c·i + rest ≥ 0: i ≥ −⌊rest/c⌋ if c > 0, i ≤ ⌊rest/−c⌋ if c < 0; both if it is 0.
    fn add(&mut self, sum: &Polynomial, is_equality: bool, d: usize) -> Result<(), TooLarge> {
        let own = Product::var(Var::Counter(d as u32));
        for sum in [sum.clone(), sum.scale(-1)?].iter().take(1 + usize::from(is_equality)) {
            let c = sum.coefficient(&own);
            let rest = Whole::from(&sum.sub(&Polynomial::term(own.clone(), c))?);
            if c > 0 {
                self.lowest.push(rest.floor_div(c)?.neg()?);
            } else {
                self.highest.push(rest.floor_div(c.checked_neg().filter(|c| *c > 0).ok_or(TooLarge)?)?);
            }
            self.known.push(Whole::from(sum));
        }
        Ok(())
    }
}

/// What is known of the parameters where there is an instance.
fn known_of(instances: &Set) -> Result<Facts, IslError> {
    let mut facts = Facts::new();
    let all = instances.params()?.coalesce()?.remove_divs()?.simple_hull()?;
    for constraint in all.constraints()? {
        if says_type_only(&constraint)? {
            continue;
        }
        let Some(sum) = Polynomial::from_aff(&constraint.get_aff()?)? else { continue };
        facts.know(&Whole::from(&sum));
        if let (true, Ok(sum)) = (constraint.is_equality()?, sum.scale(-1)) {
            facts.know(&Whole::from(&sum));
        }
    }
    Ok(facts)
}

/// That a number fits its type says nothing of directions, and would be looked at in every proof.
fn says_type_only(constraint: &Constraint) -> Result<bool, IslError> {
    let constant = constraint.get_constant_val()?.to_i64();
    Ok(constant.is_none_or(|c| c.unsigned_abs() >= i32::MAX as u64 - 1))
}

impl Lmad {
    /// One in which every index that matters to others is counted by its own steps: a triangle in which only the inner loop moves the
    /// address, `A^{1,0}_{i,0}`, does not say how far i goes.
    fn countable(self, params: &Facts) -> Result<Option<Lmad>, TooLarge> {
        if self.is_countable(params) {
            return Ok(Some(self));
        }
        let simple = self.simplified(&mut Ground::proved(params.clone()))?;
        if simple.is_countable(params) {
            return Ok(Some(simple));
        }
        let closed = simple.closed(Side::May, params)?;
        Ok(closed.map(|closed| closed.into_owned()))
    }

    fn is_countable(&self, params: &Facts) -> bool {
        let is_counted = |(at, dim): (usize, &Dim)| {
            let facts = self.around(at, params).and(&[&Whole::symbol(dim.index)]);
            !self.depends_on(dim.index) || facts.proves_less(&Whole::zero(), &dim.stride)
        };
        self.dims.iter().enumerate().all(is_counted)
    }

    /// Base, strides and spans say all of it: the guards hold for whatever indices, and where a dimension has no step its span is
    /// negative.
    fn is_plain(&self, params: &Facts) -> bool {
        let is_said = |(at, dim): (usize, &Dim)| {
            let facts = self.around(at, params);
            let is_even = !dim.stride.has(dim.index);
            // That the parameters say that there is a step is presupposed.
            dim.last.is_fixed()
                || facts.proves_not_negative(&dim.last)
                // Its span is stride · last.
                || (is_even && facts.proves_less(&Whole::zero(), &dim.stride))
        };
        self.guards.iter().all(Whole::is_fixed) && self.dims.iter().enumerate().all(is_said)
    }

    /// What is known at any values of the indices of the dimensions behind this one: outer ones.
    fn around(&self, at: usize, params: &Facts) -> Facts {
        self.dims[at + 1..].iter().fold(params.clone(), |facts, outer| facts.and_counter(outer.index, &outer.last))
    }
}

#[cfg(test)]
mod tests;
