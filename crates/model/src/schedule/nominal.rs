//! Which values of the parameters the estimate has in mind.

use super::region::byte_steps;
use crate::polynomial::{Polynomial, Var};
use crate::scop::{Access, ArrayId, ParamId, Scop, Statement};
use isl::{DimType, IslError, Set, Val};
use std::collections::{BTreeMap, BTreeSet};

/// What an unknown size is taken to be.
pub(super) const NOMINAL_SIZE: i64 = 1024;
/// More alternatives are not looked at.
const MAX_ALTERNATIVES: usize = 4;

/// What a parameter does to the loops; in the order in which values are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ParamRole {
    /// They go through an array in steps of it: `x[i * incx]`, where it is 1 as a rule.
    Stride,
    /// They begin there: the smaller it is, the more there is to do.
    Start,
    /// Some loops begin and others end there.
    Between,
    /// They end there, or it is no bound at all.
    End,
}

/// Typical values of the parameters: such that all loops run if they can, from small numbers to [`NOMINAL_SIZE`].
pub(super) fn nominal_params(scop: &Scop) -> Result<Vec<i64>, IslError> {
    values_in(running(scop, None)?, &in_turn(scop)?, NOMINAL_SIZE)
}

/// When each statement of a region runs: a parameter may choose between loops.
pub(super) struct Occasions {
    /// In the order in which values are chosen.
    params: Vec<(ParamRole, usize)>,
    /// Values of the parameters; each statement runs at some of them.
    running: Vec<Set>,
}

impl Occasions {
    pub(super) fn of(scop: &Scop) -> Result<Occasions, IslError> {
        let mut occasions = Occasions { params: in_turn(scop)?, running: vec![running(scop, None)?] };
        let mut values = occasions.values(NOMINAL_SIZE)?;
        for statement in scop.statements.values() {
            let mut runs = false;
            for values in &values {
                runs = runs || !at_values(&statement.domain, values)?.is_empty()?;
            }
            if !runs && values.len() < MAX_ALTERNATIVES {
                let here = running(scop, Some(statement))?;
                values.push(values_in(here.clone(), &occasions.params, NOMINAL_SIZE)?);
                occasions.running.push(here);
            }
        }
        Ok(occasions)
    }

    /// Of the parameters, where what is unknown is so large.
    pub(super) fn values(&self, size: i64) -> Result<Vec<Vec<i64>>, IslError> {
        self.running.iter().map(|set| values_in(set.clone(), &self.params, size)).collect()
    }
}

fn in_turn(scop: &Scop) -> Result<Vec<(ParamRole, usize)>, IslError> {
    let mut params: Vec<(ParamRole, usize)> = roles(scop)?.into_iter().zip(0..).collect();
    params.sort();
    Ok(params)
}

/// The instances at these values of the parameters.
pub(super) fn at_values(domain: &Set, values: &[i64]) -> Result<Set, IslError> {
    let mut domain = domain.clone();
    for (k, value) in values.iter().enumerate() {
        if let Some(at) = domain.find_dim_by_name(DimType::Param, &ParamId(k as u32).to_string())? {
            // Not `fix_si`, whose numbers have 32 bits: a parameter may be known to be larger.
            domain = domain.fix_val(DimType::Param, at, &Val::int_from_si(domain.ctx(), *value)?)?;
        }
    }
    Ok(domain)
}

fn values_in(mut set: Set, params: &[(ParamRole, usize)], size: i64) -> Result<Vec<i64>, IslError> {
    let mut values = vec![size; params.len()];
    for &(role, param) in params {
        let Some(at) = set.find_dim_by_name(DimType::Param, &ParamId(param as u32).to_string())? else { continue };
        let value = typical(&set, at, role, size)?;
        set = set.fix_val(DimType::Param, at, &Val::int_from_si(set.ctx(), value)?)?;
        values[param] = value;
    }
    Ok(values)
}

/// For people: what was assumed of sizes that nobody knows, `, with n assumed 1024`; nothing if there are none.
pub(super) fn assumed_sizes(scop: &Scop) -> Result<String, IslError> {
    let values = nominal_params(scop)?;
    let mut sizes: BTreeMap<i64, Vec<&str>> = BTreeMap::new();
    for (at, bounds) in bounding(scop)?.into_iter().enumerate() {
        // A start is rather nothing than a size.
        if bounds.ends {
            let name = scop.params[at].name.as_str();
            let is_ordinal = name == ParamId(at as u32).to_string();
            sizes.entry(values[at]).or_default().push(if is_ordinal { "" } else { name });
        }
    }
    let assumed = sizes.into_iter().rev().map(|(value, names)| {
        let all_named = names.iter().all(|name| !name.is_empty());
        let names = if all_named && names.len() <= 3 { names.join(" and ") } else { "what is unknown".into() };
        format!("{names} assumed {value}")
    });
    let assumed: Vec<String> = assumed.collect();
    Ok(if assumed.is_empty() { String::new() } else { format!(", with {}", assumed.join(", ")) })
}

/// The parameter values at which all statements run, as far as they can run together; rather those in many loops than those of
/// which a compiler made copies for when the loops do not run. One of them may be to run in any case.
fn running(scop: &Scop, first: Option<&Statement>) -> Result<Set, IslError> {
    let mut set = scop.context.intersect(&scop.assumptions.valid(&scop.context, |_, _| true)?)?;
    let mut statements: Vec<(usize, &Statement)> = Vec::new();
    for statement in scop.statements.values() {
        statements.push((statement.domain.dim(DimType::Set)?, statement));
    }
    statements.sort_by_key(|(loops, _)| std::cmp::Reverse(*loops));
    for statement in first.into_iter().chain(statements.into_iter().map(|(_, statement)| statement)) {
        let running = set.intersect(&statement.domain.params()?)?;
        if !running.is_empty()? {
            set = running;
        }
    }
    Ok(set)
}

fn roles(scop: &Scop) -> Result<Vec<ParamRole>, IslError> {
    let strides = strides(scop)?;
    let role = |(param, bounds): (usize, Bounds)| match bounds {
        Bounds { begins: false, ends: false } if strides.contains(&ParamId(param as u32)) => ParamRole::Stride,
        Bounds { begins: true, ends: false } => ParamRole::Start,
        Bounds { begins: true, ends: true } => ParamRole::Between,
        Bounds { begins: false, .. } => ParamRole::End,
    };
    Ok(bounding(scop)?.into_iter().enumerate().map(role).collect())
}

/// The parameters that multiply all counters of some array, and of no array some counters only, as the length of a row does.
fn strides(scop: &Scop) -> Result<BTreeSet<ParamId>, IslError> {
    let mut moving: BTreeMap<ArrayId, BTreeSet<usize>> = BTreeMap::new();
    for statement in scop.statements.values() {
        let counters = statement.domain.dim(DimType::Set)?;
        for access in &statement.accesses {
            let sizes = &scop.arrays[&access.array].inner_sizes;
            if sizes.iter().any(|size| size.as_constant().is_none()) {
                moving.entry(access.array).or_default().extend(moving_subscripts(access, sizes.len(), counters)?);
            }
        }
    }
    let (mut strides, mut lengths) = (BTreeSet::new(), BTreeSet::new());
    for (array, moving) in moving {
        let sizes = &scop.arrays[&array].inner_sizes;
        // A subscript is multiplied by the sizes of all dimensions inside of its own.
        let factors = |subscript: usize| sizes[subscript..].iter().flat_map(factors).collect::<BTreeSet<ParamId>>();
        let mut subscripts = moving.into_iter().map(factors);
        let Some(first) = subscripts.next() else { continue };
        let common = subscripts.fold(first, |common, other| &common & &other);
        lengths.extend(sizes.iter().flat_map(Polynomial::vars).filter_map(param).filter(|p| !common.contains(p)));
        strides.extend(common);
    }
    Ok(&strides - &lengths)
}

/// The subscripts, of one more than `sizes`, that are not the same for all counters.
fn moving_subscripts(access: &Access, sizes: usize, counters: usize) -> Result<Vec<usize>, IslError> {
    let mut out = Vec::new();
    for subscript in 0..=sizes {
        let alone: Vec<f64> = (0..=sizes).map(|s| f64::from(s == subscript)).collect();
        let steps = byte_steps(&access.relation, &alone, counters)?;
        if steps.is_none_or(|steps| steps.iter().any(|step| *step != 0.0)) {
            out.push(subscript);
        }
    }
    Ok(out)
}

/// The parameters that divide a size.
fn factors(size: &Polynomial) -> impl Iterator<Item = ParamId> {
    let divides = |p: &ParamId| size.terms().all(|(monomial, _)| monomial.exponent(Var::Param(*p)) > 0);
    size.vars().filter_map(param).filter(divides)
}

fn param(var: Var) -> Option<ParamId> {
    match var {
        Var::Param(id) => Some(id),
        Var::Counter(_) => None,
    }
}

/// Whether loops begin or end at a parameter.
#[derive(Clone, Copy, Default)]
struct Bounds {
    begins: bool,
    ends: bool,
}

/// By the signs with which each parameter occurs in the bounds of counters.
fn bounding(scop: &Scop) -> Result<Vec<Bounds>, IslError> {
    let mut bounds = vec![Bounds::default(); scop.params.len()];
    for statement in scop.statements.values() {
        let domain = &statement.domain;
        let counters = domain.dim(DimType::Set)?;
        let mut places = Vec::new();
        for param in 0..scop.params.len() {
            let at = domain.find_dim_by_name(DimType::Param, &ParamId(param as u32).to_string())?;
            places.extend(at.map(|at| (param, at)));
        }
        for part in domain.basic_sets()? {
            for constraint in part.constraints()? {
                if constraint.is_equality()? || !constraint.involves_dims(DimType::Set, 0, counters)? {
                    continue;
                }
                for &(param, at) in &places {
                    let factor = constraint.get_coefficient_val(DimType::Param, at)?;
                    bounds[param].begins |= factor.is_neg()?;
                    bounds[param].ends |= factor.is_pos()?;
                }
            }
        }
    }
    Ok(bounds)
}

/// Small and not negative for a start, and positive for a stride; else as large as it may be up to this size. As near to that as
/// possible.
fn typical(set: &Set, at: usize, role: ParamRole, size: i64) -> Result<i64, IslError> {
    let most = if role == ParamRole::Between { size / 2 } else { size };
    let least = i64::from(role == ParamRole::Stride);
    let (low, high) = (
        set.lower_bound_si(DimType::Param, at, least)?.upper_bound_si(DimType::Param, at, most)?,
        set.upper_bound_si(DimType::Param, at, most)?,
    );
    let params = set.dim(DimType::Param)?;
    let as_set = |params_set: &Set| params_set.from_params()?.move_dims(DimType::Set, 0, DimType::Param, 0, params);
    if role <= ParamRole::Start && !low.is_empty()? {
        return Ok(as_set(&low)?.dim_min_val(at)?.to_i64().unwrap_or(0));
    }
    let value = match high.is_empty()? {
        false => as_set(&high)?.dim_max_val(at)?.to_i64(),
        true => None,
    };
    match value {
        Some(value) => Ok(value),
        None => Ok(as_set(set)?.dim_min_val(at)?.to_i64().unwrap_or(size)),
    }
}
