//! Blocks of memory of varying length, in the shape that the other accesses of their array have.

use super::division::divide;
use crate::polynomial::{PiecewisePolynomial, Polynomial};
use isl::{IslError, Map, PwAff, Set};

/// A number of bytes from an offset on: what `memset` and `memcpy` touch.
#[derive(Clone, Debug)]
pub struct ByteBlock {
    /// In bytes, as is the length.
    pub start: Polynomial,
    pub length: Polynomial,
}

/// The cells of a block.
#[derive(Clone, Debug)]
pub struct BlockCells {
    /// `{ [i…] -> [subscripts] }`, restricted to the domain.
    pub cells: Map,
    /// The parameters for which that is wrong in some instance; empty if it is proved.
    pub broken: Set,
}

impl ByteBlock {
    /// Exactly the cells of the block for each instance in `domain`, where they are a box of the shape: some consecutive elements of one
    /// dimension with all that is inside of them. `None`: they never are, or that is not an affine question.
    ///
    /// Let Tₗ be the stride of dimension l, and start = Σ xₖ·Tₖ with xₖ = 0 for k > l, length = c·Tₗ with c ≥ 0. All sizes are positive, so
    /// the block consists of the elements xₗ … xₗ + c − 1 of dimension l, complete; those exist in one element of the dimension
    /// outside if xₗ + c is at most the size, and the subscripts outside are those of a cell if each is below its size.
    pub fn cells(
        &self,
        domain: &Set,
        cell_bytes: u64,
        inner_sizes: &[Polynomial],
    ) -> Result<Option<BlockCells>, IslError> {
        let bytes = i128::from(cell_bytes);
        let (Some(start), Some(length)) = (self.start.exact_div(bytes), self.length.exact_div(bytes)) else {
            return Ok(None);
        };
        let Some(strides) = strides(inner_sizes) else { return Ok(None) };
        let Some(Slab { dim, subscripts, count }) = in_strides(&start, &length, &strides) else { return Ok(None) };
        let space = domain.get_space()?;
        let function = |p: &Polynomial| -> Result<Option<PwAff>, IslError> {
            p.to_aff(&space)?.map(|aff| PwAff::from_aff(&aff)).transpose()
        };
        let (zero, one) = (Polynomial::zero(), Polynomial::constant(1));
        let mut cells: Option<Map> = None;
        let mut all_right = domain.clone();
        for (k, first) in subscripts.iter().enumerate() {
            let size = k.checked_sub(1).map(|inner| &inner_sizes[inner]);
            let (first, count) = match k.cmp(&dim) {
                std::cmp::Ordering::Less => (first, &one),
                std::cmp::Ordering::Equal => (first, &count),
                std::cmp::Ordering::Greater => (&zero, size.expect("an inner dimension")),
            };
            let Ok(end) = first.add(count) else { return Ok(None) };
            let (Some(begin), Some(end)) = (function(first)?, function(&end)?) else { return Ok(None) };
            let mut right = begin.le_set(&end)?;
            if let Some(size) = size {
                let (Some(size), Some(zero), Some(one)) = (function(size)?, function(&zero)?, function(&one)?) else {
                    return Ok(None);
                };
                right = right
                    .intersect(&zero.le_set(&begin)?)?
                    .intersect(&end.le_set(&size)?)?
                    .intersect(&one.le_set(&size)?)?;
            }
            all_right = all_right.intersect(&right)?;
            let among = between(&begin, &end)?;
            cells = Some(match cells {
                Some(outside) => outside.flat_range_product(&among)?,
                None => among,
            });
        }
        let Some(cells) = cells else { return Ok(None) };
        let broken = domain.subtract(&all_right)?.params()?.coalesce()?;
        let happens = domain.params()?;
        if happens.is_subset(&broken)? && !happens.is_empty()? {
            return Ok(None);
        }
        Ok(Some(BlockCells { cells: cells.intersect_domain(domain)?, broken }))
    }
}

/// `{ [i…] -> [subscripts] }`: the cell that an offset in bytes leads to, with whatever inner subscripts; `None` if it is not affine in
/// this shape.
pub fn loose_cells(
    offset: &PiecewisePolynomial,
    domain: &Set,
    cell_bytes: u64,
    inner_sizes: &[Polynomial],
) -> Result<Option<Map>, IslError> {
    let Some(strides) = strides(inner_sizes) else { return Ok(None) };
    let mut all: Option<Map> = None;
    for (here, bytes) in &offset.pieces {
        let Some(mut left) = bytes.exact_div(cell_bytes.into()) else { return Ok(None) };
        let here = domain.intersect(here)?;
        let mut cells: Option<Map> = None;
        for stride in &strides {
            let Ok((quotient, rest)) = divide(&left, stride) else { return Ok(None) };
            let Some(subscript) = quotient.to_aff(&here.get_space()?)? else { return Ok(None) };
            let subscript = Map::from_pw_aff(&PwAff::from_aff(&subscript)?)?;
            cells = Some(match cells {
                Some(outside) => outside.flat_range_product(&subscript)?,
                None => subscript,
            });
            left = rest;
        }
        let cells = cells.expect("a dimension").intersect_domain(&here)?;
        all = Some(match all {
            Some(others) => others.union(&cells)?,
            None => cells,
        });
    }
    Ok(all)
}

struct Slab {
    dim: usize,
    /// Where it begins; 0 in dimensions inside of `dim`.
    subscripts: Vec<Polynomial>,
    /// Elements of `dim`.
    count: Polynomial,
}

/// T₀ … Tₖ, if they can be computed.
fn strides(inner_sizes: &[Polynomial]) -> Option<Vec<Polynomial>> {
    let mut strides = vec![Polynomial::constant(1)];
    for size in inner_sizes.iter().rev() {
        strides.push(strides.last()?.mul(size).ok()?);
    }
    strides.reverse();
    Some(strides)
}

/// The outermost dimension whose elements the block consists of. Requires: `strides` end with 1.
fn in_strides(start: &Polynomial, length: &Polynomial, strides: &[Polynomial]) -> Option<Slab> {
    for (dim, stride) in strides.iter().enumerate() {
        let (count, rest) = divide(length, stride).ok()?;
        if !rest.is_zero() {
            continue;
        }
        let mut subscripts = Vec::new();
        let mut left = start.clone();
        for outer in &strides[..=dim] {
            let (quotient, rest) = divide(&left, outer).ok()?;
            subscripts.push(quotient);
            left = rest;
        }
        if left.is_zero() {
            subscripts.resize(strides.len(), Polynomial::zero());
            return Some(Slab { dim, subscripts, count });
        }
    }
    None
}

/// `{ [i…] -> [e] : first(i) <= e < end(i) }`
pub fn between(first: &PwAff, end: &PwAff) -> Result<Map, IslError> {
    let at_least = Map::read_from_str(first.ctx(), "{ [a] -> [e] : e >= a }")?;
    let below = Map::read_from_str(first.ctx(), "{ [a] -> [e] : e < a }")?;
    Map::from_pw_aff(first)?.apply_range(&at_least)?.intersect(&Map::from_pw_aff(end)?.apply_range(&below)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::polynomial::{Monomial, Var};
    use crate::scop::ParamId;
    use isl::Ctx;

    fn p(k: u32) -> Polynomial {
        Polynomial::param(ParamId(k))
    }

    fn product(factors: &[Polynomial]) -> Polynomial {
        factors.iter().fold(Polynomial::constant(1), |a, b| a.mul(b).unwrap())
    }

    /// The cells of a block of doubles as text, by the shape `[][p1]` or `[][p1][p2]`.
    fn cells(domain: &str, start: &Polynomial, length: &Polynomial, inner: &[Polynomial], expected: Option<&str>) {
        let ctx = Ctx::new();
        let eight = Polynomial::constant(8);
        let block = ByteBlock { start: start.mul(&eight).unwrap(), length: length.mul(&eight).unwrap() };
        let domain = Set::read_from_str(&ctx, domain).unwrap();
        let found = block.cells(&domain, 8, inner).unwrap();
        match (found, expected) {
            (None, None) => {}
            (Some(BlockCells { broken, .. }), None) => assert!(!broken.is_empty().unwrap()),
            (Some(BlockCells { cells, broken }), Some(expected)) => {
                let expected = Map::read_from_str(&ctx, expected).unwrap();
                assert!(cells.is_equal(&expected).unwrap(), "{cells}");
                assert!(broken.is_empty().unwrap(), "{broken}");
            }
            (found, _) => panic!("{found:?}"),
        }
    }

    #[test]
    fn what_is_not_known_of_the_sizes_is_the_condition() {
        let ctx = Ctx::new();
        let all = product(&[p(0), p(1), Polynomial::constant(8)]);
        let block = ByteBlock { start: Polynomial::zero(), length: all };
        let domain = Set::read_from_str(&ctx, "[p0, p1] -> { [] }").unwrap();
        let BlockCells { cells, broken } = block.cells(&domain, 8, &[p(1)]).unwrap().unwrap();
        let rows = Map::read_from_str(&ctx, "[p0, p1] -> { [] -> [a, b] : 0 <= a < p0 and 0 <= b < p1 }").unwrap();
        assert!(cells.is_equal(&rows).unwrap(), "{cells}");
        let wrong = Set::read_from_str(&ctx, "[p0, p1] -> { : p0 < 0 or p1 <= 0 }").unwrap();
        assert!(broken.is_equal(&wrong).unwrap(), "{broken}");
    }

    #[test]
    fn all_rows_of_a_matrix() {
        let all = product(&[p(0), p(1)]);
        let running = "[p0, p1] -> { [] : p0 >= 1 and p1 >= 1 }";
        let rows = "[p0, p1] -> { [] -> [a, b] : 0 <= a < p0 and 0 <= b < p1 }";
        cells(running, &Polynomial::zero(), &all, &[p(1)], Some(rows));
        // A product of two negative sizes is a length too, but not one of rows; nor is one of no columns.
        cells("[p0, p1] -> { [] : p0 >= 1 }", &Polynomial::zero(), &all, &[p(1)], None);
        cells("[p0, p1] -> { [] : p1 >= 1 }", &Polynomial::zero(), &all, &[p(1)], None);
    }

    #[test]
    fn rows_of_their_own_from_some_row_on() {
        let i = Polynomial::counter(0);
        let running = "[p0, p1] -> { [i] : 0 <= i < p0 and p1 >= 1 }";
        let row = product(&[i.clone(), p(1)]);
        cells(running, &row, &p(1), &[p(1)], Some("[p0, p1] -> { [i] -> [i, b] : 0 <= i < p0 and 0 <= b < p1 }"));
        // From row i to the last.
        let rest = product(&[p(0).sub(&i).unwrap(), p(1)]);
        let expected = "[p0, p1] -> { [i] -> [a, b] : 0 <= i <= a < p0 and 0 <= b < p1 }";
        cells(running, &row, &rest, &[p(1)], Some(expected));
    }

    #[test]
    fn a_part_of_a_row_must_stay_in_it() {
        let i = Polynomial::counter(0);
        let row = product(&[i.clone(), p(1)]);
        let inside = "[p0, p1] -> { [i] : 0 <= i < p0 <= p1 }";
        cells(inside, &row, &i, &[p(1)], Some("[p0, p1] -> { [i] -> [i, b] : 0 <= i < p0 <= p1 and 0 <= b < i }"));
        cells("[p0, p1] -> { [i] : 0 <= i < p0 and p1 >= 1 }", &row, &i, &[p(1)], None);
        // It begins before the row.
        let before = row.sub(&Polynomial::constant(2)).unwrap();
        cells(inside, &before, &i, &[p(1)], None);
    }

    #[test]
    fn planes_and_rows_of_planes() {
        let i = Polynomial::counter(0);
        let j = Polynomial::counter(1);
        let running = "[p0, p1, p2] -> { [i, j] : 0 <= i < p0 and 0 <= j < p1 and p2 >= 1 }";
        let plane = product(&[p(1), p(2)]);
        let start = product(&[i.clone(), plane.clone()]);
        let expected =
            "[p0, p1, p2] -> { [i, j] -> [i, b, c] : 0 <= i < p0 and 0 <= j < p1 and 0 <= b < p1 and 0 <= c < p2 }";
        cells(running, &start, &plane, &[p(1), p(2)], Some(expected));
        let start = start.add(&product(&[j.clone(), p(2)])).unwrap();
        let expected = "[p0, p1, p2] -> { [i, j] -> [i, j, c] : 0 <= i < p0 and 0 <= j < p1 and 0 <= c < p2 }";
        cells(running, &start, &p(2), &[p(1), p(2)], Some(expected));
        // A plane from the middle of another one on lies in two.
        cells(running, &start, &plane, &[p(1), p(2)], None);
    }

    #[test]
    fn what_is_no_number_of_elements_has_no_cells() {
        let running = "[p0, p1] -> { [] : p0 >= 1 and p1 >= 1 }";
        let square = Polynomial::term(Monomial::var(Var::Param(ParamId(0))), 1);
        cells(running, &Polynomial::zero(), &product(&[square.clone(), square]), &[p(1)], None);
        let ctx = Ctx::new();
        let odd = ByteBlock { start: Polynomial::zero(), length: product(&[p(0), p(1)]) };
        assert!(odd.cells(&Set::read_from_str(&ctx, running).unwrap(), 8, &[p(1)]).unwrap().is_none());
    }
}
