//! Which values of the parameters the estimate has in mind.

use crate::scop::{ParamId, Scop, Statement};
use isl::{DimType, IslError, Set, Val};

/// What an unknown size is taken to be.
pub(super) const NOMINAL_SIZE: i64 = 1024;

/// What a parameter does to the loops; in the order in which values are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum BoundRole {
    /// They begin there: the smaller it is, the more there is to do.
    Start,
    /// Some loops begin and others end there.
    Between,
    /// They end there, or it is no bound at all.
    End,
}

/// Typical values of the parameters: such that all loops run if they can, from small numbers to [`NOMINAL_SIZE`].
pub(super) fn nominal_params(scop: &Scop) -> Result<Vec<i64>, IslError> {
    let mut set = running(scop)?;
    let mut order: Vec<(BoundRole, usize)> = roles(scop)?.into_iter().zip(0..).collect();
    order.sort();
    let mut values = vec![NOMINAL_SIZE; scop.params.len()];
    for (role, param) in order {
        let Some(at) = set.find_dim_by_name(DimType::Param, &ParamId(param as u32).to_string())? else { continue };
        let value = typical(&set, at, role)?;
        // Not `fix_si`, whose numbers have 32 bits: a parameter may be known to be larger.
        set = set.fix_val(DimType::Param, at, &Val::int_from_si(&scop.ctx, value)?)?;
        values[param] = value;
    }
    Ok(values)
}

/// The parameter values at which all statements run, as far as they can run together; rather those in many loops than those of
/// which a compiler made copies for when the loops do not run.
fn running(scop: &Scop) -> Result<Set, IslError> {
    let mut set = scop.context.intersect(&scop.assumptions.valid(&scop.context, |_, _| true)?)?;
    let mut statements: Vec<(usize, &Statement)> = Vec::new();
    for statement in scop.statements.values() {
        statements.push((statement.domain.dim(DimType::Set)?, statement));
    }
    statements.sort_by_key(|(loops, _)| std::cmp::Reverse(*loops));
    for (_, statement) in statements {
        let running = set.intersect(&statement.domain.params()?)?;
        if !running.is_empty()? {
            set = running;
        }
    }
    Ok(set)
}

/// By the signs with which each parameter occurs in the bounds of counters.
fn roles(scop: &Scop) -> Result<Vec<BoundRole>, IslError> {
    let (mut begins, mut ends) = (vec![false; scop.params.len()], vec![false; scop.params.len()]);
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
                    begins[param] |= factor.is_neg()?;
                    ends[param] |= factor.is_pos()?;
                }
            }
        }
    }
    let role = |(begins, ends)| match (begins, ends) {
        (true, false) => BoundRole::Start,
        (true, true) => BoundRole::Between,
        (false, _) => BoundRole::End,
    };
    Ok(begins.into_iter().zip(ends).map(role).collect())
}

/// Small and not negative for a start, else as large as it may be up to the nominal size; as near to that as possible.
fn typical(set: &Set, at: usize, role: BoundRole) -> Result<i64, IslError> {
    let most = if role == BoundRole::Between { NOMINAL_SIZE / 2 } else { NOMINAL_SIZE };
    let (low, high) = (
        set.lower_bound_si(DimType::Param, at, 0)?.upper_bound_si(DimType::Param, at, most)?,
        set.upper_bound_si(DimType::Param, at, most)?,
    );
    let params = set.dim(DimType::Param)?;
    let as_set = |params_set: &Set| params_set.from_params()?.move_dims(DimType::Set, 0, DimType::Param, 0, params);
    if role == BoundRole::Start && !low.is_empty()? {
        return Ok(as_set(&low)?.dim_min_val(at)?.to_i64().unwrap_or(0));
    }
    let value = match high.is_empty()? {
        false => as_set(&high)?.dim_max_val(at)?.to_i64(),
        true => None,
    };
    match value {
        Some(value) => Ok(value),
        None => Ok(as_set(set)?.dim_min_val(at)?.to_i64().unwrap_or(NOMINAL_SIZE)),
    }
}
