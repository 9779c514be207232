//! What the estimate needs of a region, whatever its order: numbers in place of parameters, and references in bytes.

use super::cost::{Reference, Strides};
use super::nominal::{NOMINAL_SIZE, Occasions, at_values};
use crate::dependence::Dependences;
use crate::polynomial::{Polynomial, Var};
use crate::scop::{Array, ArrayKind, Scop, Statement, StatementId};
use isl::{DimType, IslError, Set, UnionMap};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// What the estimate needs of a region, whatever its order.
pub(super) struct EstimatedRegion<'a> {
    pub(super) scop: &'a Scop,
    /// What iterations that run at once must not have between them.
    pub(super) at_once: UnionMap,
    /// What lanes of a vector must not have between them. A scalar is a register there, one for each lane: if no live range
    /// leaves its iteration, nothing travels from one to the next.
    pub(super) lanes: UnionMap,
    /// Without reductions, if there are any.
    pub(super) lanes_with_sums: Option<UnionMap>,
    /// From where a value is computed to where it is used.
    pub(super) values: UnionMap,
    pub(super) occasions: Occasions,
    pub(super) sized: Sized,
    /// Bytes per step of each dimension of the statement, per access, with nominal sizes.
    pub(super) accesses: Rc<HashMap<StatementId, Accesses>>,
    pub(super) rigid: Rc<BTreeSet<StatementId>>,
    pub(super) predicated: Rc<BTreeSet<StatementId>>,
}

/// A region with numbers in place of parameters.
pub(super) struct Sized {
    /// Of the parameters, for each of the alternatives.
    pub(super) values: Vec<Vec<i64>>,
    /// Each of them at values at which it runs, if there are such.
    pub(super) domains: Vec<(StatementId, Set)>,
    /// The statements that run together; each is in at least one, if it runs at all.
    pub(super) alternatives: Vec<BTreeSet<StatementId>>,
}

impl Sized {
    fn of(scop: &Scop, occasions: &Occasions, size: i64) -> Result<Sized, IslError> {
        let values = occasions.values(size)?;
        let mut alternatives = vec![BTreeSet::new(); values.len()];
        let mut domains = Vec::new();
        for (&id, statement) in &scop.statements {
            let mut domain = None;
            for (values, alternative) in values.iter().zip(&mut alternatives) {
                let here = at_values(&statement.domain, values)?;
                if here.is_empty()? {
                    continue;
                }
                alternative.insert(id);
                domain.get_or_insert(here);
            }
            let domain = domain.map_or_else(|| at_values(&statement.domain, &values[0]), Ok)?;
            domains.push((id, domain));
        }
        Ok(Sized { values, domains, alternatives })
    }
}

impl<'a> EstimatedRegion<'a> {
    pub(super) fn of(scop: &'a Scop, dependences: &Dependences) -> Result<EstimatedRegion<'a>, IslError> {
        let firm = dependences.firm_validity()?;
        let (lanes, lanes_with_sums) = match dependences.has_reductions()? {
            true => (firm.union(&dependences.reduction)?.coalesce()?, Some(firm)),
            false => (firm, None),
        };
        let at_once = dependences.at_once()?;
        let values = dependences.flow.union(&dependences.reduction)?;
        Ok(EstimatedRegion { at_once, lanes, lanes_with_sums, values, ..EstimatedRegion::without_dependences(scop)? })
    }

    /// As if all loops were independent.
    pub(super) fn without_dependences(scop: &'a Scop) -> Result<EstimatedRegion<'a>, IslError> {
        let occasions = Occasions::of(scop)?;
        let sized = Sized::of(scop, &occasions, NOMINAL_SIZE)?;
        let accesses = Accesses::of_all(scop, &sized.values[0])?;
        let none = UnionMap::empty_ctx(&scop.ctx)?;
        let those = |is_it: &dyn Fn(&Statement) -> bool| -> Rc<BTreeSet<StatementId>> {
            Rc::new(scop.statements.iter().filter(|(_, s)| is_it(s)).map(|(id, _)| *id).collect())
        };
        let (rigid, predicated) = (those(&|s| s.boxed), those(&|s| !s.predicates.is_empty()));
        let (at_once, lanes, values) = (none.clone(), none.clone(), none);
        let lanes_with_sums = None;
        Ok(EstimatedRegion {
            scop,
            at_once,
            lanes,
            lanes_with_sums,
            values,
            occasions,
            sized,
            accesses,
            rigid,
            predicated,
        })
    }

    /// The region where what is unknown is so large; `None`: it is as large as it was.
    pub(super) fn of_size(&self, size: i64) -> Result<Option<SizedRegion>, IslError> {
        let sized = Sized::of(self.scop, &self.occasions, size)?;
        if sized.values == self.sized.values {
            return Ok(None);
        }
        let accesses = Accesses::of_all(self.scop, &sized.values[0])?;
        Ok(Some(SizedRegion { sized, accesses }))
    }

    /// The statements that run together; each is in at least one of these, if it runs at all.
    pub(super) fn alternatives(&self) -> &[BTreeSet<StatementId>] {
        &self.sized.alternatives
    }

    pub(super) fn scop(&self) -> &'a Scop {
        self.scop
    }

    /// Of memory of our own.
    pub(super) fn temporary_bytes(&self) -> Result<f64, IslError> {
        let mut total = 0.0;
        for (&array, described) in self.scop.arrays.iter().filter(|(_, a)| a.kind == ArrayKind::Temporary) {
            let mut most: f64 = 0.0;
            for (id, domain) in &self.sized.domains {
                let accesses = self.scop.statements[id].accesses.iter();
                for access in accesses.filter(|a| a.array == array) {
                    let cells = access.relation.intersect_domain(domain)?.range()?;
                    let mut count = 1.0;
                    for d in 0..cells.dim(DimType::Set)? {
                        count *= cells.dim_max_val(d)?.to_i64().map_or(0.0, |last| last as f64 + 1.0);
                    }
                    most = most.max(count);
                }
            }
            total += most * described.cell_bytes as f64;
        }
        Ok(total)
    }
}

/// A region at another size.
pub(super) struct SizedRegion {
    pub(super) sized: Sized,
    pub(super) accesses: Rc<HashMap<StatementId, Accesses>>,
}

impl SizedRegion {
    /// The instances of the largest of the deepest statements, by its bounding box: what a check counts.
    pub(super) fn box_of_instances(&self) -> Result<f64, IslError> {
        let mut most: (usize, f64) = (0, 0.0);
        for (_, domain) in &self.sized.domains {
            if domain.is_empty()? {
                continue;
            }
            let depth = domain.dim(DimType::Set)?;
            let mut count = 1.0;
            for d in 0..depth {
                let (low, high) = (domain.dim_min_val(d)?.to_i64(), domain.dim_max_val(d)?.to_i64());
                count *= low.zip(high).map_or(NOMINAL_SIZE as f64, |(low, high)| high as f64 - low as f64 + 1.0);
            }
            if most.0 < depth || most.0 == depth && most.1 < count {
                most = (depth, count);
            }
        }
        Ok(most.1)
    }
}

/// Of one statement.
pub(super) struct Accesses {
    pub(super) references: Vec<ByteSteps>,
    pub(super) scalars: usize,
    pub(super) operations: usize,
}

impl Accesses {
    fn of_all(scop: &Scop, values: &[i64]) -> Result<Rc<HashMap<StatementId, Accesses>>, IslError> {
        let all = scop.statements.iter().map(|(&id, statement)| Ok((id, Accesses::of(scop, statement, values)?)));
        Ok(Rc::new(all.collect::<Result<_, IslError>>()?))
    }

    fn of(scop: &Scop, statement: &Statement, values: &[i64]) -> Result<Accesses, IslError> {
        let dims = statement.domain.dim(DimType::Set)?;
        let mut references: Vec<ByteSteps> = Vec::new();
        let mut scalars = BTreeSet::new();
        for access in &statement.accesses {
            let array = &scop.arrays[&access.array];
            // errno is next to nothing beside the call that writes it.
            if array.kind.is_scalar() {
                scalars.insert(access.array);
            }
            if array.kind.is_scalar() || matches!(array.kind, ArrayKind::Errno { .. }) {
                continue;
            }
            let strides = cell_strides(array, values);
            // An access that may touch anything moves nowhere in particular.
            let per_dimension =
                if access.is_anywhere()? { None } else { byte_steps(&access.relation, &strides, dims)? };
            let reference = Reference {
                array: access.array,
                bytes: access.bytes,
                write: access.is_write(),
                was_scalar: access.was_scalar(),
                strides: Strides::default(),
                certain: array.inner_sizes.iter().all(|size| size.as_constant().is_some()),
            };
            references.push(ByteSteps { reference, per_dimension });
        }
        Ok(Accesses { references, scalars: scalars.len(), operations: statement.operations })
    }
}

pub(super) struct ByteSteps {
    pub(super) reference: Reference,
    /// `None`: not affine.
    pub(super) per_dimension: Option<Vec<f64>>,
}

/// Bytes between neighbours in each dimension of the array, outermost first; unknown sizes are nominal.
fn cell_strides(array: &Array, nominal: &[i64]) -> Vec<f64> {
    let size = |size: &Polynomial| {
        let value = size.at(|var| match var {
            Var::Param(p) => nominal.get(p.index()).copied().unwrap_or(NOMINAL_SIZE).into(),
            Var::Counter(_) => 0,
        });
        value.map_or(NOMINAL_SIZE as f64, |v| v as f64)
    };
    let mut strides = vec![array.cell_bytes as f64];
    for inner in array.inner_sizes.iter().rev() {
        strides.push(strides[strides.len() - 1] * size(inner));
    }
    if array.rows.is_some() {
        strides.push(strides[strides.len() - 1] * NOMINAL_SIZE as f64);
    }
    strides.reverse();
    strides
}

/// How many bytes the first touched cell moves per step of each statement dimension, if that is the same everywhere. An access
/// that may go anywhere has no first cell.
pub(super) fn byte_steps(relation: &isl::Map, strides: &[f64], dims: usize) -> Result<Option<Vec<f64>>, IslError> {
    match plain_byte_steps(relation, strides, dims)? {
        Some(steps) => Ok(Some(steps)),
        None => solved_byte_steps(relation, strides, dims),
    }
}

fn solved_byte_steps(relation: &isl::Map, strides: &[f64], dims: usize) -> Result<Option<Vec<f64>>, IslError> {
    let cells = if relation.is_single_valued()? {
        relation.as_pw_multi_aff()?
    } else {
        let touched = relation.range()?;
        for position in 0..touched.dim(DimType::Set)? {
            if !touched.dim_has_lower_bound(DimType::Set, position)? {
                return Ok(None);
            }
        }
        relation.lexmin_pw_multi_aff()?
    };
    let mut found: Option<Vec<f64>> = None;
    for (_, subscripts) in cells.pieces()? {
        let mut steps = vec![0.0; dims];
        for (subscript, stride) in subscripts.list()?.iter().zip(strides) {
            if subscript.involves_locals()? {
                return Ok(None);
            }
            for (d, step) in steps.iter_mut().enumerate() {
                *step += subscript.get_coefficient_val(DimType::In, d)?.get_d()? * stride;
            }
        }
        match &found {
            Some(other) if *other != steps => return Ok(None),
            _ => found = Some(steps),
        }
    }
    Ok(Some(found.unwrap_or_else(|| vec![0.0; dims])))
}

/// The same where each subscript is an equation, as it is of most accesses: then isl need not be asked.
fn plain_byte_steps(relation: &isl::Map, strides: &[f64], dims: usize) -> Result<Option<Vec<f64>>, IslError> {
    let mut found: Option<Vec<f64>> = None;
    for piece in relation.basic_maps()? {
        let subscripts = piece.dim(DimType::Out)?;
        if piece.dim(DimType::Div)? > 0 {
            return Ok(None);
        }
        let (mut steps, mut told) = (vec![0.0; dims], BTreeSet::new());
        for constraint in piece.constraints()? {
            if !constraint.is_equality()? {
                continue;
            }
            let mut involved = Vec::new();
            for k in 0..subscripts {
                let times = constraint.get_coefficient_val(DimType::Out, k)?.get_d()?;
                involved.extend((times != 0.0).then_some((k, times)));
            }
            let [(k, times)] = involved[..] else { continue };
            if times.abs() != 1.0 || !told.insert(k) {
                return Ok(None);
            }
            for (d, step) in steps.iter_mut().enumerate() {
                *step -=
                    times * constraint.get_coefficient_val(DimType::In, d)?.get_d()? * strides.get(k).unwrap_or(&0.0);
            }
        }
        let is_other = found.as_ref().is_some_and(|other| *other != steps);
        if told.len() < subscripts || is_other {
            return Ok(None);
        }
        found = Some(steps);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_subscripts_are_seen_without_asking() {
        let ctx = isl::Ctx::new();
        let (strides, mut seen) = ([800.0, 8.0], 0);
        for text in [
            "{ S[i, j] -> A[i + 1, 2j] : 0 <= i, j < 10 }",
            "[n] -> { S[i, j] -> A[n - i, j + i - 3] : 0 <= i < n }",
            "{ S[i, j] -> A[0, j] : 0 <= j < 5; S[i, j] -> A[1, j] : j >= 5 }",
            "{ S[i, j] -> A[i, j] : j < 5; S[i, j] -> A[i, 9 - j] : j >= 5 }",
            "{ S[i, j] -> A[i, c] : 0 <= c < j }",
            "{ S[i, j] -> A[c, c + j] : c = 3i }",
            "{ S[i, j] -> A[i, floor(j/2)] }",
            "{ S[i, j] -> A[i, c] : 2c = j }",
            "{ S[i, j] -> A[c, d] : c + d = i and c - d = j }",
        ] {
            let relation = isl::Map::read_from_str(&ctx, text).unwrap();
            let plain = plain_byte_steps(&relation, &strides, 2).unwrap();
            if let Some(plain) = plain {
                seen += 1;
                assert_eq!(solved_byte_steps(&relation, &strides, 2).unwrap(), Some(plain), "{text}");
            }
        }
        assert!(seen >= 4, "hardly anything is seen: {seen}");
    }
}
