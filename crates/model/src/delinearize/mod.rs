//! From flat byte offsets to subscripts of arrays with constant inner sizes.
//!
//! Words. A **cell** is the unit in which memory is divided; offsets are multiples of it. A **shape** is a list of inner sizes
//! n₁ … nₖ; the **strides** of its dimensions are s₀ = n₁⋯nₖ, s₁ = n₂⋯nₖ, …, sₖ = 1, each a multiple of the next. Every integer
//! offset has exactly one representation Σ xᵢ·sᵢ with 0 ≤ xᵢ < nᵢ for i ≥ 1. So once those bounds are proved for all accesses, two
//! accesses touch the same cell if and only if all their subscripts agree, and nothing is assumed.
//!
//! Example: A[i + 1][j - 1] in rows of 1200 has the flat offset 1200·i + j + 1199. The strides 1200 and 1 come from the
//! coefficients; the constant is split as 1·1200 − 1, because j − 1 is in 0..1200 over the domain and j + 1199 is not.

use isl::{Aff, Budget, Ctx, DimType, IslError, Map, PwAff, Set, Val};
use std::collections::BTreeSet;

/// `bytes` bytes from `offset` on, for every instance in `domain`.
#[derive(Clone, Debug)]
pub struct FlatAccess {
    pub domain: Set,
    /// `{ S[i…] -> [bytes from the base] }`
    pub offset: PwAff,
    pub bytes: u64,
}

/// A shape that fits all accesses.
#[derive(Clone, Debug)]
pub struct Shape {
    pub cell_bytes: u64,
    /// In cells, outermost first; empty: flat.
    pub inner_sizes: Vec<i64>,
    /// Per access `{ S[i…] -> [subscripts] }`, restricted to its domain; the range tuple has no name yet.
    pub relations: Vec<Map>,
    /// The parameters for which the inner subscripts stay in range, and the relations are right; the universe where that is proved.
    pub condition: Set,
}

/// More candidate shapes than this are not tried.
const MAX_CANDIDATES: usize = 24;
/// More different strides than this say nothing about a shape.
const MAX_STRIDES: usize = 6;
/// A condition of more convex parts is not worth testing at run time.
const MAX_CONDITION_PARTS: usize = 2;

/// The shape with the most dimensions among those that can be proved; failing that, one that holds under a condition on the
/// parameters which leaves every access possible, if it tells loops apart that share a flat offset.
///
/// Ensures: under the condition the relations describe exactly the cells that the accesses touch; two of them meet if and only if
/// bytes overlap within a cell.
pub fn recover_constant_shape(ctx: &Ctx, accesses: &[FlatAccess]) -> Result<Shape, IslError> {
    ctx.within(Budget::DELINEARIZE, || recover(ctx, accesses))
}

fn recover(ctx: &Ctx, accesses: &[FlatAccess]) -> Result<Shape, IslError> {
    let cell_bytes = cell(accesses)?;
    let mut flat = Vec::new();
    for access in accesses {
        let cells = access.offset.intersect_domain(&access.domain)?.coalesce()?;
        let cells = cells.scale_down_val(&Val::int_from_ui(ctx, cell_bytes)?)?;
        flat.push(Flat { domain: &access.domain, cells, count: access.bytes.div_ceil(cell_bytes) as i64 });
    }
    let everywhere = Set::universe(&isl::Space::params_alloc(ctx, 0)?)?;
    let candidates = candidates(&flat)?;
    for strides in &candidates {
        if let Some(relations) = subscripts(ctx, &flat, strides, &mut Proof::Demanded)? {
            return Ok(Shape { cell_bytes, inner_sizes: sizes(strides), relations, condition: everywhere });
        }
    }
    if flat.iter().map(Flat::mixes_loops).collect::<Result<Vec<_>, _>>()?.contains(&true) {
        for strides in &candidates {
            let mut broken = Proof::Replaced { by_excluding: everywhere.complement()? };
            let Some(relations) = subscripts(ctx, &flat, strides, &mut broken)? else { continue };
            let Proof::Replaced { by_excluding } = broken else { unreachable!("the variant does not change") };
            let condition = by_excluding.complement()?.gist(&happening(accesses)?)?.coalesce()?;
            if worth_testing(&condition, accesses)? {
                return Ok(Shape { cell_bytes, inner_sizes: sizes(strides), relations, condition });
            }
        }
    }
    let relations = flat.iter().map(|f| covering(&Map::from_pw_aff(&f.cells)?, f.count)).collect::<Result<_, _>>()?;
    Ok(Shape { cell_bytes, inner_sizes: Vec::new(), relations, condition: everywhere })
}

fn sizes(strides: &[i64]) -> Vec<i64> {
    (0..strides.len()).map(|k| strides[k] / strides.get(k + 1).copied().unwrap_or(1)).collect()
}

/// Parameter values at which anything is accessed at all; what a condition says of others does not matter, so it need not be said.
fn happening(accesses: &[FlatAccess]) -> Result<Set, IslError> {
    let mut all: Option<Set> = None;
    for access in accesses {
        let some = access.domain.params()?;
        all = Some(match all {
            None => some,
            Some(all) => all.union(&some)?.coalesce()?,
        });
    }
    Ok(all.expect("at least one access mixes loops"))
}

/// Simple, and every access can still happen.
fn worth_testing(condition: &Set, accesses: &[FlatAccess]) -> Result<bool, IslError> {
    if condition.n_basic_set()? > MAX_CONDITION_PARTS {
        return Ok(false);
    }
    for access in accesses {
        if access.domain.intersect_params(condition)?.is_empty()? && !access.domain.is_empty()? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What is done about a subscript that may leave its dimension.
enum Proof {
    /// It is not taken.
    Demanded,
    /// The parameters for which it does are excluded.
    Replaced { by_excluding: Set },
}

struct Flat<'a> {
    domain: &'a Set,
    /// In cells.
    cells: PwAff,
    /// How many consecutive cells are touched.
    count: i64,
}

impl Flat<'_> {
    /// Two loops turn the same flat offset.
    fn mixes_loops(&self) -> Result<bool, IslError> {
        for (_, aff) in self.cells.pieces()? {
            let mut loops = 0;
            for k in 0..aff.dim(DimType::In)? {
                loops += usize::from(!aff.get_coefficient_val(DimType::In, k)?.is_zero()?);
            }
            if loops > 1 {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The largest size that divides every access size and every offset: an access covers whole cells.
fn cell(accesses: &[FlatAccess]) -> Result<u64, IslError> {
    let mut size = accesses.iter().map(|a| a.bytes).fold(0, gcd).max(1);
    for access in accesses {
        let offset = access.offset.intersect_domain(&access.domain)?;
        while size > 1 {
            let modulus = Val::int_from_ui(offset.ctx(), size)?;
            if offset.mod_val(&modulus)?.non_zero_set()?.is_empty()? {
                break;
            }
            size = if size % 2 == 0 { size / 2 } else { 1 };
        }
    }
    Ok(size)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Lists of strides greater than 1, each a proper multiple of the next, longest lists first.
fn candidates(accesses: &[Flat]) -> Result<Vec<Vec<i64>>, IslError> {
    let mut seen = BTreeSet::new();
    for access in accesses {
        for (_, aff) in access.cells.pieces()? {
            for kind in [DimType::In, DimType::Param] {
                for k in 0..aff.dim(kind)? {
                    seen.extend(aff.get_coefficient_val(kind, k)?.to_i64().map(i64::saturating_abs));
                }
            }
        }
    }
    seen.retain(|s| *s > 1);
    if seen.is_empty() || seen.len() > MAX_STRIDES {
        return Ok(Vec::new());
    }
    // A loop of step 2 shows twice the stride of its dimension; a second one of step 3 reveals it as the common divisor.
    let known: Vec<i64> = seen.iter().copied().collect();
    for a in &known {
        for b in &known {
            let divisor = gcd(a.unsigned_abs(), b.unsigned_abs()) as i64;
            if divisor > 1 {
                seen.insert(divisor);
            }
            // The diagonal A[i][i] shows the stride plus one.
            if (a - b).abs() > 1 && *a > *b && a - b != *b {
                seen.insert(a - b);
            }
        }
    }
    // A lone diagonal, or its mirror image.
    if let [only] = known.as_slice() {
        seen.extend([only - 1, only + 1].into_iter().filter(|s| *s > 1));
    }
    let all: Vec<i64> = seen.into_iter().rev().take(10).collect();
    let mut chains = vec![Vec::new()];
    for stride in all {
        for k in 0..chains.len() {
            let chain: &Vec<i64> = &chains[k];
            if chain.last().is_none_or(|last| last % stride == 0) {
                let mut longer = chain.clone();
                longer.push(stride);
                chains.push(longer);
            }
        }
    }
    chains.retain(|c| !c.is_empty());
    // Strides that really occur are more likely than computed ones; among those, more dimensions are better.
    let computed = |chain: &Vec<i64>| chain.iter().filter(|s| !known.contains(s)).count();
    chains.sort_by_key(|c| (computed(c), std::cmp::Reverse(c.len()), c.clone()));
    chains.truncate(MAX_CANDIDATES);
    Ok(chains)
}

/// The subscripts of all accesses for these strides, if all inner ones are in range.
fn subscripts(ctx: &Ctx, accesses: &[Flat], strides: &[i64], proof: &mut Proof) -> Result<Option<Vec<Map>>, IslError> {
    let mut relations = Vec::new();
    for access in accesses {
        let mut relation: Option<Map> = None;
        for (domain, aff) in access.cells.pieces()? {
            let domain = domain.intersect(access.domain)?;
            let Some(parts) = split(ctx, &domain, &aff, strides, access.count, proof)? else { return Ok(None) };
            let mut piece: Option<Map> = None;
            for part in parts {
                let one = Map::from_pw_aff(&PwAff::alloc(&domain, &part)?)?;
                piece = Some(match piece {
                    None => one,
                    Some(outer) => outer.flat_range_product(&one)?,
                });
            }
            let Some(piece) = piece else { return Ok(None) };
            relation = Some(match relation {
                None => piece,
                Some(other) => other.union(&piece)?,
            });
        }
        let relation = match relation {
            Some(relation) => covering(&relation, access.count)?,
            None => {
                // An access that never happens.
                let space = Map::from_pw_aff(&access.cells)?;
                space.add_dims(DimType::Out, strides.len())?
            }
        };
        relations.push(relation.coalesce()?);
    }
    Ok(Some(relations))
}

/// `aff = Σ partₖ·strideₖ + last`, with every remainder after a stride proved to be in 0 .. stride over the domain.
///
/// With divisible strides, 0 ≤ remainder after sₖ < sₖ for all k says the same as 0 ≤ xᵢ < nᵢ for all inner subscripts: the
/// remainder after sₖ is xₖ₊₁·sₖ₊₁ + (remainder after sₖ₊₁), and both forms name the digits of one number.
fn split(
    ctx: &Ctx,
    domain: &Set,
    aff: &Aff,
    strides: &[i64],
    count: i64,
    proof: &mut Proof,
) -> Result<Option<Vec<Aff>>, IslError> {
    if aff.dim(DimType::Div)? > 0 || !aff.get_denominator_val()?.is_one()? {
        return Ok(None);
    }
    let mut parts = Vec::new();
    let mut rest = aff.clone();
    for &stride in strides {
        let mut part = Aff::zero_on_domain_space(&aff.get_domain_space()?)?;
        for kind in [DimType::In, DimType::Param] {
            for k in 0..aff.dim(kind)? {
                let Some(c) = rest.get_coefficient_val(kind, k)?.to_i64() else { return Ok(None) };
                let q = nearest(c, stride);
                part = part.set_coefficient_val(kind, k, &Val::int_from_si(ctx, q)?)?;
            }
        }
        let scaled = |part: &Aff| part.scale_val(&Val::int_from_si(ctx, stride)?);
        let without = rest.sub(&scaled(&part)?)?;
        let Some(shift) = row_of_constant(domain, &without, stride, count, proof)? else { return Ok(None) };
        part = part.set_constant_val(&Val::int_from_si(ctx, shift)?)?;
        rest = rest.sub(&scaled(&part)?)?;
        parts.push(part);
    }
    parts.push(rest);
    Ok(Some(parts))
}

/// The multiple q of the stride with 0 ≤ e − q·stride and e − q·stride + count ≤ stride for all instances.
fn row_of_constant(domain: &Set, e: &Aff, stride: i64, count: i64, proof: &mut Proof) -> Result<Option<i64>, IslError> {
    let low = domain.min_val(e)?;
    let mut guesses = Vec::new();
    // With the least value in range the greatest is, or no q does it.
    guesses.extend(low.to_i64().map(|low| low.div_euclid(stride)));
    if guesses.is_empty() {
        let Some(constant) = e.get_constant_val()?.to_i64() else { return Ok(None) };
        guesses.extend([constant.div_euclid(stride), constant.div_euclid(stride) + 1]);
    }
    for q in guesses {
        let Some(shift) = q.checked_mul(-stride) else { continue };
        let rest = e.add_constant_val(&Val::int_from_si(e.ctx(), shift)?)?;
        let too_low = rest.neg_basic_set()?.to_set()?.intersect(domain)?;
        // stride − count − rest < 0
        let beyond = rest
            .neg()?
            .add_constant_val(&Val::int_from_si(e.ctx(), stride - count)?)?
            .neg_basic_set()?
            .to_set()?
            .intersect(domain)?;
        if too_low.is_empty()? && beyond.is_empty()? {
            return Ok(Some(q));
        }
        if let Proof::Replaced { by_excluding } = proof {
            *by_excluding = by_excluding.union(&too_low.union(&beyond)?.params()?)?.coalesce()?;
            return Ok(Some(q));
        }
    }
    Ok(None)
}

fn nearest(value: i64, stride: i64) -> i64 {
    // Halves go down: a coefficient of half a row stays in the row.
    (value.saturating_add((stride - 1) / 2)).div_euclid(stride)
}

/// From the first cell to `count` cells, along the last subscript.
fn covering(first: &Map, count: i64) -> Result<Map, IslError> {
    if count == 1 {
        return Ok(first.clone());
    }
    let dims = first.dim(DimType::Out)?;
    let outer: Vec<String> = (1..dims).map(|k| format!("s{k}")).collect();
    let from = outer.iter().cloned().chain(["e".to_string()]).collect::<Vec<_>>().join(", ");
    let to = outer.iter().cloned().chain(["f".to_string()]).collect::<Vec<_>>().join(", ");
    let text = format!("{{ [{from}] -> [{to}] : e <= f < e + {count} }}");
    first.apply_range(&Map::read_from_str(first.ctx(), &text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each access as "domain | offset in bytes | bytes".
    fn flat_access(ctx: &Ctx, text: &str) -> FlatAccess {
        let parts: Vec<&str> = text.split('|').map(str::trim).collect();
        let domain = Set::read_from_str(ctx, parts[0]).unwrap();
        let offset = PwAff::read_from_str(ctx, parts[1]).unwrap();
        FlatAccess { domain, offset, bytes: parts[2].parse().unwrap() }
    }

    fn condition(access: &str) -> String {
        let ctx = Ctx::new();
        recover_constant_shape(&ctx, &[flat_access(&ctx, access)]).unwrap().condition.to_string()
    }

    fn shape(accesses: &[&str]) -> (Vec<i64>, u64, Vec<String>) {
        let ctx = Ctx::new();
        let flat: Vec<FlatAccess> = accesses.iter().map(|text| flat_access(&ctx, text)).collect();
        let shape = recover_constant_shape(&ctx, &flat).unwrap();
        check_against_flat(&ctx, &flat, &shape);
        (shape.inner_sizes, shape.cell_bytes, shape.relations.iter().map(Map::to_string).collect())
    }

    /// The subscripts, flattened again, are the cells of the offset, and inner subscripts are in range: exactness, by isl.
    fn check_against_flat(ctx: &Ctx, flat: &[FlatAccess], shape: &Shape) {
        let names: Vec<String> = (0..=shape.inner_sizes.len()).map(|k| format!("s{k}")).collect();
        let mut expression = names[0].clone();
        let mut ranges = Vec::new();
        for (name, size) in names[1..].iter().zip(&shape.inner_sizes) {
            expression = format!("{size}*({expression}) + {name}");
            ranges.push(format!("0 <= {name} < {size}"));
        }
        let flatten = Map::read_from_str(ctx, &format!("{{ [{}] -> [{expression}] }}", names.join(", "))).unwrap();
        let range = if ranges.is_empty() { "true".into() } else { ranges.join(" and ") };
        let inside = Set::read_from_str(ctx, &format!("{{ [{}] : {range} }}", names.join(", "))).unwrap();
        for (access, relation) in flat.iter().zip(&shape.relations) {
            let relation = relation.intersect_params(&shape.condition).unwrap();
            assert!(relation.range().unwrap().is_subset(&inside).unwrap(), "{relation}");
            let domain = access.domain.intersect_params(&shape.condition).unwrap();
            let bytes = Map::from_pw_aff(&access.offset).unwrap().intersect_domain(&domain).unwrap();
            let cell = shape.cell_bytes;
            let cells = Map::read_from_str(
                ctx,
                &format!("{{ [o] -> [c] : o <= {cell}*c and {cell}*c + {cell} <= o + {} }}", access.bytes),
            );
            let expected = bytes.apply_range(&cells.unwrap()).unwrap();
            assert!(relation.apply_range(&flatten).unwrap().is_equal(&expected).unwrap(), "{relation} for {expected}");
        }
    }

    const SQUARE: &str = "{ S[i, j] : 0 <= i < 1000 and 0 <= j < 1200 }";

    #[test]
    fn rows_come_from_the_stride() {
        let (sizes, cell, relations) = shape(&[&format!("{SQUARE} | {{ S[i, j] -> [9600i + 8j] }} | 8")]);
        assert_eq!((sizes, cell), (vec![1200], 8));
        assert_eq!(relations, ["{ S[i, j] -> [i, j] : 0 <= i <= 999 and 0 <= j <= 1199 }"]);
    }

    #[test]
    fn a_constant_larger_than_a_row_is_split_so_that_the_column_is_in_range() {
        let inner = "{ S[i, j] : 1 <= i < 999 and 1 <= j < 1199 }";
        let (sizes, _, relations) = shape(&[
            &format!("{inner} | {{ S[i, j] -> [9600i + 8j + 9592] }} | 8"),
            &format!("{inner} | {{ S[i, j] -> [9600i + 8j - 9592] }} | 8"),
        ]);
        assert_eq!(sizes, [1200]);
        assert_eq!(
            relations,
            [
                "{ S[i, j] -> [1 + i, -1 + j] : 0 < i <= 998 and 0 < j <= 1198 }",
                "{ S[i, j] -> [-1 + i, 1 + j] : 0 < i <= 998 and 0 < j <= 1198 }"
            ]
        );
    }

    #[test]
    fn three_dimensions() {
        let domain = "{ S[i, j, k] : 0 <= i < 10 and 1 <= j < 20 and 0 <= k < 29 }";
        let (sizes, _, relations) = shape(&[&format!("{domain} | {{ S[i, j, k] -> [4*(600i + 30j + k - 29)] }} | 4")]);
        assert_eq!(sizes, [20, 30]);
        assert_eq!(relations[0], "{ S[i, j, k] -> [i, -1 + j, 1 + k] : 0 <= i <= 9 and 0 < j <= 19 and 0 <= k <= 28 }");
    }

    #[test]
    fn a_column_out_of_its_row_stays_flat() {
        let wide = "{ S[i, j] : 0 <= i < 1000 and 0 <= j < 1300 }";
        let (sizes, _, _) = shape(&[&format!("{wide} | {{ S[i, j] -> [9600i + 8j] }} | 8")]);
        assert!(sizes.is_empty());
    }

    #[test]
    fn parameters_the_domain_does_not_bound_become_a_condition() {
        let unknown = "[n] -> { S[i, j] : 0 <= i < n and 0 <= j < n }";
        let bounded = "[n] -> { S[i, j] : 0 <= i < n and 0 <= j < n and n <= 1200 }";
        let offset = "[n] -> { S[i, j] -> [9600i + 8j] }";
        assert_eq!(shape(&[&format!("{unknown} | {offset} | 8")]).0, [1200]);
        assert_eq!(condition(&format!("{unknown} | {offset} | 8")), "[n] -> {  : n <= 1200 }");
        assert_eq!(condition(&format!("{bounded} | {offset} | 8")), "{  :  }");
        assert_eq!(shape(&[&format!("{bounded} | {offset} | 8")]).0, [1200]);
    }

    #[test]
    fn the_diagonal_and_the_transpose_share_a_shape() {
        let (sizes, _, relations) = shape(&[
            "{ S[i, j] : 0 <= i < 100 and 0 <= j < 100 } | { S[i, j] -> [8*(100i + j)] } | 8",
            "{ T[i] : 0 <= i < 100 } | { T[i] -> [8*101i] } | 8",
            "{ S[i, j] : 0 <= i < 100 and 0 <= j < 100 } | { S[i, j] -> [8*(100j + i)] } | 8",
            "{ T[i] : 0 <= i < 100 } | { T[i] -> [8*(99i + 99)] } | 8",
        ]);
        assert_eq!(sizes, [100]);
        assert_eq!(relations[1], "{ T[i] -> [i, i] : 0 <= i <= 99 }");
        assert_eq!(relations[3], "{ T[i] -> [i, 99 - i] : 0 <= i <= 99 }");
    }

    #[test]
    fn accesses_of_two_sizes_share_the_smaller_cell() {
        let (sizes, cell, relations) = shape(&[
            "{ S[i] : 0 <= i < 10 } | { S[i] -> [8i] } | 8",
            "{ T[i] : 0 <= i < 10 } | { T[i] -> [8i + 4] } | 4",
        ]);
        assert_eq!((sizes, cell), (vec![2], 4));
        assert_eq!(relations[0], "{ S[i] -> [i, f] : 0 <= i <= 9 and 0 <= f <= 1 }");
        assert_eq!(relations[1], "{ T[i] -> [i, 1] : 0 <= i <= 9 }");
    }

    #[test]
    fn records_become_an_inner_dimension() {
        let (sizes, cell, relations) = shape(&[
            "{ S[i] : 0 <= i < 10 } | { S[i] -> [16i] } | 8",
            "{ S[i] : 0 <= i < 10 } | { S[i] -> [16i + 8] } | 8",
        ]);
        assert_eq!((sizes, cell), (vec![2], 8));
        assert_eq!(relations, ["{ S[i] -> [i, 0] : 0 <= i <= 9 }", "{ S[i] -> [i, 1] : 0 <= i <= 9 }"]);
    }

    #[test]
    fn loops_of_steps_two_and_three_reveal_the_row() {
        let (sizes, _, _) = shape(&[
            "{ S[i, j] : 0 <= i < 10 and 0 <= j < 100 } | { S[i, j] -> [8*(200i + j)] } | 8",
            "{ T[i, j] : 0 <= i < 10 and 0 <= j < 100 } | { T[i, j] -> [8*(300i + j)] } | 8",
        ]);
        assert_eq!(sizes, [100]);
    }

    #[test]
    fn backwards_loops_have_negative_strides() {
        let (sizes, _, relations) =
            shape(&["{ S[i, j] : 0 <= i < 10 and 0 <= j < 100 } | { S[i, j] -> [8*(999 - 100i - j)] } | 8"]);
        assert_eq!(sizes, [100]);
        assert_eq!(relations[0], "{ S[i, j] -> [9 - i, 99 - j] : 0 <= i <= 9 and 0 <= j <= 99 }");
    }
}
