//! The parameter values that count: those at which the assumptions of a region hold.
//!
//! isl copies every constraint from relation to relation, and the bounds of types alone are two for each parameter. So relations
//! are brought into a form in which only these values count: elsewhere they may say anything.

use crate::scop::Scop;
use isl::{BasicMap, DimType, IslError, Map, Set};
use std::cell::RefCell;

pub(crate) struct KnownParams {
    pub values: Set,
    /// What was asked for before, and the answer: all statements of a loop say the same of the parameters.
    unknown: RefCell<Vec<(Set, Option<Set>)>>,
}

impl KnownParams {
    pub(crate) fn of(scop: &Scop) -> Result<KnownParams, IslError> {
        let values = scop.context.intersect(&scop.assumptions.valid(&scop.context, |_, _| true)?)?.coalesce()?;
        Ok(KnownParams::new(values))
    }

    fn new(values: Set) -> KnownParams {
        KnownParams { values, unknown: RefCell::default() }
    }

    /// Ensures: the same pairs at all known values, and less to be said of parameters.
    pub(crate) fn shorten(&self, map: &Map) -> Result<Map, IslError> {
        let mut out = Map::empty(&map.get_space()?)?;
        for piece in map.basic_maps()? {
            out = out.union(&self.shorten_piece(&piece)?)?;
        }
        Ok(out)
    }

    /// Ensures: the same elements at all known values, and less to be said of parameters.
    pub(crate) fn shorten_set(&self, set: &Set) -> Result<Set, IslError> {
        self.shorten(&Map::from_domain(set)?)?.domain()
    }

    /// What is said of parameters alone is nearly always known, or most of it. isl's `gist` would look at every constraint in the light of
    /// all others; so it gets to see only these.
    fn shorten_piece(&self, piece: &BasicMap) -> Result<Map, IslError> {
        // A constraint without an instance may still be part of what a quotient is.
        if piece.dim(DimType::Div)? > 0 {
            return Map::from_basic_map(piece)?.gist_params(&self.values);
        }
        let all = piece.wrap()?;
        let dims = all.dim(DimType::Set)?;
        let of_params = all.drop_constraints_involving_dims(DimType::Set, 0, dims)?.to_set()?.params()?;
        let of_instances = all.drop_constraints_not_involving_dims(DimType::Set, 0, dims)?.unwrap()?;
        let of_instances = Map::from_basic_map(&of_instances)?;
        match self.unknown_part(of_params)? {
            None => Ok(of_instances),
            Some(unknown) => of_instances.intersect_params(&unknown),
        }
    }

    /// What such a condition says beyond what is known.
    fn unknown_part(&self, condition: Set) -> Result<Option<Set>, IslError> {
        for (asked, answer) in self.unknown.borrow().iter() {
            if asked.plain_is_equal(&condition)? {
                return Ok(answer.clone());
            }
        }
        let answer = if self.values.is_subset(&condition)? { None } else { Some(condition.gist(&self.values)?) };
        self.unknown.borrow_mut().push((condition, answer.clone()));
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isl::Ctx;

    #[test]
    fn only_what_is_known_is_left_unsaid() {
        let ctx = Ctx::new();
        let known = |text: &str| KnownParams::new(Set::read_from_str(&ctx, text).unwrap());
        let short = |known: &KnownParams, text: &str| {
            let map = Map::read_from_str(&ctx, text).unwrap();
            let short = known.shorten(&map).unwrap();
            let same = short.intersect_params(&known.values).unwrap();
            assert!(same.is_equal(&map.intersect_params(&known.values).unwrap()).unwrap(), "{text}");
            short
        };
        let is =
            |map: Map, text: &str| assert!(map.is_equal(&Map::read_from_str(&ctx, text).unwrap()).unwrap(), "{map}");
        let values = known("[n, m] -> { : 1 <= n <= 100 and n <= m <= 200 }");
        is(
            short(&values, "[n, m] -> { S[i] -> A[i + n] : 0 <= i < n and n <= 100 and m >= 1 }"),
            "[n, m] -> { S[i] -> A[i + n] : 0 <= i < n }",
        );
        // A condition that is not known stays, in its piece alone.
        is(
            short(
                &values,
                "[n, m] -> { S[i] -> A[i] : 0 <= i < n <= 100; S[i] -> A[0] : i = -1 and m >= 50 and n >= 1 }",
            ),
            "[n, m] -> { S[i] -> A[i] : 0 <= i < n; S[i] -> A[0] : i = -1 and m >= 50 }",
        );
        // Quotients, nothing at all, and values in several parts.
        short(&values, "[n, m] -> { S[i] -> A[i] : exists e : 2e = n and 0 <= i < e }");
        short(&values, "[n, m] -> { S[i] -> A[i] : exists e : i <= 2e <= n and e >= 1 }");
        assert!(short(&values, "[n, m] -> { S[i] -> A[i] : 1 = 0 }").is_empty().unwrap());
        let parts = known("[n] -> { : n <= 3 or n >= 9 }");
        short(&parts, "[n] -> { S[i] -> A[i] : 0 <= i < n and (n <= 3 or n >= 9) }");
        short(&parts, "[n] -> { S[i] -> A[i] : 0 <= i < n and n >= 1 }");
    }

    #[test]
    fn sets_are_shortened_as_relations_are() {
        let ctx = Ctx::new();
        let known = KnownParams::new(Set::read_from_str(&ctx, "[n] -> { : 0 <= n <= 10 }").unwrap());
        let set = Set::read_from_str(&ctx, "[n] -> { S[i] : 0 <= i < n <= 10 }").unwrap();
        let short = Set::read_from_str(&ctx, "[n] -> { S[i] : 0 <= i < n }").unwrap();
        assert!(known.shorten_set(&set).unwrap().is_equal(&short).unwrap());
    }
}
