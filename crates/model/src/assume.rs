//! What we take for granted without proof, and therefore check at run time.

pub use options::{Allowed, AssumptionKind};

use crate::polynomial::{Polynomial, Var};
use crate::scop::ParamId;
use crate::source::Line;

/// The region behaves as modelled for the parameter values in `valid`, a set over the parameters, for which all of `bounds` hold too.
#[derive(Clone, Debug)]
pub struct Assumption {
    pub kind: AssumptionKind,
    /// One sentence for the user.
    pub because: String,
    pub line: Line,
    pub valid: isl::Set,
    pub bounds: Vec<Bound>,
}

/// What isl cannot say, since counters are multiplied with parameters, or with each other: the polynomial is not negative in any of these
/// instances.
#[derive(Clone, Debug)]
pub struct Bound {
    /// `{ [i0, i1, …] : … }`
    pub domain: isl::Set,
    pub polynomial: Polynomial,
    /// What the source calls the counters, if anything.
    pub counters: Vec<String>,
}

impl Bound {
    /// All that its test has to know.
    pub fn params(&self) -> Result<Vec<ParamId>, isl::IslError> {
        let mut params: Vec<ParamId> = Vec::new();
        for p in 0..self.domain.dim(isl::DimType::Param)? {
            if self.domain.involves_dims(isl::DimType::Param, p, 1)? {
                params.extend(ParamId::from_isl_name(&self.domain.get_dim_name(isl::DimType::Param, p)?));
            }
        }
        params.extend(self.polynomial.vars().filter_map(|var| match var {
            Var::Param(id) => Some(id),
            Var::Counter(_) => None,
        }));
        Ok(params)
    }
}

/// A part of `valid` that is as good as it where something runs, and simpler if one is found.
///
/// Whether the new code or the original does nothing is all the same: leaving such parameters to the original makes the check simpler.
/// It must be the original's: where `valid` does not hold, the model does not even say that nothing runs.
///
/// Requires: `running` holds, of all parameters in `valid`, those for which there is anything to do.
/// Ensures: the result is a part of `valid`, and holds what `valid` and `running` have in common.
pub fn of_consequence(valid: &isl::Set, running: &isl::Set) -> Result<isl::Set, isl::IslError> {
    let parts = valid.basic_sets()?;
    if parts.len() < 2 {
        return Ok(valid.clone());
    }
    let hull = valid.intersect(running)?.simple_hull()?.to_set()?;
    if hull.is_subset(valid)? {
        return Ok(hull);
    }
    let mut kept = isl::Set::empty(&valid.get_space()?)?;
    for part in parts {
        let part = part.to_set()?;
        if !part.intersect(running)?.is_empty()? {
            kept = kept.union(&part)?;
        }
    }
    Ok(kept)
}

/// The assumptions of one region; all of them must hold.
#[derive(Clone, Debug, Default)]
pub struct Assumptions {
    entries: Vec<Assumption>,
}
impl Assumptions {
    pub fn add(&mut self, assumption: Assumption) {
        self.entries.push(assumption);
    }
    pub fn iter(&self) -> impl Iterator<Item = &Assumption> {
        self.entries.iter()
    }
}

impl Assumptions {
    /// The parameter values in `context` at which all assumptions hold that `keep` selects, as a set that says nothing that
    /// `context` says already.
    ///
    /// Requires: `context` is a parameter set.
    pub fn valid(
        &self,
        context: &isl::Set,
        keep: impl Fn(usize, &Assumption) -> bool,
    ) -> Result<isl::Set, isl::IslError> {
        let mut valid = isl::Set::universe(&context.get_space()?)?;
        for (_, assumption) in self.entries.iter().enumerate().filter(|(number, a)| keep(*number, a)) {
            valid = valid.intersect(&assumption.valid)?;
        }
        // The gist is only exact where the context is not empty; an empty context needs no check at all.
        valid.coalesce()?.gist(&context.coalesce()?)?.coalesce()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isl::{Ctx, Set};

    /// (valid, running, what is tested)
    #[test]
    fn parameters_for_which_nothing_runs_may_go_to_the_original() {
        let table = [
            ("[n] -> { : n <= 100 }", "[n] -> { : n > 0 }", "[n] -> { : n <= 100 }"),
            // An array of 100 columns, and no rows.
            (
                "[m, n] -> { : m <= 100 or n <= 0 }",
                "[m, n] -> { : n > 0 and m > 0 }",
                "[m, n] -> { : 0 < m <= 100 and n > 0 }",
            ),
            // That `running` holds only what is valid must not make the test vanish.
            ("[n, m] -> { : n >= 0 or m = 0 }", "[n, m] -> { : n >= 0 and m > 0 }", "[n, m] -> { : n >= 0 and m > 0 }"),
            // Two parts that both matter.
            ("[n] -> { : n <= 5 or n >= 9 }", "[n] -> { : n >= 1 }", "[n] -> { : n <= 5 or n >= 9 }"),
            ("[n] -> { : n <= 5 or n >= 9 }", "[n] -> { : n >= 6 }", "[n] -> { : n >= 9 }"),
        ];
        let ctx = Ctx::new();
        let set = |text: &str| Set::read_from_str(&ctx, text).unwrap();
        for (valid, running, expected) in table {
            let found = of_consequence(&set(valid), &set(running)).unwrap();
            assert!(found.is_equal(&set(expected)).unwrap(), "{valid}, {running}: {found}");
        }
    }
}
