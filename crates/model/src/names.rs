//! The names of the source, applied once, where something is shown to a person.
//!
//! The model speaks in ordinals (`p0`, `A2`, `i1`); here they become `n`, `C`, `j`. What has no name, or shares it with something
//! else, keeps its ordinal; if that is the name of something else in the source, an underscore follows.

use crate::loop_ast::{self, Expr};
use crate::polynomial::{Polynomial, Var};
use crate::scop::{ArrayId, ParamId, Scop, Statement};
use indexmap::IndexMap;
use isl::{Aff, DimType, IslError, Map, PwAff, Schedule, Set, UnionMap};
use std::collections::HashSet;
use std::fmt;

pub struct Names(IndexMap<String, Name>);

#[derive(Clone)]
struct Name {
    /// In isl's notation: letters, digits and underscores.
    identifier: String,
    /// In sentences and in C-like text: `m->rows`.
    source: String,
}

/// What is printed in isl's notation, with ordinals for names. Text is not: it may contain names of the source that look like ordinals.
pub trait InOrdinals: fmt::Display {}
impl InOrdinals for Aff {}
impl InOrdinals for Map {}
impl InOrdinals for Polynomial {}
impl InOrdinals for PwAff {}
impl InOrdinals for Schedule {}
impl InOrdinals for Set {}
impl InOrdinals for UnionMap {}

impl Names {
    pub fn of(scop: &Scop) -> Names {
        let params = scop.params.iter().enumerate().map(|(k, param)| {
            // In isl's notation, and in new loops, a parameter of such a name could be taken for a counter.
            let name = if is_numbered(&param.name, "ioec") { "" } else { param.name.as_str() };
            (ParamId(k as u32).to_string(), name)
        });
        let arrays = scop.arrays.iter().map(|(id, array)| (id.to_string(), array.name.as_str()));
        let mut names = Names(IndexMap::new());
        names.give(params.chain(arrays));
        names
    }

    /// With the counters of the loops around a statement.
    pub fn inside(&self, statement: &Statement) -> Names {
        let counters = statement
            .loop_names
            .iter()
            .enumerate()
            .map(|(depth, name)| (format!("i{depth}"), if is_numbered(name, "oe") { "" } else { name.as_str() }));
        let mut names = Names(self.0.clone());
        names.give(counters);
        names
    }

    /// Names first, so that none is lost to a name that is made up.
    fn give<'n>(&mut self, wishes: impl Iterator<Item = (String, &'n str)>) {
        let mut taken: HashSet<String> = self.0.values().map(|name| name.identifier.clone()).collect();
        let mut nameless = Vec::new();
        for (ordinal, source) in wishes {
            let identifier = identifier(source);
            if identifier.is_empty() || !taken.insert(identifier.clone()) {
                nameless.push(ordinal);
            } else {
                self.0.insert(ordinal, Name { identifier, source: source.into() });
            }
        }
        for ordinal in nameless {
            let mut identifier = ordinal.clone();
            while !taken.insert(identifier.clone()) {
                identifier.push('_');
            }
            self.0.insert(ordinal, Name { source: identifier.clone(), identifier });
        }
    }

    pub fn array(&self, id: ArrayId) -> &str {
        &self.0[&id.to_string()].identifier
    }

    pub fn param(&self, id: ParamId) -> &str {
        &self.0[&id.to_string()].identifier
    }

    /// In C-like text; memory of our own has no name.
    pub fn array_in_code(&self, id: ArrayId) -> String {
        self.0.get(&id.to_string()).map_or_else(|| id.to_string(), |name| name.source.clone())
    }

    /// As the source calls it, in a sentence.
    pub fn array_in_source(&self, id: ArrayId) -> &str {
        &self.0[&id.to_string()].source
    }

    pub fn param_in_source(&self, id: ParamId) -> &str {
        &self.0[&id.to_string()].source
    }

    /// C-like text.
    pub fn expr(&self, expr: &Expr) -> String {
        let param = |p: ParamId| self.param_in_source(p).to_string();
        expr.text_with(&loop_ast::Spelling { param: &param, statement: &|s| s.to_string(), array: &|a| a.to_string() })
    }

    pub fn isl(&self, object: &impl InOrdinals) -> String {
        self.in_isl_text(&object.to_string())
    }

    /// Requires: isl printed the text.
    pub fn in_isl_text(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut word = String::new();
        for c in text.chars().chain(['\0']) {
            if c.is_ascii_alphanumeric() || c == '_' || c == '\'' {
                word.push(c);
                continue;
            }
            // isl writes a factor before a name without a space: `2p1`.
            let (factor, name) = word.split_at(word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len()));
            out.push_str(factor);
            out.push_str(self.0.get(name).map_or(name, |name| &name.identifier));
            word.clear();
            if c != '\0' {
                out.push(c);
            }
        }
        out
    }

    /// What a set of parameters demands: `n <= 9` for `[n] -> {  : n <= 9 }`, nothing for the universe. isl prints sets and functions
    /// with their spaces only, so these are taken off its text.
    pub fn constraints(&self, set: &Set) -> String {
        let text = self.isl(set);
        let inside = text.split_once('{').and_then(|(_, rest)| rest.rsplit_once('}')).map_or("", |(inside, _)| inside);
        inside.trim().trim_start_matches(':').trim().to_string()
    }

    /// `8 + i` for `[n] -> { S0[i] -> [(8 + i)] : … }`, the value of a function of one piece; otherwise all of it.
    pub fn value(&self, function: &impl InOrdinals) -> String {
        let text = self.isl(function);
        let Some((_, rest)) = text.rsplit_once("-> [").filter(|_| !text.contains(';')) else { return text };
        let inside = rest[..rest.find(']').unwrap_or(rest.len())].trim();
        inside.strip_prefix('(').and_then(|s| s.strip_suffix(')')).unwrap_or(inside).to_string()
    }

    /// `i-1` and `2*j` for `{ S0[i, j] -> A[-1 + i, 2j] : … }`, and `…` for one of several that runs through a range; nothing where there is
    /// none that is one function.
    pub fn subscripts(&self, relation: &Map) -> Result<Option<Vec<String>>, IslError> {
        if !relation.is_single_valued()? {
            let count = relation.dim(DimType::Out)?;
            let mut some = false;
            let mut subscripts = Vec::new();
            for k in 0..count {
                let behind = relation.project_out(DimType::Out, k + 1, count - k - 1)?;
                let alone = behind.project_out(DimType::Out, 0, k)?;
                let function = if alone.is_single_valued()? { self.functions(&alone)? } else { None };
                some |= function.is_some();
                subscripts.push(function.map_or_else(|| "…".to_string(), |mut one| one.remove(0)));
            }
            return Ok(some.then_some(subscripts));
        }
        self.functions(relation)
    }

    fn functions(&self, relation: &Map) -> Result<Option<Vec<String>>, IslError> {
        let pieces = relation.as_pw_multi_aff()?.pieces()?;
        let [(_, tuple)] = pieces.as_slice() else { return Ok(None) };
        let subscript = |aff: &Aff| {
            let sum = Polynomial::from_aff(aff)?;
            Ok(sum.map_or_else(|| self.value(aff), |sum| self.sum(&sum)))
        };
        tuple.list()?.iter().map(subscript).collect::<Result<_, _>>().map(Some)
    }

    /// As a person writes it, `2*i-1`: what is added, what is subtracted, the constant.
    fn sum(&self, sum: &Polynomial) -> String {
        let mut terms: Vec<(i128, Option<Var>)> =
            sum.terms().map(|(product, c)| (c, product.factors().first().map(|(var, _)| *var))).collect();
        terms.sort_by_key(|(c, var)| (var.is_none(), *c < 0, var.is_some_and(|v| !v.is_param()), *var));
        let mut text = String::new();
        for (c, var) in terms {
            text += if c < 0 {
                "-"
            } else if text.is_empty() {
                ""
            } else {
                "+"
            };
            match var.map(|var| self.in_isl_text(&var.to_string())) {
                Some(name) if c.abs() == 1 => text += &name,
                Some(name) => text += &format!("{}*{name}", c.abs()),
                None => text += &c.abs().to_string(),
            }
        }
        if text.is_empty() { "0".into() } else { text }
    }
}

fn identifier(name: &str) -> String {
    let clean: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if clean.starts_with(|c: char| c.is_ascii_digit()) { format!("_{clean}") } else { clean }
}

/// One of these letters, and a number.
fn is_numbered(name: &str, letters: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| letters.contains(c)) && name.len() > 1 && chars.all(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::test_scop;
    use expect_test::{Expect, expect};

    /// Arrays A0, A1, A2 and parameters p0, p1 under these names.
    fn named(params: [&str; 2], arrays: [&str; 3]) -> (Scop, Names) {
        let mut scop = test_scop(
            "for i : 0 <= i < p0
               for j : 0 <= j < p1
                 read A0[i, j - 1]; read A1[2i + p0]; write A2[i]",
        );
        scop.params.iter_mut().zip(params).for_each(|(param, name)| param.name = name.into());
        scop.arrays.values_mut().zip(arrays).for_each(|(array, name)| array.name = name.into());
        let names = Names::of(&scop);
        (scop, names)
    }

    fn check(params: [&str; 2], arrays: [&str; 3], expected: Expect) {
        let (scop, names) = named(params, arrays);
        let statement = &scop.statements[0];
        let inside = names.inside(statement);
        let mut shown = format!("{}\n", names.isl(&statement.domain));
        for access in &statement.accesses {
            shown += &format!("{}\n", inside.isl(&access.relation.gist_domain(&statement.domain).unwrap()));
        }
        expected.assert_eq(&shown);
    }

    #[test]
    fn ordinals_are_replaced_whole_and_once() {
        check(
            ["n", "p0"],
            ["A1", "A0", "S0"],
            expect![[r#"
            [n, p0] -> { S0[i, j] : n <= 2147483647 and p0 <= 2147483647 and 0 <= i < n and 0 <= j < p0 }
            [n, p0] -> { S0[i, j] -> A1[i, -1 + j] }
            [n, p0] -> { S0[i, j] -> A0[n + 2i] }
            [n, p0] -> { S0[i, j] -> S0[i] }
        "#]],
        );
    }

    #[test]
    fn what_has_no_name_of_its_own_gets_one_that_is_free() {
        check(
            ["i0", "p0"],
            ["p0", "A2", ""],
            expect![[r#"
            [p0_, p0] -> { S0[i, j] : p0_ <= 2147483647 and p0 <= 2147483647 and 0 <= i < p0_ and 0 <= j < p0 }
            [p0_, p0] -> { S0[i, j] -> A0[i, -1 + j] }
            [p0_, p0] -> { S0[i, j] -> A2[p0_ + 2i] }
            [p0_, p0] -> { S0[i, j] -> A2_[i] }
        "#]],
        );
    }

    #[test]
    fn sentences_have_the_spelling_of_the_source() {
        let (scop, names) = named(["m->rows", "m.rows"], ["A", "B", "C"]);
        assert_eq!((names.param(ParamId(0)), names.param_in_source(ParamId(0))), ("m__rows", "m->rows"));
        assert_eq!((names.param(ParamId(1)), names.param_in_source(ParamId(1))), ("m_rows", "m.rows"));
        let set = |text: &str| Set::read_from_str(&scop.ctx, text).unwrap();
        assert_eq!(
            names.constraints(&set("[p0, p1] -> { : p0 <= 9 and p1 > p0 }")),
            "m__rows <= 9 and m_rows > m__rows"
        );
        assert_eq!(names.constraints(&set("[p0, p1] -> { : }")), "");
    }

    #[test]
    fn a_subscript_that_runs_through_a_range_is_three_dots() {
        let ctx = isl::Ctx::new();
        let names = Names(IndexMap::new());
        let subscripts = |text: &str| names.subscripts(&Map::read_from_str(&ctx, text).unwrap()).unwrap();
        let row = subscripts("[p0] -> { S0[i0] -> A0[1 + i0, k] : 0 <= k < p0 }");
        assert_eq!(row, Some(vec!["i0+1".to_string(), "…".to_string()]));
        assert_eq!(subscripts("[p0] -> { S0[i0] -> A0[k] : 0 <= k < p0 }"), None);
    }

    #[test]
    fn subscripts_read_like_source() {
        let (scop, names) = named(["n", "m"], ["A", "B", "C"]);
        let inside = names.inside(&scop.statements[0]);
        let cases = [
            ("{ S0[i0, i1] -> A0[i0, i1] }", "[i][j]"),
            ("[p0] -> { S0[i0, i1] -> A0[-1 + i0, p0 - 2i1] : 0 <= i0 < p0 }", "[i-1][n-2*j]"),
            ("[p0] -> { S0[i0, i1] -> A0[1 + 2i0 - i1 + p0, 0] }", "[n+2*i-j+1][0]"),
            ("{ S0[i0, i1] -> A0[o0] : 0 <= o0 <= i0 }", "nothing"),
            ("{ S0[i0, i1] -> A0[i0] : i0 >= 2; S0[i0, i1] -> A0[0] : i0 < 2 }", "nothing"),
            ("{ S0[i0, i1] -> A0[] }", ""),
            ("{ S0[i0, i1] -> A0[floor((i0)/2)] }", "[floor((i)/2)]"),
        ];
        for (relation, expected) in cases {
            let relation = Map::read_from_str(&scop.ctx, relation).unwrap();
            let subscripts = inside.subscripts(&relation).unwrap();
            let shown = subscripts.map(|all| all.iter().map(|s| format!("[{s}]")).collect::<String>());
            assert_eq!(shown.unwrap_or("nothing".into()), expected, "{relation}");
        }
    }
}
