//! Model → report: everything a person may want to know of a region, under the names of the source.
//!
//! The model speaks in ordinals (`p0`, `A2`, `i1`); here they become `n`, `C`, `j`. A name that is missing, or already taken by
//! something else, stays the ordinal.

use indexmap::IndexMap;
use isl::{IslError, Set, UnionMap};
use model::delinearize::Offset;
use model::plan::{CheckKind, Plan};
use model::refusal::Refusal;
use model::scop::{Access, AccessKind, ArrayId, ArrayKind, Recovered, Scop, Statement, StatementId};
use model::update::Combine;
use std::collections::HashSet;

/// What replaces an ordinal when it is shown.
pub struct Names {
    map: IndexMap<String, String>,
}

impl Names {
    pub fn of(scop: &Scop) -> Names {
        let mut taken: HashSet<String> = HashSet::new();
        let mut map = IndexMap::new();
        let mut give = |ordinal: String, name: &str| {
            let clean = clean(name);
            if !clean.is_empty() && !looks_like_ordinal(&clean) && taken.insert(clean.clone()) {
                map.insert(ordinal, clean);
            }
        };
        for (index, param) in scop.params.iter().enumerate() {
            give(format!("p{index}"), &param.name);
        }
        for (id, array) in &scop.arrays {
            give(id.to_string(), &array.name);
        }
        Names { map }
    }

    fn with_loops(&self, statement: &Statement) -> Names {
        let mut map = self.map.clone();
        let mut taken: HashSet<String> = map.values().cloned().collect();
        for (depth, name) in statement.loop_names.iter().enumerate() {
            let clean = clean(name);
            if !clean.is_empty() && taken.insert(clean.clone()) {
                map.insert(format!("i{depth}"), clean);
            }
        }
        Names { map }
    }

    /// Replaces every identifier that is an ordinal.
    pub fn apply(&self, text: &str) -> String {
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
            out.push_str(self.map.get(name).map_or(name, String::as_str));
            word.clear();
            if c != '\0' {
                out.push(c);
            }
        }
        out
    }

    pub fn get(&self, ordinal: &str) -> String {
        self.map.get(ordinal).cloned().unwrap_or_else(|| ordinal.to_string())
    }
}

fn clean(name: &str) -> String {
    let clean: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if clean.starts_with(|c: char| c.is_ascii_digit()) { format!("_{clean}") } else { clean }
}

fn looks_like_ordinal(name: &str) -> bool {
    let mut chars = name.chars();
    matches!(chars.next(), Some('p' | 'S' | 'A' | 'i' | 'o' | 'c'))
        && name.len() > 1
        && chars.all(|c| c.is_ascii_digit())
}

/// What became of a region, beside its model.
pub struct Outcome<'a> {
    pub dependences: Option<&'a model::dependence::Dependences>,
    pub moved: model::delicm::Counts,
    pub plan: Option<&'a Plan>,
    pub transformation: report::Transformation,
    pub check: String,
    pub check_cost: u64,
}

pub fn describe(function: &str, ordinal: usize, scop: &Scop, outcome: Outcome) -> Result<report::Scop, IslError> {
    let names = Names::of(scop);
    let line = if scop.lines.0 != 0 { scop.lines.0 as usize } else { ordinal };
    let original = scop.schedule.get_map()?;
    // Said once, for all: what is known of the parameters, and what is assumed of them.
    let given = scop.context.intersect(&scop.assumptions.valid(&scop.context, |_, _| true)?)?;
    let mut statements = Vec::new();
    for (id, statement) in &scop.statements {
        statements.push(describe_statement(*id, statement, scop, &original, &given, &names)?);
    }
    let arrays = scop.arrays.iter().map(|(id, array)| {
        let outermost = if array.kind.is_scalar() { vec![] } else { vec!["*".to_string()] };
        report::Array {
            name: names.get(&id.to_string()),
            element: array.element.clone(),
            element_bytes: array.cell_bytes,
            shape: outermost.into_iter().chain(array.inner_sizes.iter().map(|s| names.apply(&s.to_string()))).collect(),
            recovered: match array.recovered {
                Recovered::None => report::Recovered::None,
                Recovered::Constant => report::Recovered::Constant,
                Recovered::Parametric => report::Recovered::Parametric,
            },
            condition: array.condition.as_ref().map_or(report::UNIVERSE.into(), |c| names.apply(&c.to_string())),
            temporary: array.kind == ArrayKind::Temporary,
        }
    });
    let arrays = arrays.collect();
    let dependences = match outcome.dependences {
        Some(d) => report::Dependences {
            flow: names.apply(&d.flow.to_string()),
            anti: names.apply(&d.anti.to_string()),
            output: names.apply(&d.output.to_string()),
        },
        None => report::Dependences::default(),
    };
    Ok(report::Scop {
        id: format!("{function}:{line}"),
        lines: [scop.lines.0, scop.lines.1],
        parameters: scop
            .params
            .iter()
            .enumerate()
            .map(|(index, p)| report::Parameter { name: names.get(&format!("p{index}")), ty: format!("i{}", p.bits) })
            .collect(),
        context: names.apply(&scop.context.to_string()),
        arrays,
        statements,
        assumptions: assumptions(scop, &names, outcome.plan)?,
        check: names.apply(&outcome.check),
        check_terms: outcome.plan.iter().flat_map(|p| &p.check).map(|t| check_term(t, &names)).collect(),
        modelled: scop.is_modelled(),
        check_cost: outcome.check_cost,
        scalar_writes: report::BeforeAfter { before: outcome.moved.before, after: outcome.moved.after },
        delicm: report::Delicm {
            forwarded: outcome.moved.forwarded,
            reloaded: outcome.moved.reloaded,
            mapped: outcome.moved.mapped,
            expanded: outcome.moved.expanded,
        },
        dependences,
        transformation: report::Transformation {
            schedule: names.apply(&outcome.transformation.schedule),
            ..outcome.transformation
        },
    })
}

fn describe_statement(
    id: StatementId,
    statement: &Statement,
    scop: &Scop,
    original: &UnionMap,
    given: &Set,
    names: &Names,
) -> Result<report::Statement, IslError> {
    let local = names.with_loops(statement);
    let instances = isl::UnionSet::from_set(&statement.domain)?;
    let own = original.intersect_domain(&instances)?.gist_domain(&instances)?;
    let accesses = statement.accesses.iter();
    let accesses = accesses.map(|a| describe_access(a, &statement.domain, scop, &local)).collect::<Result<_, _>>()?;
    Ok(report::Statement {
        name: id.to_string(),
        line: statement.line,
        domain: local.apply(&statement.domain.gist_params(given)?.coalesce()?.to_string()),
        schedule: local.apply(&own.to_string()),
        accesses,
    })
}

fn describe_access(access: &Access, domain: &Set, scop: &Scop, names: &Names) -> Result<report::Access, IslError> {
    let array = &scop.arrays[&access.array];
    let offset = match &access.offset {
        Some(Offset::Affine(offset)) => {
            let cell = isl::Val::int_from_si(&scop.ctx, array.cell_bytes.max(1) as i64)?;
            names.apply(&expression_of(&offset.scale_down_val(&cell)?.to_string()))
        }
        Some(Offset::Polynomial(offset)) => {
            let cells = offset.pieces.iter().map(|(_, p)| p.exact_div(array.cell_bytes.max(1).into()));
            let cells: Vec<String> = cells.flatten().map(|p| names.apply(&p.to_string())).collect();
            cells.join(" or ")
        }
        None => String::new(),
    };
    Ok(report::Access {
        kind: match access.kind {
            AccessKind::Read => report::AccessKind::Read,
            AccessKind::Write => report::AccessKind::Write,
            AccessKind::MayWrite => report::AccessKind::MayWrite,
        },
        array: names.get(&access.array.to_string()),
        scalar: array.kind.is_scalar(),
        relation: names.apply(&access.relation.gist_domain(domain)?.coalesce()?.to_string()),
        offset,
        lmad: None,
        reduction: access.update.map(|update| match update.op {
            Combine::Add => report::Reduction::Add,
            Combine::Mul => report::Reduction::Mul,
            Combine::SignedMin | Combine::UnsignedMin | Combine::FloatMin | Combine::FloatMinimum => {
                report::Reduction::Min
            }
            Combine::SignedMax | Combine::UnsignedMax | Combine::FloatMax | Combine::FloatMaximum => {
                report::Reduction::Max
            }
            Combine::And => report::Reduction::And,
            Combine::Or => report::Reduction::Or,
            Combine::Xor => report::Reduction::Xor,
        }),
    })
}

/// `[n] -> { S0[i] -> [(8 + i)] : … }` → `8 + i`: the right-hand side of a function of one piece; otherwise all of it.
fn expression_of(text: &str) -> String {
    let Some((_, rest)) = text.rsplit_once("-> [") else { return text.to_string() };
    if text.contains(';') {
        return text.to_string();
    }
    let end = rest.find(']').unwrap_or(rest.len());
    let inner = rest[..end].trim();
    inner.strip_prefix('(').and_then(|s| s.strip_suffix(')')).unwrap_or(inner).to_string()
}

fn assumptions(scop: &Scop, names: &Names, plan: Option<&Plan>) -> Result<Vec<report::Assumption>, IslError> {
    let mut all = Vec::new();
    let mut known = scop.context.clone();
    for a in scop.assumptions.iter() {
        // That memory is not written is tested by comparing addresses, whatever the parameters are.
        let implied = a.kind != report::AssumptionKind::RT && known.is_subset(&a.valid)?;
        known = known.intersect(&a.valid)?;
        all.push(report::Assumption {
            kind: a.kind,
            because: a.because.clone(),
            line: a.line,
            valid: names.apply(&a.valid.to_string()),
            arrays: Vec::new(),
            implied,
        });
    }
    let name = |id: ArrayId| names.get(&id.to_string());
    for &(first, second) in scop.may_alias.iter().filter(|_| plan.is_some()) {
        let (a, b) = (name(first), name(second));
        all.push(report::Assumption {
            kind: report::AssumptionKind::AA,
            because: format!("the compiler cannot tell {a} and {b} apart, and one of them is written"),
            line: scop.lines.0,
            valid: report::UNIVERSE.into(),
            arrays: vec![a, b],
            implied: false,
        });
    }
    for (&id, array) in scop.arrays.iter().filter(|_| plan.is_some()) {
        let Some(wraps) = &array.may_wrap else { continue };
        let accesses = scop.statements.values().flat_map(|s| &s.accesses);
        let line = accesses.filter(|a| a.array == id && a.line != 0).map(|a| a.line).min();
        let a = name(id);
        all.push(report::Assumption {
            kind: report::AssumptionKind::EE,
            because: match wraps.window {
                Some(_) => format!("the arithmetic of the subscripts of {a} must not wrap around"),
                None => format!("the bytes of {a} must be few enough to be counted in 64 bits"),
            },
            line: line.unwrap_or(scop.lines.0),
            valid: report::UNIVERSE.into(),
            arrays: vec![a],
            implied: false,
        });
    }
    Ok(all)
}

fn check_term(term: &model::plan::CheckTerm, names: &Names) -> report::CheckTerm {
    report::CheckTerm {
        kind: match term.kind {
            CheckKind::Assumed(kind) => report::CheckKind::Assumed(kind),
            CheckKind::Work => report::CheckKind::Work,
            CheckKind::Fits => report::CheckKind::Fits,
            CheckKind::Memory => report::CheckKind::Memory,
        },
        text: names.apply(&term.text),
    }
}

pub fn describe_refusal(refusal: &Refusal) -> report::Refusal {
    report::Refusal {
        kind: refusal.kind.name().into(),
        line: refusal.line,
        message: refusal.message(),
        advice: refusal.advice().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_replaced_whole() {
        let names = Names { map: IndexMap::from([("p1".into(), "n".into()), ("A0".into(), "C".into())]) };
        assert_eq!(names.apply("[p1, p10] -> { S0[i0] -> A0[p1 + i0] }"), "[n, p10] -> { S0[i0] -> C[n + i0] }");
    }

    #[test]
    fn an_offset_is_shown_without_its_domain() {
        assert_eq!(expression_of("[n] -> { S0[i, j] -> [(1200i + j)] }"), "1200i + j");
    }
}
