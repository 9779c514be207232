//! Model → report: everything a person may want to know of a region, under the names of the source.

use crate::contain::contained;
use crate::decide::{Chosen, Considered, ConsideredRegion};
use isl::{IslError, Set, UnionMap};
use llvm::facts::FunctionFacts;
use model::assume::{Assumption, AssumptionKind};
use model::delinearize::Offset;
use model::lmad::{Lmad, Mark};
use model::names::Names;
use model::plan::{CheckKind, CheckTerm, Plan, Test};
use model::polynomial::{Symbol, Var};
use model::refusal::{Refusal, RefusalKind};
use model::scop::{Access, AccessKind, ArrayId, ArrayKind, ParamId, Recovered, Scop, Statement, StatementId};
use model::source::Line;
use model::update::Combine;

pub fn describe_function(facts: &FunctionFacts, considered: &Considered) -> report::Function {
    let mut scops = Vec::new();
    let mut refusals = considered.refusals.clone();
    for (ordinal, region) in considered.regions.iter().enumerate() {
        refusals.extend(region.refusal().cloned());
        match describe(facts, ordinal, region) {
            Ok(scop) => scops.push(scop),
            Err(error) => refusals.push(llvm::read::refusal_of_isl(&error, region.region.scop.lines.0)),
        }
    }
    // What stands in the way comes before what was found in what was left.
    let is_left = |kind| matches!(kind, RefusalKind::NoProfit | RefusalKind::TooSmall);
    refusals.sort_by_key(|r| (is_left(r.kind), r.line));
    let refusals = refusals.iter().map(|refusal| describe_refusal(refusal, &facts.files)).collect();
    report::Function { name: facts.name.clone(), source_name: facts.source_name.clone(), scops, refusals }
}

fn describe(facts: &FunctionFacts, ordinal: usize, considered: &ConsideredRegion) -> Result<report::Scop, IslError> {
    let ConsideredRegion { region, findings, verdict } = considered;
    let scop = &region.scop;
    let plan = verdict.as_ref().ok().map(|chosen| &chosen.plan);
    let names = Names::of(scop);
    let (first, last) = scop.lines;
    let line = if first.is_known() { first.number as usize } else { ordinal };
    let original = scop.schedule.get_map()?;
    // Said once, for all: what is known of the parameters, and what is assumed of them.
    let valid = scop.assumptions.valid(&scop.context, |_, _| true)?;
    let given = scop.context.intersect(&valid)?;
    // Where this fails, descriptors do without the shapes.
    let shaped = contained(|| scop.given()).ok().and_then(Result::ok);
    let mut statements = Vec::new();
    for (id, statement) in &scop.statements {
        statements.push(describe_statement(
            *id,
            statement,
            scop,
            &original,
            [&given, shaped.as_ref().unwrap_or(&given)],
            &names,
        )?);
    }
    let arrays = scop.arrays.iter().map(|(id, array)| {
        let unknown = if array.kind.is_scalar() { 0 } else { 1 + usize::from(array.rows.is_some()) };
        let outermost = vec!["*".to_string(); unknown];
        report::Array {
            name: names.array(*id).into(),
            element: array.element.clone(),
            element_bytes: array.cell_bytes,
            shape: outermost.into_iter().chain(array.inner_sizes.iter().map(|s| names.isl(s))).collect(),
            recovered: match array.recovered {
                Recovered::None => report::Recovered::None,
                Recovered::Constant => report::Recovered::Constant,
                Recovered::Parametric => report::Recovered::Parametric,
            },
            condition: array.condition.as_ref().map_or(report::UNIVERSE.into(), |c| names.isl(c)),
            requires: array.condition.as_ref().map_or(String::new(), |c| names.constraints(c)),
            temporary: array.kind == ArrayKind::Temporary,
        }
    });
    let arrays = arrays.collect();
    let dependences = match &findings.dependences {
        Some(d) => {
            report::Dependences { flow: names.isl(&d.flow), anti: names.isl(&d.anti), output: names.isl(&d.output) }
        }
        None => report::Dependences::default(),
    };
    Ok(report::Scop {
        id: format!("{}:{line}", facts.name),
        file: file_of(first, &facts.files),
        lines: [first.number, last.number],
        parameters: (0..)
            .zip(&scop.params)
            .map(|(k, p)| report::Parameter { name: names.param(ParamId(k)).into(), ty: format!("i{}", p.bits) })
            .collect(),
        context: names.isl(&scop.context),
        arrays,
        statements,
        assumptions: assumptions(scop, &names, plan)?,
        check: match plan {
            Some(_) if !valid.plain_is_universe()? => names.isl(&valid),
            _ => report::UNIVERSE.into(),
        },
        check_terms: plan.map_or(Vec::new(), |plan| check_terms(plan, scop, &names)),
        modelled: scop.is_modelled(),
        check_cost: plan.map_or(0, |plan| plan.check_cost() as u64),
        scalar_writes: report::BeforeAfter { before: findings.moved.before, after: findings.moved.after },
        delicm: report::Delicm {
            forwarded: findings.moved.forwarded,
            reloaded: findings.moved.reloaded,
            mapped: findings.moved.mapped,
            expanded: findings.moved.expanded,
        },
        dependences,
        transformation: match verdict {
            Ok(chosen) => describe_transformation(chosen, scop, &names),
            Err(_) => report::Transformation::none(),
        },
    })
}

fn describe_transformation(chosen: &Chosen, scop: &Scop, names: &Names) -> report::Transformation {
    let Chosen { order, plan, .. } = chosen;
    report::Transformation {
        by: report::By::Auto,
        schedule: names.isl(&order.tree().schedule),
        steps: order.history(names),
        ast: plan.body.text(scop),
        tiled: order.is_tiled(),
        parallel: order.is_for_threads(),
        vectorized: order.is_for_vectors(),
        ..report::Transformation::none()
    }
}

fn describe_statement(
    id: StatementId,
    statement: &Statement,
    scop: &Scop,
    original: &UnionMap,
    [given, shaped]: [&Set; 2],
    names: &Names,
) -> Result<report::Statement, IslError> {
    let local = names.inside(statement);
    let instances = isl::UnionSet::from_set(&statement.domain)?;
    let own = original.intersect_domain(&instances)?.gist_domain(&instances)?;
    let accesses = statement.accesses.iter();
    let accesses = accesses.map(|a| describe_access(a, statement, scop, shaped, &local)).collect::<Result<_, _>>()?;
    Ok(report::Statement {
        name: id.to_string(),
        line: in_file_of(scop, statement.line),
        domain: local.isl(&statement.domain.gist_params(given)?.coalesce()?),
        schedule: local.isl(&own),
        accesses,
    })
}

fn describe_access(
    access: &Access,
    statement: &Statement,
    scop: &Scop,
    given: &Set,
    names: &Names,
) -> Result<report::Access, IslError> {
    let array = &scop.arrays[&access.array];
    let offset = match &access.offset {
        Some(Offset::Affine(offset)) => {
            let cell = isl::Val::int_from_si(&scop.ctx, array.cell_bytes.max(1) as i64)?;
            names.value(&offset.scale_down_val(&cell)?)
        }
        Some(Offset::Polynomial(offset)) => {
            let cells = offset.pieces.iter().map(|(_, p)| p.exact_div(array.cell_bytes.max(1).into()));
            let cells: Vec<String> = cells.flatten().map(|p| names.isl(&p)).collect();
            cells.join(" or ")
        }
        None => String::new(),
    };
    let relation = access.relation.gist_domain(&statement.domain)?.coalesce()?;
    Ok(report::Access {
        kind: match access.kind {
            AccessKind::Read => report::AccessKind::Read,
            AccessKind::Write => report::AccessKind::Write,
            AccessKind::MayWrite => report::AccessKind::MayWrite,
        },
        array: names.array(access.array).into(),
        scalar: array.kind.is_scalar(),
        relation: names.isl(&relation),
        subscripts: names.subscripts(&relation)?,
        offset,
        lmad: describe_lmad(access, statement, scop, given, names),
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

/// Descriptors of more letters than this are not worth reading.
const MAX_LMAD: usize = 400;

/// Whatever goes wrong, there is none, and the rest of the report stays.
fn describe_lmad(
    access: &Access,
    statement: &Statement,
    scop: &Scop,
    given: &Set,
    names: &Names,
) -> Option<report::Lmad> {
    let array = &scop.arrays[&access.array];
    if array.kind.is_scalar() {
        return None;
    }
    let lmad = contained(|| Lmad::of_access(statement, access, given)).ok()?.ok()??;
    let name = |symbol: Symbol| names.in_isl_text(&symbol.to_string());
    let shown = lmad.shown(array.cell_bytes.into(), &name)?;
    let dims = shown.dims.into_iter().map(|d| report::LmadDim { stride: d.stride, span: d.span, index: d.index });
    let mark = match shown.mark {
        Mark::Exact => report::Mark::Exact,
        Mark::Over => report::Mark::Over,
        Mark::Under => report::Mark::Under,
    };
    let lmad = report::Lmad { base: shown.base, dims: dims.collect(), mark };
    Some(lmad).filter(|lmad| lmad.text("").len() <= MAX_LMAD)
}

fn assumptions(scop: &Scop, names: &Names, plan: Option<&Plan>) -> Result<Vec<report::Assumption>, IslError> {
    let mut all = Vec::new();
    let mut known = scop.context.clone();
    for a in scop.assumptions.iter() {
        // That memory is not written is tested by comparing addresses, whatever the parameters are, and isl knows nothing of bounds.
        let implied = a.kind != AssumptionKind::RT && a.bounds.is_empty() && known.is_subset(&a.valid)?;
        known = known.intersect(&a.valid)?;
        all.push(report::Assumption {
            kind: a.kind,
            because: a.because.clone(),
            line: in_file_of(scop, a.line),
            valid: names.isl(&a.valid),
            requires: required(a, names),
            arrays: Vec::new(),
            implied,
        });
    }
    let name = |id: ArrayId| names.array(id).to_string();
    let has_rows = |id: ArrayId| scop.arrays[&id].rows.is_some();
    for &(first, second) in scop.may_alias.iter().filter(|_| plan.is_some()) {
        if has_rows(first) || has_rows(second) {
            continue;
        }
        let (a, b) = (name(first), name(second));
        all.push(report::Assumption {
            kind: AssumptionKind::AA,
            because: format!("the compiler cannot tell {a} and {b} apart, and one of them is written"),
            line: scop.lines.0.number,
            valid: report::UNIVERSE.into(),
            requires: String::new(),
            arrays: vec![a, b],
            implied: false,
        });
    }
    let tested = plan.into_iter().flat_map(|plan| &plan.check).filter_map(|term| match &term.test {
        Test::Rows(rows) => Some(rows),
        _ => None,
    });
    for rows in tested {
        let arrays = rows.rows.iter().map(|r| name(r.array)).chain(rows.others.iter().map(|o| name(o.extent.array)));
        let with_rows: Vec<String> = rows.rows.iter().map(|r| name(r.array)).collect();
        all.push(report::Assumption {
            kind: AssumptionKind::RP,
            because: format!(
                "the rows of {} are reached through pointers: what is written of them is no part of another row or array, and no \
                 pointer",
                with_rows.join(", ")
            ),
            line: scop.lines.0.number,
            valid: report::UNIVERSE.into(),
            requires: String::new(),
            arrays: arrays.collect(),
            implied: false,
        });
    }
    for (&id, array) in scop.arrays.iter().filter(|_| plan.is_some()) {
        let Some(wraps) = &array.may_wrap else { continue };
        let accesses = scop.statements.values().flat_map(|s| &s.accesses);
        let lines = accesses.filter(|a| a.array == id && a.line.is_known()).map(|a| a.line);
        let line = lines.filter(|line| line.file == scop.lines.0.file).min();
        let a = name(id);
        all.push(report::Assumption {
            kind: AssumptionKind::EE,
            because: match wraps.framed.is_empty() {
                false => format!("the arithmetic of the subscripts of {a} must not wrap around"),
                true => format!("the bytes of {a} must be few enough to be counted in 64 bits"),
            },
            line: line.unwrap_or(scop.lines.0).number,
            valid: report::UNIVERSE.into(),
            requires: String::new(),
            arrays: vec![a],
            implied: false,
        });
    }
    Ok(all)
}

/// `n <= 9`, and `0 <= m - n*i - j` with counters that count from 0.
fn required(assumption: &Assumption, names: &Names) -> String {
    let bounds = assumption.bounds.iter().map(|bound| {
        let name = |var: Var| match var {
            Var::Param(id) => names.param_in_source(id).to_string(),
            Var::Counter(d) => match bound.counters.get(d as usize) {
                Some(name) if !name.is_empty() => name.clone(),
                _ => var.to_string(),
            },
        };
        format!("0 <= {}", bound.polynomial.show(&name))
    });
    let set = Some(names.constraints(&assumption.valid)).filter(|set| !set.is_empty());
    let all: Vec<String> = set.into_iter().chain(bounds).collect();
    all.join(" and ")
}

fn check_terms(plan: &Plan, scop: &Scop, names: &Names) -> Vec<report::CheckTerm> {
    let kind = |kind: &CheckKind| match kind {
        CheckKind::Assumed(kind) => report::CheckKind::Assumed(*kind),
        CheckKind::Bytes { .. } => report::CheckKind::Assumed(AssumptionKind::EE),
        CheckKind::Work => report::CheckKind::Work,
        CheckKind::Fits { .. } => report::CheckKind::Fits,
        CheckKind::Memory => report::CheckKind::Memory,
    };
    let term = |term: &CheckTerm| report::CheckTerm { kind: kind(&term.kind), text: plan.text_of(term, scop, names) };
    plan.check.iter().map(term).collect()
}

/// The line's number, if it is in the file in which the region begins.
fn in_file_of(scop: &Scop, line: Line) -> u32 {
    if line.file == scop.lines.0.file { line.number } else { 0 }
}

fn file_of(line: Line, files: &[String]) -> String {
    files.get(line.file.0 as usize).filter(|_| line.is_known()).cloned().unwrap_or_default()
}

pub fn describe_refusal(refusal: &Refusal, files: &[String]) -> report::Refusal {
    report::Refusal {
        kind: refusal.kind.name().into(),
        file: file_of(refusal.line, files),
        line: refusal.line.number,
        message: refusal.message(),
        advice: refusal.advice().into(),
    }
}
