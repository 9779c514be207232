//! How a row of a schedule moves along dependences.
//!
//! Every order that is looked at is asked this for every loop and dependence, so the answer has to be cheap. Mostly a look at the
//! constraints of a convex piece tells: along `S[i, k] -> S[i, k + 1]` the row `i` stays, and `k` moves by one; along `S[i] -> S[i']`
//! with `i' > i` the row `i` moves forward. Where it is known that the pairs agree in rows above, such as `floor(i/4)`, that tells of
//! others, such as `i mod 4`. isl is asked for the rest.

use crate::quasi_affine::{Form, Linear};
use isl::{BasicMap, DimType, IslError, MultiUnionPwAff, UnionMap, UnionPwAff};
use num_integer::Integer;
use std::collections::HashMap;

/// The pairs with equal values of all rows.
pub(crate) fn agreement_at<'a>(
    pairs: &UnionMap,
    rows: impl IntoIterator<Item = &'a UnionPwAff>,
) -> Result<Agreement, IslError> {
    let rows = rows.into_iter().map(Row::of).collect::<Result<Vec<_>, _>>()?;
    agreement_below(pairs, &rows, &[], Precision::Exact)
}

/// The same where only those of the pairs count that agree in all rows `above`.
pub(crate) fn agreement_below(
    pairs: &UnionMap,
    rows: &[Row],
    above: &[Row],
    precision: Precision,
) -> Result<Agreement, IslError> {
    let mut so_far = Agreement { equal: pairs.clone(), differ: false, has_more: false };
    let mut above: Vec<&Row> = above.iter().collect();
    for row in rows {
        let Agreement { equal, differ, has_more } = row.distances(&so_far.equal, &above)?.agreement(precision)?;
        so_far = Agreement { equal, differ: differ || so_far.differ, has_more: has_more || so_far.has_more };
        above.push(row);
    }
    Ok(so_far)
}

/// Do all pairs have equal values of `row`?
pub(crate) fn all_equal_at(pairs: &UnionMap, row: &UnionPwAff) -> Result<bool, IslError> {
    Ok(!agreement_at(pairs, [row])?.differ)
}

/// The pairs of a relation that agree in a row.
pub(crate) struct Agreement {
    pub equal: UnionMap,
    /// There are others.
    pub differ: bool,
    /// Some of those may be among them.
    pub has_more: bool,
}

/// Whether pairs that do not agree may be among those said to agree. What is found to be in order with more pairs is in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precision {
    Exact,
    OrMore,
}

/// A row, and what can be seen of it at a glance.
pub(crate) struct Row {
    row: UnionPwAff,
    /// By statement.
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

/// The convex pieces of a relation, and how a row moves along each.
pub(crate) struct Distances<'a> {
    row: &'a UnionPwAff,
    pairs: &'a UnionMap,
    pieces: Vec<(BasicMap, Distance)>,
}

impl Row {
    pub(crate) fn of(row: &UnionPwAff) -> Result<Row, IslError> {
        Ok(Row { row: row.clone(), forms: Form::by_statement(row)? })
    }

    /// Requires: only those of the pairs count that agree in all rows `above`.
    pub(crate) fn distances<'a>(&'a self, pairs: &'a UnionMap, above: &[&Row]) -> Result<Distances<'a>, IslError> {
        let mut pieces = Vec::new();
        for map in pairs.maps()? {
            let (from, to) = (map.get_tuple_name(DimType::In)?, map.get_tuple_name(DimType::Out)?);
            let ends = |row: &'a Row| Some((row.forms.get(&from)?, row.forms.get(&to)?));
            let equal: Vec<_> =
                above.iter().filter_map(|row| Some((row.forms.get(&from)?, row.forms.get(&to)?))).collect();
            for piece in map.basic_maps()? {
                let distance = match ends(self) {
                    Some(ends) => Constraints::of(&piece, &equal, ends)?.and_then(|known| known.distance(ends)),
                    None => None,
                };
                pieces.push((piece, distance.unwrap_or(Distance::Unknown)));
            }
        }
        Ok(Distances { row: &self.row, pairs, pieces })
    }
}

impl Distances<'_> {
    pub(crate) fn agreement(&self, precision: Precision) -> Result<Agreement, IslError> {
        let mut equal = UnionMap::empty_ctx(self.pairs.ctx())?;
        let (mut differ, mut has_more, mut as_it_was) = (false, false, true);
        for (piece, distance) in &self.pieces {
            let all = UnionMap::from_basic_map(piece)?;
            let kept = match distance {
                Distance::Equal => Some(all),
                Distance::Less | Distance::Greater => {
                    differ = differ || !all.is_empty()?;
                    None
                }
                Distance::NotLess if precision == Precision::OrMore => {
                    (differ, has_more) = (true, true);
                    Some(all)
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
        Ok(Agreement { equal: if as_it_was { self.pairs.clone() } else { equal }, differ, has_more })
    }

    /// The pairs with a smaller value at the sink.
    pub(crate) fn backward(&self) -> Result<UnionMap, IslError> {
        let mut backward = UnionMap::empty_ctx(self.pairs.ctx())?;
        for (piece, distance) in &self.pieces {
            let all = UnionMap::from_basic_map(piece)?;
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
}

/// A linear expression over the columns of [`Constraints`].
type Numbers = Vec<i128>;

/// The constraints of a piece, and that its pairs agree in some rows. Columns: the constant, parameters, inputs, outputs, divisions, and
/// floors of inputs and of outputs, each of which is a number of its own.
struct Constraints {
    params: HashMap<String, usize>,
    inputs: usize,
    outputs: usize,
    /// What each of the floors is taken of, and where its column is.
    floors: Vec<((Numbers, i128), usize)>,
    /// With the column of the pivot, which no later one uses: they are taken away one after the other.
    equalities: Vec<(Numbers, usize)>,
    /// What is not negative, reduced by the equalities.
    inequalities: Vec<Numbers>,
    columns: usize,
}

/// Source or sink of a pair.
#[derive(Clone, Copy)]
enum End {
    From,
    To,
}

impl Constraints {
    fn of(
        piece: &BasicMap,
        equal: &[(&Form, &Form)],
        (from, to): (&Form, &Form),
    ) -> Result<Option<Constraints>, IslError> {
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
            params.insert(space.get_dim_name(DimType::Param, k)?, 1 + k);
        }
        let own = dims.iter().sum::<usize>() + 1;
        let forms = || equal.iter().copied().chain([(from, to)]);
        let floors: usize = forms().map(|(from, to)| from.floors.len() + to.floors.len()).sum();
        let mut all = Constraints {
            params,
            inputs: dims[1],
            outputs: dims[2],
            floors: Vec::new(),
            equalities: Vec::new(),
            inequalities: Vec::new(),
            columns: own + floors,
        };
        for (from, to) in forms() {
            if all.name_floors(own, from, End::From).is_none() || all.name_floors(own, to, End::To).is_none() {
                return Ok(None);
            }
        }
        let mut inequalities = Vec::new();
        for constraint in piece.constraints()? {
            let mut row = vec![constraint.get_constant_val()?.to_i64().map(i128::from)];
            for kind in kinds {
                for k in 0..constraint.dim(kind)? {
                    row.push(constraint.get_coefficient_val(kind, k)?.to_i64().map(i128::from));
                }
            }
            let row: Option<Numbers> = row.into_iter().collect();
            // Its divisions may be numbered otherwise, and the row may be of another length then.
            let Some(mut row) = row.filter(|row| row.len() == own) else {
                if constraint.is_equality()? {
                    return Ok(None);
                }
                continue;
            };
            row.resize(all.columns, 0);
            if !constraint.is_equality()? {
                inequalities.push(row);
            } else if all.add_equality(row).is_none() {
                return Ok(None);
            }
        }
        for (from, to) in equal {
            if all.difference(from, to).and_then(|row| all.add_equality(row)).is_none() {
                return Ok(None);
            }
        }
        all.inequalities = inequalities.into_iter().filter_map(|row| all.reduced(row)).collect();
        Ok(Some(all))
    }

    fn add_equality(&mut self, row: Numbers) -> Option<()> {
        let row = self.reduced(row)?;
        if let Some(pivot) = (1..self.columns).rev().find(|&at| row[at] != 0) {
            self.equalities.push((row, pivot));
        }
        Some(())
    }

    /// Gives each floor of a form a column, equal ones the same; `own` columns are others'. `None` where numbers become too large.
    fn name_floors(&mut self, own: usize, form: &Form, end: End) -> Option<()> {
        for (at, (inner, by)) in form.floors.iter().enumerate() {
            let inner = self.numbers(inner, &form.floors[..at], end)?;
            if self.column_of(&inner, *by).is_none() {
                self.floors.push(((inner, *by), own + self.floors.len()));
            }
        }
        Some(())
    }

    fn column_of(&self, inner: &Numbers, by: i128) -> Option<usize> {
        let same = |((other, of), _): &&((Numbers, i128), usize)| *of == by && other == inner;
        self.floors.iter().find(same).map(|(_, column)| *column)
    }

    /// `None`: it is about something that is not here.
    fn numbers(&self, linear: &Linear, floors: &[(Linear, i128)], end: End) -> Option<Numbers> {
        let (first, count) = match end {
            End::From => (1 + self.params.len(), self.inputs),
            End::To => (1 + self.params.len() + self.inputs, self.outputs),
        };
        if linear.dims.len() != count {
            return None;
        }
        let mut row = vec![0; self.columns];
        row[0] = linear.constant;
        for (name, value) in &linear.params {
            row[*self.params.get(name)?] = *value;
        }
        row[first..first + count].copy_from_slice(&linear.dims);
        for (at, value) in linear.floors.iter().enumerate().filter(|(_, value)| **value != 0) {
            let (inner, by) = floors.get(at)?;
            let column = self.column_of(&self.numbers(inner, &floors[..at], end)?, *by)?;
            row[column] = row[column].checked_add(*value)?;
        }
        Some(row)
    }

    /// What it is at the sink minus what it is at the source.
    fn difference(&self, from: &Form, to: &Form) -> Option<Numbers> {
        let from = self.numbers(&from.whole, &from.floors, End::From)?;
        let to = self.numbers(&to.whole, &to.floors, End::To)?;
        to.iter().zip(&from).map(|(to, from)| to.checked_sub(*from)).collect()
    }

    /// A positive multiple of the expression, up to a sum of equalities; `None` where numbers become too large.
    fn reduced(&self, mut row: Numbers) -> Option<Numbers> {
        for (equality, pivot) in &self.equalities {
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

    fn distance(&self, (from, to): (&Form, &Form)) -> Option<Distance> {
        if let Some(distance) = self.sign(self.difference(from, to)?) {
            return Some(distance);
        }
        // Rounding keeps the order.
        let ((from, of), (to, by)) = (self.only_floor(from, End::From)?, self.only_floor(to, End::To)?);
        let difference: Option<Numbers> = to.iter().zip(&from).map(|(to, from)| to.checked_sub(*from)).collect();
        let forward = [Distance::Equal, Distance::Greater, Distance::NotLess];
        (of == by && forward.contains(&self.sign(difference?)?)).then_some(Distance::NotLess)
    }

    /// If it is one expression divided by a number and rounded down, these.
    fn only_floor(&self, form: &Form, end: End) -> Option<(Numbers, i128)> {
        let Linear { params, dims, floors, constant } = &form.whole;
        let ((inner, by), before) = form.floors.split_last()?;
        let is_one = floors.split_last().is_some_and(|(last, others)| *last == 1 && others.iter().all(|c| *c == 0));
        let is_only = is_one && params.is_empty() && *constant == 0 && dims.iter().all(|c| *c == 0);
        is_only.then(|| self.numbers(inner, before, end))?.map(|inner| (inner, *by))
    }

    /// How the expression compares with 0, if that is the same for all pairs and can be seen.
    fn sign(&self, expression: Numbers) -> Option<Distance> {
        let expression = self.reduced(expression)?;
        let (constant, others) = expression.split_first()?;
        let Some(at) = others.iter().position(|c| *c != 0) else {
            return Some(match constant.signum() {
                0 => Distance::Equal,
                1 => Distance::Greater,
                _ => Distance::Less,
            });
        };
        // Let x be the sum of the others, with o at this place. A constraint q x + c ≥ 0 has r = q o there. So |r| times the expression,
        // |r| (constant + x), is |r| · constant − |o| c at least where q > 0, and |r| · constant + |o| c at most where q < 0.
        let mut sign = None;
        for inequality in &self.inequalities {
            let (c, row) = inequality.split_first()?;
            let times = |l: i128, r: i128| l.checked_mul(r);
            // Products that do not fit prove nothing: two of them are not equal for that.
            let is_multiple = |(r, o): (&i128, &i128)| {
                let (left, right) = (times(*r, others[at]), times(*o, row[at]));
                left.is_some() && left == right
            };
            if row[at] == 0 || !row.iter().zip(others).all(is_multiple) {
                continue;
            }
            let is_bound_below = row[at].signum() == others[at].signum();
            let (r, o) = (row[at].checked_abs()?, others[at].checked_abs()?);
            let (constant, c) = (times(r, *constant)?, times(o, *c)?);
            match is_bound_below {
                true if constant > c => return Some(Distance::Greater),
                true if constant == c => sign = Some(Distance::NotLess),
                false if constant.checked_add(c)? < 0 => return Some(Distance::Less),
                _ => {}
            }
        }
        sign
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
                let found = found.distances(&pairs, &[]).unwrap();
                let Agreement { equal: seen_equal, differ, .. } = found.agreement(Precision::Exact).unwrap();
                assert!(seen_equal.is_equal(&equal).unwrap(), "{text} {s} {t}: {seen_equal} is not {equal}");
                assert_eq!(differ, !pairs.is_subset(&equal).unwrap(), "{text} {s} {t}");
                let backward = found.backward().unwrap();
                assert!(backward.is_equal(&pairs.subtract(&kept).unwrap()).unwrap(), "{text} {s} {t}: {backward}");
                let is_seen = |(_, distance): &(BasicMap, Distance)| *distance != Distance::Unknown;
                seen += found.pieces.iter().filter(|d| is_seen(d)).count();
            }
        }
        assert!(seen > 80, "hardly anything is seen at a glance: {seen}");
    }

    #[test]
    fn rows_above_tell_of_others() {
        let ctx = Ctx::new();
        let row = |text: &str| {
            let text = format!("[n] -> {{ S[i, k] -> [({text})]; T[i, k] -> [({text})] }}");
            UnionPwAff::read_from_str(&ctx, &text).unwrap()
        };
        let all: Vec<UnionPwAff> = ROWS.iter().filter(|(s, t)| s == t).map(|(s, _)| row(s)).collect();
        let (mut seen, mut in_all) = (0, 0);
        for text in PAIRS {
            let pairs = UnionMap::read_from_str(&ctx, text).unwrap();
            for above in &all {
                let together = agreement_at(&pairs, [above]).unwrap().equal;
                let above = Row::of(above).unwrap();
                for row in &all {
                    let found = Row::of(row).unwrap();
                    let alone = found.distances(&together, &[]).unwrap();
                    let found = found.distances(&together, &[&above]).unwrap();
                    let (equal, same) =
                        (found.agreement(Precision::Exact).unwrap(), alone.agreement(Precision::Exact).unwrap());
                    assert!(equal.equal.is_equal(&same.equal).unwrap(), "{text} {row}");
                    assert_eq!(equal.differ, same.differ, "{text} {row}");
                    assert!(found.backward().unwrap().is_equal(&alone.backward().unwrap()).unwrap(), "{text} {row}");
                    let more = found.agreement(Precision::OrMore).unwrap().equal;
                    assert!(equal.equal.is_subset(&more).unwrap(), "{text} {row}");
                    let is_seen = |(_, distance): &&(BasicMap, Distance)| *distance != Distance::Unknown;
                    seen += found.pieces.iter().filter(is_seen).count();
                    in_all += alone.pieces.iter().filter(is_seen).count();
                }
            }
        }
        assert!(seen > in_all, "nothing is seen that was not seen before: {seen} of {in_all}");
    }

    #[test]
    fn the_place_in_a_group_moves_as_the_counter_does() {
        let ctx = Ctx::new();
        let row = |text: &str| UnionPwAff::read_from_str(&ctx, &format!("{{ S[i] -> [({text})] }}")).unwrap();
        let pairs = UnionMap::read_from_str(&ctx, "{ S[i] -> S[i'] : i' > i }").unwrap();
        let (group, place) = (Row::of(&row("floor(i/4)")).unwrap(), Row::of(&row("i - 4*floor(i/4)")).unwrap());
        let found = place.distances(&pairs, &[&group]).unwrap();
        assert!(found.pieces.iter().all(|(_, distance)| *distance == Distance::Greater));
        let alone = place.distances(&pairs, &[]).unwrap();
        assert!(alone.pieces.iter().all(|(_, distance)| *distance == Distance::Unknown));
    }

    #[test]
    fn products_that_do_not_fit_prove_nothing() {
        let ctx = Ctx::new();
        // At p = q = 1, i moves by 10 and k by −30.
        let text = "[p, q] -> { S[i, k] -> S[i', k'] : i' = i + 9223372036854775807p - 9223372036854775797q and \
                    k' = k + 9223372036854775777p - 9223372036854775807q and i' > i }";
        let pairs = UnionMap::read_from_str(&ctx, text).unwrap();
        let row = UnionPwAff::read_from_str(&ctx, "[p, q] -> { S[i, k] -> [(2i + k)] }").unwrap();
        let all = MultiUnionPwAff::from_union_pw_aff(&row).unwrap();
        let backward = pairs.subtract(&pairs.lex_le_at_multi_union_pw_aff(&all).unwrap()).unwrap();
        assert!(!backward.is_empty().unwrap());
        let found = Row::of(&row).unwrap();
        assert!(found.distances(&pairs, &[]).unwrap().backward().unwrap().is_equal(&backward).unwrap());
    }
}
