//! How a row of a schedule moves along dependences.
//!
//! Every order that is looked at is asked this for every loop and dependence, so the answer has to be cheap. Mostly a look at the
//! equalities of a convex piece tells: along `S[i, k] -> S[i, k + 1]` the row `i` stays, and `k` moves by one. isl is asked for the
//! rest.

use isl::{Aff, BasicMap, DimType, IslError, MultiUnionPwAff, UnionMap, UnionPwAff};
use num_integer::Integer;
use std::collections::HashMap;

/// The pairs with equal values of `row`.
pub(crate) fn equal_at(pairs: &UnionMap, row: &UnionPwAff) -> Result<UnionMap, IslError> {
    Ok(Row::of(row)?.agreement(pairs)?.equal)
}

/// Do all pairs have equal values of `row`?
pub(crate) fn all_equal_at(pairs: &UnionMap, row: &UnionPwAff) -> Result<bool, IslError> {
    Ok(!Row::of(row)?.agreement(pairs)?.differ)
}

/// The pairs of a relation that agree in a row.
pub(crate) struct Agreement {
    pub equal: UnionMap,
    /// There are others.
    pub differ: bool,
}

/// A row, and what can be seen of it at a glance.
pub(crate) struct Row<'a> {
    row: &'a UnionPwAff,
    forms: HashMap<String, Form>,
}

/// How the value at the sink compares with the one at the source, for all pairs of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Distance {
    Less,
    Equal,
    Greater,
    NotLess,
    Unknown,
}

impl<'a> Row<'a> {
    pub(crate) fn of(row: &'a UnionPwAff) -> Result<Row<'a>, IslError> {
        let mut forms = HashMap::new();
        for part in row.pw_affs()? {
            let pieces = part.pieces()?;
            let [(domain, aff)] = pieces.as_slice() else { continue };
            if domain.plain_is_universe()?
                && let Some(form) = Form::of(aff)?
            {
                forms.insert(part.get_domain_space()?.get_tuple_name(DimType::Set)?, form);
            }
        }
        Ok(Row { row, forms })
    }

    pub(crate) fn agreement(&self, pairs: &UnionMap) -> Result<Agreement, IslError> {
        let mut equal = UnionMap::empty_ctx(pairs.ctx())?;
        let (mut differ, mut as_it_was) = (false, true);
        for (piece, distance) in self.distances(pairs)? {
            let all = UnionMap::from_basic_map(&piece)?;
            let kept = match distance {
                Distance::Equal => Some(all),
                Distance::Less | Distance::Greater => {
                    differ |= !all.is_empty()?;
                    None
                }
                Distance::NotLess | Distance::Unknown => {
                    let kept = all.eq_at_multi_union_pw_aff(&MultiUnionPwAff::from_union_pw_aff(self.row)?)?;
                    match all.is_subset(&kept)? {
                        true => Some(all),
                        false => {
                            differ = true;
                            as_it_was = false;
                            Some(kept)
                        }
                    }
                }
            };
            match kept {
                Some(kept) => equal = equal.union(&kept)?,
                None => as_it_was = false,
            }
        }
        Ok(Agreement { equal: if as_it_was { pairs.clone() } else { equal }, differ })
    }

    /// The pairs with a smaller value at the sink.
    pub(crate) fn backward(&self, pairs: &UnionMap) -> Result<UnionMap, IslError> {
        let mut backward = UnionMap::empty_ctx(pairs.ctx())?;
        for (piece, distance) in self.distances(pairs)? {
            let all = UnionMap::from_basic_map(&piece)?;
            match distance {
                Distance::Equal | Distance::Greater | Distance::NotLess => {}
                Distance::Less => backward = backward.union(&all)?,
                Distance::Unknown => {
                    let kept = all.lex_le_at_multi_union_pw_aff(&MultiUnionPwAff::from_union_pw_aff(self.row)?)?;
                    if !all.is_subset(&kept)? {
                        backward = backward.union(&all.subtract(&kept)?)?;
                    }
                }
            }
        }
        Ok(backward)
    }

    fn distances(&self, pairs: &UnionMap) -> Result<Vec<(BasicMap, Distance)>, IslError> {
        let mut all = Vec::new();
        for map in pairs.maps()? {
            let from = self.forms.get(&map.get_tuple_name(DimType::In)?);
            let to = self.forms.get(&map.get_tuple_name(DimType::Out)?);
            for piece in map.basic_maps()? {
                let distance = match (from, to) {
                    (Some(from), Some(to)) => Equalities::of(&piece)?.and_then(|e| e.distance(from, to)),
                    _ => None,
                };
                all.push((piece, distance.unwrap_or(Distance::Unknown)));
            }
        }
        Ok(all)
    }
}

/// A quasi-affine expression as linear expressions and what is made of them: floors, and sums. Two forms with one frame have equal
/// values where all their parts have.
struct Form {
    /// Denominators and coefficients of floors, those of the whole first, then those of what each floor is taken of.
    frame: Vec<i128>,
    /// As integers: the whole without its floors, then what each floor is taken of, without the floors in it.
    parts: Vec<Linear>,
}

#[derive(Clone, Default)]
struct Linear {
    params: HashMap<String, i128>,
    dims: Vec<i128>,
    constant: i128,
}

impl Form {
    fn of(aff: &Aff) -> Result<Option<Form>, IslError> {
        let mut form = Form { frame: Vec::new(), parts: Vec::new() };
        let floors = aff.dim(DimType::Div)?;
        let is_whole = form.add(aff, floors)?;
        for k in 0..floors {
            if !form.add(&aff.get_div(k)?, floors)? {
                return Ok(None);
            }
        }
        Ok(is_whole.then_some(form))
    }

    /// `false`: there are numbers that do not fit.
    fn add(&mut self, aff: &Aff, floors: usize) -> Result<bool, IslError> {
        let denominator = aff.get_denominator_val()?;
        let scaled = |value: isl::Val| -> Result<Option<i128>, IslError> {
            Ok(value.mul(&denominator)?.to_i64().map(i128::from))
        };
        let mut linear = Linear::default();
        let Some(all) = denominator.to_i64() else { return Ok(false) };
        self.frame.push(all.into());
        for k in 0..floors {
            let Some(value) = scaled(aff.get_coefficient_val(DimType::Div, k)?)? else { return Ok(false) };
            self.frame.push(value);
        }
        for k in 0..aff.dim(DimType::Param)? {
            let Some(value) = scaled(aff.get_coefficient_val(DimType::Param, k)?)? else { return Ok(false) };
            if value != 0 {
                linear.params.insert(aff.get_dim_name(DimType::Param, k)?, value);
            }
        }
        for k in 0..aff.dim(DimType::In)? {
            let Some(value) = scaled(aff.get_coefficient_val(DimType::In, k)?)? else { return Ok(false) };
            linear.dims.push(value);
        }
        let Some(value) = scaled(aff.get_constant_val()?)? else { return Ok(false) };
        linear.constant = value;
        self.parts.push(linear);
        Ok(true)
    }

    /// If it is one linear expression divided by a number and rounded down, that one.
    fn only_floor(&self) -> Option<&Linear> {
        match (&self.parts[..], &self.frame[..2.min(self.frame.len())]) {
            ([whole, inner], [1, 1]) if whole.is_zero() => Some(inner),
            _ => None,
        }
    }
}

impl Linear {
    fn is_zero(&self) -> bool {
        self.params.is_empty() && self.constant == 0 && self.dims.iter().all(|c| *c == 0)
    }
}

/// The equalities of a piece, no column but a row's pivot being used for it alone: rows are reduced one after the other.
struct Equalities {
    params: HashMap<String, usize>,
    inputs: usize,
    outputs: usize,
    /// Columns: parameters, inputs, outputs, divisions, the constant; and the column of the pivot.
    rows: Vec<(Vec<i128>, usize)>,
    columns: usize,
}

impl Equalities {
    fn of(piece: &BasicMap) -> Result<Option<Equalities>, IslError> {
        // What holds of more pairs holds of these; isl has no list of what rests on a division that it has no formula for.
        let known = if piece.dim(DimType::Div)? > 0 { &piece.wrap()?.remove_unknown_divs()?.unwrap()? } else { piece };
        let piece = known;
        let kinds = [DimType::Param, DimType::In, DimType::Out, DimType::Div];
        let mut dims = [0; 4];
        for (count, kind) in dims.iter_mut().zip(kinds) {
            *count = piece.dim(kind)?;
        }
        let space = piece.get_space()?;
        let mut params = HashMap::new();
        for k in 0..dims[0] {
            params.insert(space.get_dim_name(DimType::Param, k)?, k);
        }
        let columns = dims.iter().sum::<usize>() + 1;
        let mut all = Equalities { params, inputs: dims[1], outputs: dims[2], rows: Vec::new(), columns };
        for constraint in piece.constraints()? {
            if !constraint.is_equality()? {
                continue;
            }
            let mut row = Vec::with_capacity(columns);
            for kind in kinds {
                for k in 0..constraint.dim(kind)? {
                    row.push(constraint.get_coefficient_val(kind, k)?.to_i64().map(i128::from));
                }
            }
            row.push(constraint.get_constant_val()?.to_i64().map(i128::from));
            let Some(row) = row.into_iter().collect::<Option<Vec<i128>>>() else { return Ok(None) };
            // Its divisions may be numbered otherwise, and the row may be of another length then.
            if row.len() != columns {
                return Ok(None);
            }
            let Some(row) = all.reduced(row) else { return Ok(None) };
            if let Some(pivot) = row[..columns - 1].iter().rposition(|c| *c != 0) {
                all.rows.push((row, pivot));
            }
        }
        Ok(Some(all))
    }

    /// A positive multiple of the expression, up to a sum of equalities; `None` where numbers become too large.
    fn reduced(&self, mut row: Vec<i128>) -> Option<Vec<i128>> {
        for (equality, pivot) in &self.rows {
            let (by, at) = (equality[*pivot], row[*pivot]);
            if at == 0 {
                continue;
            }
            let mut content = 0;
            for (value, other) in row.iter_mut().zip(equality) {
                let kept = value.checked_mul(by.checked_abs()?)?;
                *value = kept.checked_sub(other.checked_mul(at)?.checked_mul(by.signum())?)?;
                content = content.gcd(value);
            }
            if content > 1 {
                row.iter_mut().for_each(|value| *value /= content);
            }
        }
        Some(row)
    }

    /// The sign of `to` at the sink minus `from` at the source, if it is the same for all pairs.
    fn sign(&self, from: &Linear, to: &Linear) -> Option<i128> {
        if from.dims.len() != self.inputs || to.dims.len() != self.outputs {
            return None;
        }
        let mut row = vec![0; self.columns];
        for (name, value) in &to.params {
            row[*self.params.get(name)?] += value;
        }
        for (name, value) in &from.params {
            row[*self.params.get(name)?] -= value;
        }
        let (first, second) = (self.params.len(), self.params.len() + self.inputs);
        for (k, value) in from.dims.iter().enumerate() {
            row[first + k] = -value;
        }
        for (k, value) in to.dims.iter().enumerate() {
            row[second + k] = *value;
        }
        row[self.columns - 1] = to.constant.checked_sub(from.constant)?;
        let row = self.reduced(row)?;
        let (constant, others) = row.split_last()?;
        others.iter().all(|c| *c == 0).then(|| constant.signum())
    }

    fn distance(&self, from: &Form, to: &Form) -> Option<Distance> {
        if from.frame != to.frame || from.parts.len() != to.parts.len() {
            return None;
        }
        if let ([from], [to]) = (&from.parts[..], &to.parts[..]) {
            return Some(match self.sign(from, to)? {
                0 => Distance::Equal,
                1 => Distance::Greater,
                _ => Distance::Less,
            });
        }
        if from.parts.iter().zip(&to.parts).all(|(from, to)| self.sign(from, to) == Some(0)) {
            return Some(Distance::Equal);
        }
        // Rounding keeps the order.
        let (from, to) = (from.only_floor()?, to.only_floor()?);
        (self.sign(from, to)? >= 0).then_some(Distance::NotLess)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isl::Ctx;

    const PAIRS: [&str; 13] = [
        "[n] -> { S[i, k] -> S[i, k + 1] : 0 <= i < n and 0 <= k < n - 1 }",
        "[n] -> { S[i, k] -> S[i', k] : 0 <= i < i' < n and 0 <= k < n }",
        "[n] -> { S[i, k] -> T[i, n] : 0 <= i < n and k = n - 1; T[i, k] -> S[i, 0] : i > k }",
        "[n] -> { S[i, k] -> S[i + 1, k - 1] : 0 <= i < n and 0 < k }",
        "[n] -> { S[i, k] -> S[k, i] : 0 <= i < k < n }",
        "[n] -> { S[i, k] -> S[i', k'] : i' + k' = i + k and i' > i }",
        "[n] -> { S[i, k] -> S[i, k + 32] : 0 <= k < n; S[i, k] -> S[i + 4, k] }",
        "[n, m] -> { S[i, k] -> T[i + n, k + m] : n >= 0 and m <= 0 }",
        "[n] -> { S[i, k] -> S[i, k'] : exists (a : k' = k + 2a and a > 0) and k' < n }",
        "[n] -> { S[i, k] -> S[i, k - 1] : 1 = 0 }",
        "[n] -> { S[i, k] -> S[2i, 2k] : 0 <= i, k < n }",
        "{ S[i, k] -> T[i, k]; T[i, k] -> S[i, k] : i > 3 }",
        "[n] -> { S[i, k] -> S[i, k'] : exists (a, b : i = 2a + 3b and k' = k + a - b and 0 <= a <= b <= n) }",
    ];
    /// Of S and of T.
    const ROWS: [(&str, &str); 16] = [
        ("i", "i"),
        ("k", "k"),
        ("i + k", "i + k"),
        ("-i", "-i"),
        ("2i - 3k + 1", "2i - 3k"),
        ("i", "k"),
        ("i", "0"),
        ("n + i", "i"),
        ("floor(i/32)", "floor(i/32)"),
        ("floor((i + 33)/32)", "floor(i/32)"),
        ("i - 32*floor(i/32)", "i - 32*floor(i/32)"),
        ("-floor(k/4)", "-floor(k/4)"),
        ("floor((k - 32*floor(k/32))/4)", "floor((k - 32*floor(k/32))/4)"),
        ("floor((i + n)/8)", "floor((i + n)/8)"),
        ("floor(i/2) + floor(k/3)", "floor(i/2) + floor(k/3)"),
        ("floor(i/2)", "floor(i/4)"),
    ];

    #[test]
    fn a_glance_sees_what_isl_finds() {
        let ctx = Ctx::new();
        let mut seen = 0;
        for text in PAIRS {
            let pairs: UnionMap = UnionMap::read_from_str(&ctx, text).unwrap();
            for (s, t) in ROWS {
                let row =
                    UnionPwAff::read_from_str(&ctx, &format!("[n] -> {{ S[i, k] -> [({s})]; T[i, k] -> [({t})] }}"));
                let row = row.unwrap();
                let all = MultiUnionPwAff::from_union_pw_aff(&row).unwrap();
                let equal = pairs.eq_at_multi_union_pw_aff(&all).unwrap();
                let kept = pairs.lex_le_at_multi_union_pw_aff(&all).unwrap();
                let found = Row::of(&row).unwrap();
                let Agreement { equal: seen_equal, differ } = found.agreement(&pairs).unwrap();
                assert!(seen_equal.is_equal(&equal).unwrap(), "{text} {s} {t}: {seen_equal} is not {equal}");
                assert_eq!(differ, !pairs.is_subset(&equal).unwrap(), "{text} {s} {t}");
                let backward = found.backward(&pairs).unwrap();
                assert!(backward.is_equal(&pairs.subtract(&kept).unwrap()).unwrap(), "{text} {s} {t}: {backward}");
                let is_seen = |(_, distance): &(BasicMap, Distance)| *distance != Distance::Unknown;
                seen += found.distances(&pairs).unwrap().iter().filter(|d| is_seen(d)).count();
            }
        }
        assert!(seen > 80, "hardly anything is seen at a glance: {seen}");
    }
}
