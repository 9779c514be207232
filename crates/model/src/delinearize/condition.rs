//! For which parameters a shape holds.

use super::access::Linear;
use isl::{IslError, Set};

/// Parameter values at which anything is accessed at all; what a condition says of others does not matter, so it need not be said.
pub fn happening(accesses: &[&Linear]) -> Result<Option<Set>, IslError> {
    let mut all: Option<Set> = None;
    for access in accesses {
        let some = access.known.params()?;
        all = Some(match all {
            None => some,
            Some(all) if some.plain_is_equal(&all)? => all,
            Some(all) => all.union(&some)?.coalesce()?,
        });
    }
    Ok(all)
}

/// The parameters outside of `broken`, said as briefly as the parameters for which something happens allow.
///
/// A gist agrees with its set inside of its context, so its complement agrees with the complement there; dropping what is known
/// before complementing keeps the number of parts small.
pub fn outside_of(broken: &Set, happening: &Set) -> Result<Set, IslError> {
    let excluded = broken.intersect(happening)?.gist(happening)?.coalesce()?;
    excluded.complement()?.gist(happening)?.coalesce()
}

/// A condition that implies the exact one where that has too many parts: each access by itself, as if it happened always.
pub fn outside_of_each(broken: &[(&Linear, &Set)]) -> Result<Option<Set>, IslError> {
    let mut all: Option<Set> = None;
    for (access, broken) in broken {
        let one = outside_of(broken, &access.known.params()?)?;
        all = Some(match all {
            None => one,
            Some(all) => all.intersect(&one)?.coalesce()?,
        });
    }
    Ok(all)
}

/// Simple, and every access can still happen.
pub fn worth_testing(condition: &Set, accesses: &[&Linear], max_parts: usize) -> Result<bool, IslError> {
    if condition.n_basic_set()? > max_parts {
        return Ok(false);
    }
    for access in accesses {
        if access.known.intersect_params(condition)?.is_empty()? && !access.known.is_empty()? {
            return Ok(false);
        }
    }
    Ok(true)
}
