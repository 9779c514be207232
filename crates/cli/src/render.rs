//! A report as a person would write it.

use report::{Access, AccessKind, Array, By, Function, Lmad, Mark, Recovered, Report, Scop};
use std::collections::HashSet;
use std::fmt::Write;

/// The whole report; `file` is how the user called the input.
pub fn render(report: &Report, file: &str) -> String {
    let mut out = String::new();
    let functions: Vec<&Function> =
        report.functions.iter().filter(|f| !f.scops.is_empty() || !f.refusals.is_empty()).collect();
    if functions.is_empty() {
        let _ = writeln!(out, "{file}: no loops");
        return out;
    }
    for function in &functions {
        for scop in &function.scops {
            render_scop(&mut out, scop, &function.source_name, file);
        }
        render_refusals(&mut out, function, file);
    }
    let scops = || functions.iter().flat_map(|f| &f.scops);
    let done = scops().filter(|s| s.transformation.by != By::None).count();
    let refusals: usize = functions.iter().map(|f| f.refusals.len()).sum();
    let _ = writeln!(
        out,
        "{}: {} transformed, {} left alone",
        counted(scops().count(), "region modelled", "regions modelled"),
        done,
        counted(refusals, "loop", "loops")
    );
    if !report.assumed.is_empty() {
        let kinds = report.assumed.iter().map(|a| match a.taken - a.not_implied {
            0 => format!("{} {:?}", a.taken, a.kind),
            implied => format!("{} {:?} ({implied} of them implied)", a.taken, a.kind),
        });
        let _ = writeln!(out, "assumed: {}", kinds.collect::<Vec<_>>().join(", "));
    }
    let mut lines = scops().map(|s| s.lines[0]).chain(functions.iter().flat_map(|f| &f.refusals).map(|r| r.line));
    if lines.all(|line| line == 0) {
        let _ = writeln!(out, "no line is known: compile with -g");
    }
    out
}

fn render_scop(out: &mut String, scop: &Scop, function: &str, file: &str) {
    let file = file_of(&scop.file, file);
    let place = match scop.lines {
        [0, _] => format!("{file}: {function}"),
        [first, last] if first == last || last == 0 => format!("{file}:{first}: {function}"),
        [first, last] => format!("{file}:{first}-{last}: {function}"),
    };
    let _ = writeln!(out, "{place}: {}", verdict(scop));
    render_arrays(out, scop);
    if !scop.assumptions.is_empty() {
        heading(out, "assumed");
        for assumption in &scop.assumptions {
            let line = if assumption.line == 0 { String::new() } else { format!("line {}: ", assumption.line) };
            let requires = match assumption.requires.as_str() {
                "" => String::new(),
                some => format!(" ({some})"),
            };
            let _ = writeln!(out, "    {line}{}{requires}", assumption.because);
        }
    }
    let new = &scop.transformation;
    if new.by != By::None {
        render_check(out, scop);
    }
    if new.by != By::None && !new.ast.trim().is_empty() {
        heading(out, "new loops");
        for line in new.ast.trim_end().lines() {
            let _ = writeln!(out, "{}", format!("    {line}").trim_end());
        }
        if let Some(test) = &new.overlap_test {
            let _ = writeln!(out, "    the new order also holds if arrays overlap, as long as {test}");
        }
        for deviation in &new.deviation {
            let _ = writeln!(
                out,
                "    corrected: dimension {} of {} was shifted by {}",
                deviation.dimension, deviation.statement, deviation.by
            );
        }
    }
    out.push('\n');
}

fn verdict(scop: &Scop) -> String {
    let modelled = if scop.modelled { "modelled" } else { "modelled in part" };
    let new = &scop.transformation;
    if new.by == By::None {
        return format!("{modelled}, order kept");
    }
    let mut how: Vec<String> = Vec::new();
    if let Some(pattern) = &new.pattern {
        how.push(format!("as {pattern}"));
    }
    for (is, word) in [(new.tiled, "tiled"), (new.parallel, "parallel"), (new.vectorized, "vectorized")] {
        if is {
            how.push(word.to_string());
        }
    }
    let by = if new.by == By::Script { " by script" } else { "" };
    let how = if how.is_empty() { String::new() } else { format!(" ({})", how.join(", ")) };
    format!("{modelled}, transformed{by}{how}")
}

fn render_arrays(out: &mut String, scop: &Scop) {
    let memory: Vec<(&Array, Vec<&Access>)> = scop
        .arrays
        .iter()
        .map(|array| {
            (array, scop.statements.iter().flat_map(|s| &s.accesses).filter(|a| a.array == array.name).collect())
        })
        .filter(|(_, accesses): &(&Array, Vec<&Access>)| accesses.iter().all(|a| !a.scalar))
        .collect();
    if memory.is_empty() {
        return;
    }
    heading(out, "arrays");
    for (array, accesses) in memory {
        let shape: String = match array.shape.as_slice() {
            [] => "[]".to_string(),
            shape => shape.iter().map(|s| if s == "*" { "[]".to_string() } else { format!("[{s}]") }).collect(),
        };
        let recovered = match array.recovered {
            Recovered::Declared => "as declared",
            Recovered::Constant => "sizes recovered from constant strides",
            Recovered::Parametric => "sizes recovered from strides in the parameters",
            Recovered::None if array.temporary => "memory of the new loops' own, for a value that is in no array",
            Recovered::None if array.shape.len() > 1 => "rows behind pointers",
            Recovered::None => "one-dimensional",
        };
        let mut shown: Vec<String> = Vec::new();
        let mut touched: Vec<String> = Vec::new();
        for access in accesses {
            touched.extend(access.lmad.as_ref().map(|lmad| descriptor(lmad, &array.name)));
            let text = element(access);
            let text = match access.kind {
                AccessKind::Read => text,
                AccessKind::Write => format!("{text} ="),
                AccessKind::MayWrite => format!("{text} = (perhaps)"),
            };
            if !shown.contains(&text) {
                shown.push(text);
            }
        }
        let _ = writeln!(out, "    {} {}{shape}: {}", array.element, array.name, shown.join(", "));
        if array.shape.len() > 1 {
            let provided = match array.requires.as_str() {
                "" => String::new(),
                some => format!(", provided that {some}"),
            };
            let _ = writeln!(out, "        {recovered}{provided}");
        }
        if !touched.is_empty() {
            let mut seen = HashSet::new();
            touched.retain(|text| seen.insert(text.clone()));
            let _ = writeln!(out, "        touched: {}", touched.join(", "));
        }
    }
}

fn render_check(out: &mut String, scop: &Scop) {
    if scop.check_terms.is_empty() {
        heading(out, "checked at run time: nothing, all of it is proved");
        return;
    }
    heading(
        out,
        &format!("checked at run time, in at most {}", counted(scop.check_cost as usize, "operation", "operations")),
    );
    for term in &scop.check_terms {
        let _ = writeln!(out, "    {}", term.text);
    }
}

fn render_refusals(out: &mut String, function: &Function, file: &str) {
    for refusal in &function.refusals {
        let file = file_of(&refusal.file, file);
        let place = if refusal.line == 0 { file.to_string() } else { format!("{file}:{}", refusal.line) };
        let _ = writeln!(out, "{place}: {}: left alone: {}", function.source_name, refusal.message);
        if !refusal.advice.is_empty() {
            let _ = writeln!(out, "    advice: {}", refusal.advice);
        }
        out.push('\n');
    }
}

/// `file` is how the user called what was compiled; the report names only what that includes.
fn file_of<'a>(named: &'a str, file: &'a str) -> &'a str {
    if named.is_empty() { file } else { named }
}

fn heading(out: &mut String, text: &str) {
    let _ = writeln!(out, "  {text}");
}

fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// All that an access touches, as a descriptor; estimates say on which side they are.
fn descriptor(lmad: &Lmad, array: &str) -> String {
    let text = lmad.text(array);
    match lmad.mark {
        Mark::Exact => text,
        Mark::Over => format!("{text} at most"),
        Mark::Under => format!("{text} at least"),
    }
}

/// `A[i][j-1]`; the relation itself where it is not one tuple of subscripts.
fn element(access: &Access) -> String {
    match access.subscripts.as_deref() {
        Some([]) => format!("{}[]", access.array),
        Some(all) => format!("{}[{}]", access.array, all.join("][")),
        None => access.relation.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use report::*;

    fn access(kind: AccessKind, array: &str, subscripts: &[&str]) -> Access {
        Access {
            kind,
            array: array.into(),
            scalar: false,
            relation: format!("{{ S0[i, j] -> {array}[o0] : 0 <= o0 <= i }}"),
            subscripts: (!subscripts.is_empty()).then(|| subscripts.iter().map(|s| s.to_string()).collect()),
            offset: String::new(),
            lmad: None,
            reduction: None,
        }
    }

    fn touching(access: Access, stride: &str, span: &str, mark: Mark) -> Access {
        let dim = LmadDim { stride: stride.into(), span: span.into(), index: "i".into() };
        Access { lmad: Some(Lmad { base: "-2".into(), dims: vec![dim], mark }), ..access }
    }

    fn stencil() -> Scop {
        Scop {
            id: "blur:12".into(),
            file: String::new(),
            lines: [12, 16],
            parameters: vec![Parameter { name: "n".into(), ty: "i32".into() }],
            context: "[n] -> {  : -2147483648 <= n <= 2147483647 }".into(),
            arrays: vec![
                Array {
                    name: "A".into(),
                    element: "double".into(),
                    element_bytes: 8,
                    shape: vec!["*".into(), "1200".into()],
                    recovered: Recovered::Constant,
                    condition: "[n] -> {  : n <= 1200 }".into(),
                    requires: "n <= 1200".into(),
                    temporary: false,
                },
                Array {
                    name: "B".into(),
                    element: "double".into(),
                    element_bytes: 8,
                    shape: vec!["*".into()],
                    recovered: Recovered::None,
                    condition: UNIVERSE.into(),
                    requires: String::new(),
                    temporary: false,
                },
            ],
            statements: vec![Statement {
                name: "S0".into(),
                line: 14,
                domain: "[n] -> { S0[i, j] : 0 <= i < n and 0 <= j < n }".into(),
                schedule: "[n] -> { S0[i, j] -> [i, j] }".into(),
                accesses: vec![
                    access(AccessKind::Read, "A", &["i", "j"]),
                    touching(access(AccessKind::Read, "A", &["i-1", "j"]), "1200", "1200*n - 1200", Mark::Exact),
                    touching(access(AccessKind::Write, "B", &["2*i+n-j+1"]), "1", "3*n", Mark::Over),
                    access(AccessKind::MayWrite, "B", &[]),
                ],
            }],
            assumptions: vec![
                Assumption {
                    kind: AssumptionKind::IB,
                    because: "j stays below the row length 1200 in A[i][j]".into(),
                    line: 14,
                    valid: "[n] -> {  : n <= 1200 }".into(),
                    requires: "n <= 1200".into(),
                    arrays: vec![],
                    implied: false,
                },
                Assumption {
                    kind: AssumptionKind::AA,
                    because: "A and B do not overlap".into(),
                    line: 0,
                    valid: "{  : }".into(),
                    requires: String::new(),
                    arrays: vec!["A".into(), "B".into()],
                    implied: false,
                },
            ],
            check: "[n] -> {  : n <= 1200 }".into(),
            check_terms: vec![
                CheckTerm { kind: CheckKind::Assumed(AssumptionKind::IB), text: "n <= 1200".into() },
                CheckTerm { kind: CheckKind::Work, text: "n >= 16".into() },
                CheckTerm { kind: CheckKind::Assumed(AssumptionKind::AA), text: "A and B do not overlap".into() },
            ],
            modelled: true,
            check_cost: 9,
            scalar_writes: BeforeAfter::default(),
            delicm: Delicm::default(),
            dependences: Dependences::default(),
            transformation: Transformation {
                by: By::Auto,
                ast: "for (c0 = 0; c0 < n; c0 += 32)\n  S0(c0, c1);\n".into(),
                tiled: true,
                vectorized: true,
                ..Transformation::none()
            },
        }
    }

    fn function(scops: Vec<Scop>, refusals: Vec<Refusal>) -> Function {
        Function { name: "_ZN5image4blurEv".into(), source_name: "image::blur".into(), scops, refusals }
    }

    fn check(functions: Vec<Function>, expected: Expect) {
        expected.assert_eq(&render(&Report::new("blur.c", functions), "blur.c"));
    }

    #[test]
    fn a_transformed_region_and_a_refused_loop() {
        let refusal = Refusal {
            kind: "Call".into(),
            file: "blur.h".into(),
            line: 30,
            message: "the call to `printf` may do anything".into(),
            advice: "move the call out of the loop".into(),
        };
        check(
            vec![function(vec![stencil()], vec![refusal])],
            expect![[r#"
                blur.c:12-16: image::blur: modelled, transformed (tiled, vectorized)
                  arrays
                    double A[][1200]: A[i][j], A[i-1][j]
                        sizes recovered from constant strides, provided that n <= 1200
                        touched: A^{1200}_{1200*n-1200}-2
                    double B[]: B[2*i+n-j+1] =, { S0[i, j] -> B[o0] : 0 <= o0 <= i } = (perhaps)
                        touched: B^{1}_{3*n}-2 at most
                  assumed
                    line 14: j stays below the row length 1200 in A[i][j] (n <= 1200)
                    A and B do not overlap
                  checked at run time, in at most 9 operations
                    n <= 1200
                    n >= 16
                    A and B do not overlap
                  new loops
                    for (c0 = 0; c0 < n; c0 += 32)
                      S0(c0, c1);

                blur.h:30: image::blur: left alone: the call to `printf` may do anything
                    advice: move the call out of the loop

                1 region modelled: 1 transformed, 1 loop left alone
                assumed: 1 IB, 1 AA
            "#]],
        );
    }

    #[test]
    fn a_region_that_needs_no_check_and_keeps_its_order() {
        let mut scop = stencil();
        scop.check = UNIVERSE.into();
        scop.check_terms.clear();
        scop.assumptions.clear();
        scop.modelled = false;
        scop.transformation = Transformation::none();
        check(
            vec![function(vec![scop], vec![])],
            expect![[r#"
            blur.c:12-16: image::blur: modelled in part, order kept
              arrays
                double A[][1200]: A[i][j], A[i-1][j]
                    sizes recovered from constant strides, provided that n <= 1200
                    touched: A^{1200}_{1200*n-1200}-2
                double B[]: B[2*i+n-j+1] =, { S0[i, j] -> B[o0] : 0 <= o0 <= i } = (perhaps)
                    touched: B^{1}_{3*n}-2 at most

            1 region modelled: 0 transformed, 0 loops left alone
        "#]],
        );
    }

    #[test]
    fn without_debug_information_there_are_no_lines() {
        let refusal = Refusal {
            kind: "Call".into(),
            file: String::new(),
            line: 0,
            message: "the call to `printf` may do anything".into(),
            advice: String::new(),
        };
        check(
            vec![function(vec![], vec![refusal])],
            expect![[r#"
                blur.c: image::blur: left alone: the call to `printf` may do anything

                0 regions modelled: 0 transformed, 1 loop left alone
                no line is known: compile with -g
            "#]],
        );
    }

    #[test]
    fn functions_without_loops_are_not_listed() {
        check(
            vec![function(vec![], vec![])],
            expect![[r#"
            blur.c: no loops
        "#]],
        );
    }
}
