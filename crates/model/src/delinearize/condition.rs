//! For which parameters a shape holds.

use super::access::{KnownDomain, Linear};
use isl::{IslError, Set};
use std::collections::BTreeMap;

/// The parameters for which some subscript leaves its row; there is at least one part if there are any.
#[derive(Default)]
pub struct Broken {
    /// None plainly equal to another.
    pub parts: Vec<Set>,
}

impl Broken {
    pub fn add(&mut self, params: Set) -> Result<(), IslError> {
        for part in &self.parts {
            if part.plain_is_equal(&params)? {
                return Ok(());
            }
        }
        self.parts.push(params);
        Ok(())
    }

    pub fn add_all(&mut self, other: &Broken) -> Result<(), IslError> {
        other.parts.iter().try_for_each(|part| self.add(part.clone()))
    }

    /// Requires: there are parts.
    pub fn union(&self) -> Result<Set, IslError> {
        let (first, others) = self.parts.split_first().expect("parts");
        others.iter().try_fold(first.clone(), |all, part| all.union(part))
    }
}

/// Parameter values at which anything is accessed at all; what a condition says of others does not matter, so it need not be said.
pub fn happening(accesses: &[&Linear]) -> Result<Option<Set>, IslError> {
    let mut all: Option<Set> = None;
    for domain in domains(accesses) {
        let some = domain.known.params()?;
        all = Some(match all {
            None => some,
            Some(all) if some.plain_is_equal(&all)? => all,
            Some(all) => all.union(&some)?.coalesce()?,
        });
    }
    Ok(all)
}

/// Each domain once.
fn domains<'a>(accesses: &[&'a Linear]) -> impl Iterator<Item = &'a KnownDomain> {
    accesses.iter().map(|a| (a.domain.class, &a.domain)).collect::<BTreeMap<_, _>>().into_values()
}

/// The parameters outside of `broken`, said as briefly as the parameters for which something happens allow.
///
/// A gist agrees with its set inside of its context, so its complement agrees with the complement there; dropping what is known
/// before complementing keeps the number of parts small.
pub fn outside_of(broken: &Set, happening: &Set) -> Result<Set, IslError> {
    let excluded = broken.intersect(happening)?.gist(happening)?.coalesce()?;
    excluded.complement()?.gist(happening)?.coalesce()
}

/// A condition that implies the exact one where that has too many parts: each way to leave a row by itself, as if the access
/// happened always.
pub fn outside_of_each<'a>(accesses: impl Iterator<Item = (&'a Linear, &'a Broken)>) -> Result<Set, IslError> {
    let mut of_classes: BTreeMap<usize, (&Linear, Broken)> = BTreeMap::new();
    for (access, broken) in accesses {
        of_classes.entry(access.domain.class).or_insert((access, Broken::default())).1.add_all(broken)?;
    }
    let mut all: Option<Set> = None;
    for (access, broken) in of_classes.values() {
        let happening = access.domain.known.params()?;
        for part in &broken.parts {
            all = Some(match all {
                None => outside_of(part, &happening)?,
                Some(all) if all.is_disjoint(part)? => all,
                Some(all) => all.intersect(&outside_of(part, &happening)?)?.coalesce()?,
            });
        }
    }
    Ok(all.expect("parts"))
}

/// Simple, and every access can still happen.
pub fn worth_testing(condition: &Set, accesses: &[&Linear], max_parts: usize) -> Result<bool, IslError> {
    if condition.n_basic_set()? > max_parts {
        return Ok(false);
    }
    for domain in domains(accesses) {
        if domain.known.intersect_params(condition)?.is_empty()? && !domain.known.is_empty()? {
            return Ok(false);
        }
    }
    Ok(true)
}
