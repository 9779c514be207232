//! What LLVM knows of a function arrives in Rust as it is.

use llvm::facts::*;
use llvm::{Analyses, OwnedModule};

/// Collects the facts of `@f` in `text` and hands them to `look`.
fn with_facts(text: &str, look: impl FnOnce(&FunctionFacts, &Analyses)) {
    let mut module = OwnedModule::read_text("test.ll", text).unwrap_or_else(|e| panic!("{e}"));
    let handle = module.handle();
    handle.verify().expect("the test is valid IR");
    let (facts, analyses) = Analyses::collect(&handle.function("f").expect("the test defines @f"));
    look(&facts, &analyses);
}

fn named(facts: &FunctionFacts, name: &str) -> ValueId {
    let at = facts.values.iter().position(|v| v.name == name).unwrap_or_else(|| panic!("no value `{name}`"));
    ValueId(at as u32)
}

fn instruction<'f>(facts: &'f FunctionFacts, name: &str) -> &'f Instruction {
    match &facts.values[named(facts, name).index()].kind {
        ValueKind::Instruction(i) => i,
        other => panic!("`{name}` is {other:?}"),
    }
}

const NEST: &str = r#"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
define void @f(ptr noalias %A, ptr %B, i64 %n, i64 %m) {
entry:
  %any = icmp sgt i64 %n, 0
  %some = icmp sgt i64 %m, 0
  %both = and i1 %any, %some
  br i1 %both, label %outer, label %done
outer:
  %i = phi i64 [ 0, %entry ], [ %i.next, %outer.latch ]
  br label %inner
inner:
  %j = phi i64 [ 0, %outer ], [ %j.next, %inner ]
  %row = mul nsw i64 %i, %m
  %at = add nsw i64 %row, %j
  %p = getelementptr inbounds double, ptr %A, i64 %at
  %q = getelementptr inbounds { i64, [4 x float] }, ptr %B, i64 %j, i32 1, i64 3
  %x = load double, ptr %p, align 8
  %y = fadd reassoc nsz double %x, 1.0
  store double %y, ptr %p, align 8
  %j.next = add nuw nsw i64 %j, 1
  %more = icmp slt i64 %j.next, %m
  br i1 %more, label %inner, label %outer.latch
outer.latch:
  %i.next = add nuw nsw i64 %i, 1
  %again = icmp slt i64 %i.next, %n
  br i1 %again, label %outer, label %done
done:
  ret void
dead:
  br label %done
}
"#;

#[test]
fn loops_are_listed_outside_in_with_their_counts() {
    with_facts(NEST, |facts, _| {
        assert_eq!(facts.loops.len(), 2);
        let (outer, inner) = (&facts.loops[0], &facts.loops[1]);
        assert_eq!((outer.depth, inner.depth), (1, 2));
        assert_eq!(inner.parent, Some(LoopId(0)));
        assert_eq!(outer.children, [LoopId(1)]);
        assert_eq!((outer.counter_name.as_str(), inner.counter_name.as_str()), ("i", "j"));
        assert!(!outer.hinted);
        let m = named(facts, "m");
        let Scev::Add { bits: 64, operands, .. } = &inner.backedge_taken_count else {
            panic!("{:?}", inner.backedge_taken_count)
        };
        assert_eq!(operands.as_slice(), [Scev::Constant { bits: 64, value: -1 }, Scev::Unknown { bits: 64, value: m }]);
    });
}

#[test]
fn unreachable_blocks_leave_no_trace() {
    with_facts(NEST, |facts, _| {
        let names: Vec<_> = facts.blocks.iter().map(|b| b.name.as_str()).collect();
        assert_eq!(names, ["entry", "outer", "inner", "outer.latch", "done"]);
        assert_eq!(facts.blocks[4].predecessors.len(), 2);
        assert_eq!(facts.blocks[2].immediate_dominator, Some(BlockId(1)));
        assert_eq!(facts.blocks[1].immediate_post_dominator, Some(BlockId(2)));
        assert_eq!(facts.blocks[2].innermost_loop, Some(LoopId(1)));
    });
}

#[test]
fn addresses_are_bytes_from_a_base() {
    with_facts(NEST, |facts, _| {
        let Op::Gep { base, offset: Some(offset), inbounds: true, .. } = &instruction(facts, "q").op else { panic!() };
        assert_eq!(*base, named(facts, "B"));
        assert_eq!(offset.constant, 8 + 3 * 4);
        assert_eq!(offset.terms, [(named(facts, "j"), 24)]);
    });
}

#[test]
fn scalar_evolutions_keep_only_their_own_flags() {
    with_facts(NEST, |facts, analyses| {
        let Scev::AddRec { in_loop, operands, nsw: true, nuw: true, .. } =
            analyses.scev(named(facts, "j"), Some(LoopId(1)))
        else {
            panic!()
        };
        assert_eq!(in_loop, LoopId(1));
        assert_eq!(operands, [Scev::Constant { bits: 64, value: 0 }, Scev::Constant { bits: 64, value: 1 }]);
        // {{A,+,8m}<outer>,+,8}<inner>
        let Scev::AddRec { operands, .. } = analyses.scev(named(facts, "p"), Some(LoopId(1))) else { panic!() };
        assert!(matches!(&operands[0], Scev::AddRec { in_loop: LoopId(0), .. }));
    });
}

#[test]
fn fast_math_flags_and_operations_arrive() {
    with_facts(NEST, |facts, _| {
        let y = instruction(facts, "y");
        assert!(matches!(y.op, Op::Float(FloatOp::Add)));
        assert!(y.flags.reassoc && y.flags.nsz && !y.flags.nnan);
        assert!(y.pure_and_speculatable);
        let more = instruction(facts, "more");
        assert!(matches!(more.op, Op::ICmp(Predicate::Slt)));
        let x = instruction(facts, "x");
        assert!(matches!(x.op, Op::Load { bytes: 8, simple: true, .. }) && x.reads_memory && !x.pure_and_speculatable);
    });
}

#[test]
fn a_noalias_argument_overlaps_nothing() {
    with_facts(NEST, |facts, analyses| {
        let (a, b) = (named(facts, "A"), named(facts, "B"));
        assert!(!analyses.may_alias(a, &[named(facts, "x")], b, &[]));
        assert!(analyses.may_alias(b, &[], b, &[]));
    });
}

/// A call of `void g(float *restrict p, float *restrict q)`, inlined into a loop (`in_loop`) or before it.
fn inlined_restrict(in_loop: bool) -> String {
    let declare = "call void @llvm.experimental.noalias.scope.decl(metadata !0)\n  \
                   call void @llvm.experimental.noalias.scope.decl(metadata !3)";
    let (outside, inside) = if in_loop { ("", declare) } else { (declare, "") };
    format!(
        r#"
declare void @llvm.experimental.noalias.scope.decl(metadata)
define void @f(ptr %p, ptr %q, i64 %n) {{
entry:
  {outside}
  br label %body
body:
  %i = phi i64 [ 0, %entry ], [ %i.next, %body ]
  {inside}
  %from = getelementptr float, ptr %p, i64 %i
  %x = load float, ptr %from, !alias.scope !0, !noalias !3
  %to = getelementptr float, ptr %q, i64 %i
  store float %x, ptr %to, !alias.scope !3, !noalias !0
  %i.next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %i.next, %n
  br i1 %more, label %body, label %done
done:
  ret void
}}
!0 = !{{!1}}
!1 = distinct !{{!1, !2, !"g: p"}}
!2 = distinct !{{!2, !"g"}}
!3 = !{{!4}}
!4 = distinct !{{!4, !2, !"g: q"}}
"#
    )
}

fn answers_about_inlined_restrict(in_loop: bool) -> bool {
    let mut answer = false;
    with_facts(&inlined_restrict(in_loop), |facts, analyses| {
        let stores: Vec<ValueId> = (0..facts.values.len() as u32)
            .map(ValueId)
            .filter(|v| {
                matches!(&facts.values[v.index()].kind, ValueKind::Instruction(i) if matches!(i.op, Op::Store { .. }))
            })
            .collect();
        answer = analyses.may_alias(named(facts, "p"), &[named(facts, "x")], named(facts, "q"), &stores);
        // Without the accesses there is nothing that the scopes speak of.
        assert!(analyses.may_alias(named(facts, "p"), &[], named(facts, "q"), &[]));
    });
    answer
}

#[test]
fn restrict_of_a_function_inlined_into_a_loop_promises_nothing_between_iterations() {
    assert!(answers_about_inlined_restrict(true));
}

#[test]
fn restrict_of_a_function_inlined_before_the_loop_holds() {
    assert!(!answers_about_inlined_restrict(false));
}

#[test]
fn scopes_without_a_declaration_are_not_trusted() {
    let text = inlined_restrict(false)
        .lines()
        .filter(|l| !l.contains("call void @llvm.experimental"))
        .collect::<Vec<_>>()
        .join("\n");
    with_facts(&text, |facts, analyses| {
        let store = ValueId(
            facts
                .values
                .iter()
                .position(|v| matches!(&v.kind, ValueKind::Instruction(i) if matches!(i.op, Op::Store { .. })))
                .unwrap() as u32,
        );
        assert!(analyses.may_alias(named(facts, "p"), &[named(facts, "x")], named(facts, "q"), &[store]));
    });
}

#[test]
fn ranges_use_types_and_assumptions() {
    let text = r#"
declare void @llvm.assume(i1)
define i64 @f(i32 %n, i8 %small, i64 noundef %k, i64 %loose) {
  %positive = icmp sgt i32 %n, 3
  call void @llvm.assume(i1 %positive)
  %wide = zext i8 %small to i64
  br label %next
next:
  ret i64 %wide
}
"#;
    with_facts(text, |facts, analyses| {
        assert_eq!(analyses.signed_range(named(facts, "n")), (4, i128::from(i32::MAX)));
        assert_eq!(analyses.unsigned_range(named(facts, "wide")), (0, 255));
        assert_eq!(analyses.signed_range(named(facts, "k")), (i128::from(i64::MIN), i128::from(i64::MAX)));
        assert!(analyses.is_guaranteed_not_poison(named(facts, "k")));
        assert!(!analyses.is_guaranteed_not_poison(named(facts, "loose")));
    });
}

#[test]
fn the_libraries_mathematics_may_set_errno_and_no_more() {
    let text = r#"
target triple = "x86_64-pc-linux-gnu"
declare double @sin(double)
declare double @mystery(double)
define double @f(double %x) {
  %s = call double @sin(double %x)
  %t = call double @mystery(double %s)
  %u = call double @sin(double %t) memory(none)
  %v = call double @llvm.sqrt.f64(double %u)
  ret double %v
}
declare double @llvm.sqrt.f64(double)
"#;
    with_facts(text, |facts, _| {
        let call = |name: &str| match &instruction(facts, name).op {
            Op::Call(call) => call.clone(),
            other => panic!("{other:?}"),
        };
        assert!(call("s").math_errno && call("s").will_return && call("s").nounwind && !call("s").no_memory);
        assert!(!call("t").math_errno && !call("t").will_return);
        assert!(call("u").no_memory && !call("u").math_errno);
        assert!(call("v").is_intrinsic && call("v").no_memory);
        assert!(call("s").any_thread && call("u").any_thread && call("v").any_thread && !call("t").any_thread);
    });
}

#[test]
fn malformed_input_names_the_place() {
    let message = OwnedModule::read_text("broken.ll", "define void @f() {\n  nonsense\n}").err().expect("not valid");
    assert!(message.starts_with("broken.ll:2:3"), "{message}");
}

#[test]
fn constants_inside_expressions_have_ids() {
    let text = r#"
@table = global [8 x i32] zeroinitializer
define i32 @f(i1 %c) {
  %x = load i32, ptr getelementptr inbounds ([8 x i32], ptr @table, i64 0, i64 2)
  ret i32 %x
}
"#;
    with_facts(text, |facts, analyses| {
        let Op::Load { pointer, .. } = instruction(facts, "x").op else { panic!() };
        let Scev::Add { operands, .. } = analyses.scev(pointer, None) else { panic!() };
        assert_eq!(operands[1], Scev::Unknown { bits: 64, value: named(facts, "table") });
        assert!(matches!(facts.values[named(facts, "table").index()].kind, ValueKind::Global));
    });
}

/// As clang writes it at -O1 -g for `for (int i = 0; i < n; i++) a[i] = 0;`, once brought into form.
const NAMED: &str = r#"
define void @f(ptr %0, i32 %1) !dbg !4 {
    #dbg_value(ptr %0, !7, !DIExpression(), !11)
    #dbg_value(i32 %1, !8, !DIExpression(), !11)
  %3 = zext i32 %1 to i64
  br label %4
4:
  %5 = phi i64 [ 0, %2 ], [ %7, %4 ]
    #dbg_value(i64 %5, !9, !DIExpression(), !11)
  %6 = getelementptr inbounds i32, ptr %0, i64 %5, !dbg !12
  store i32 0, ptr %6, align 4, !dbg !12
  %7 = add nuw nsw i64 %5, 1
    #dbg_value(i64 %7, !9, !DIExpression(), !11)
  %8 = icmp ult i64 %7, %3
  br i1 %8, label %4, label %9, !dbg !11, !llvm.loop !13
9:
  ret void
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "f.c", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!4 = distinct !DISubprogram(name: "f", scope: !1, file: !1, line: 5, type: !5, unit: !0)
!5 = !DISubroutineType(types: !6)
!6 = !{null}
!7 = !DILocalVariable(name: "a", scope: !4, file: !1, line: 5, type: !3)
!8 = !DILocalVariable(name: "n", scope: !4, file: !1, line: 5, type: !3)
!9 = !DILocalVariable(name: "i", scope: !4, file: !1, line: 6, type: !3)
!11 = !DILocation(line: 6, column: 3, scope: !4)
!12 = !DILocation(line: 7, column: 5, scope: !4)
!13 = distinct !{!13, !11, !14, !15}
!14 = !DILocation(line: 8, column: 5, scope: !4)
!15 = !{!"llvm.loop.vectorize.enable", i1 false}
"#;

#[test]
fn source_names_and_lines_come_from_debug_records() {
    with_facts(NAMED, |facts, _| {
        assert_eq!(facts.line.number, 5);
        assert_eq!((facts.values[0].name.as_str(), facts.values[1].name.as_str()), ("a", "n"));
        let the_loop = &facts.loops[0];
        assert_eq!((the_loop.counter_name.as_str(), the_loop.line.number, the_loop.end_line.number), ("i", 6, 8));
        assert!(the_loop.hinted, "the author forbids vectorization");
    });
}

#[test]
fn what_was_inlined_from_a_header_is_where_it_was_called() {
    let header = "!20 = !DIFile(filename: \"g.h\", directory: \"/\")
!21 = distinct !DISubprogram(name: \"g\", scope: !20, file: !20, line: 900, type: !5, unit: !0)
!12 = !DILocation(line: 901, column: 5, scope: !21, inlinedAt: !22)
!22 = !DILocation(line: 7, column: 9, scope: !4)";
    let text = NAMED.replace("!12 = !DILocation(line: 7, column: 5, scope: !4)", header);
    assert_ne!(text, NAMED);
    with_facts(&text, |facts, _| {
        let lines: Vec<u32> = facts.values.iter().filter_map(instruction_line).filter(|line| *line > 0).collect();
        assert_eq!(lines, [7, 7, 6], "the address, the store and the branch");
    });
}

fn instruction_line(value: &Value) -> Option<u32> {
    match &value.kind {
        ValueKind::Instruction(instruction) => Some(instruction.line.number),
        _ => None,
    }
}

#[test]
fn branches_name_the_true_side_first() {
    let text =
        "define void @f(i1 %c) {\nentry:\n  br i1 %c, label %yes, label %no\nyes:\n  ret void\nno:\n  ret void\n}";
    with_facts(text, |facts, _| {
        let branch = *facts.blocks[0].instructions.last().unwrap();
        let ValueKind::Instruction(branch) = &facts.values[branch.index()].kind else { panic!() };
        let Op::Branch { targets } = &branch.op else { panic!() };
        let names: Vec<_> = targets.iter().map(|b| facts.blocks[b.index()].name.as_str()).collect();
        assert_eq!(names, ["yes", "no"]);
    });
}

#[test]
fn every_cast_has_a_name_of_its_own() {
    let casts = [
        ("trunc i64 %n to i32", CastOp::Trunc),
        ("zext i32 %k to i64", CastOp::ZExt),
        ("sext i32 %k to i64", CastOp::SExt),
        ("ptrtoint ptr %p to i64", CastOp::PtrToInt),
        ("inttoptr i64 %n to ptr", CastOp::IntToPtr),
        ("bitcast double %x to i64", CastOp::BitCast),
        ("fptoui double %x to i64", CastOp::FPToUI),
        ("fptosi double %x to i64", CastOp::FPToSI),
        ("uitofp i32 %k to double", CastOp::UIToFP),
        ("sitofp i32 %k to double", CastOp::SIToFP),
        ("fptrunc double %x to float", CastOp::FPTrunc),
        ("fpext float %y to double", CastOp::FPExt),
        ("addrspacecast ptr %p to ptr addrspace(1)", CastOp::AddrSpaceCast),
    ];
    for (text, name) in casts {
        let text =
            format!("define void @f(i64 %n, i32 %k, ptr %p, double %x, float %y) {{\n %c = {text}\n ret void\n}}");
        with_facts(&text, |facts, _| {
            assert!(matches!(instruction(facts, "c").op, Op::Cast(cast) if cast == name), "{text}");
        });
    }
}

/// Loads and stores of several types through pointers that nothing else tells apart.
const TYPED: &str = r#"
target triple = "x86_64-pc-linux-gnu"
@defined = global i32 0
@declared = external global i32
define void @f(ptr %p, ptr %q, ptr noalias %r) {
  %int = load i32, ptr %p, !tbaa !1
  %unsigned = load i32, ptr %p, !tbaa !1
  %float = load float, ptr %q, !tbaa !3
  %char = load i8, ptr %q, !tbaa !5
  %untyped = load float, ptr %q
  %own = load i32, ptr %r
  %known = load i32, ptr @defined
  %foreign = load i32, ptr @declared
  ret void
}
!1 = !{!2, !2, i64 0}
!2 = !{!"int", !6, i64 0}
!3 = !{!4, !4, i64 0}
!4 = !{!"float", !6, i64 0}
!5 = !{!6, !6, i64 0}
!6 = !{!"omnipotent char", !7, i64 0}
!7 = !{!"Simple C/C++ TBAA"}
"#;

#[test]
fn types_keep_nothing_apart() {
    with_facts(TYPED, |facts, analyses| {
        let value = |name: &str| named(facts, name);
        assert!(analyses.may_alias(value("p"), &[value("int")], value("q"), &[value("float")]));
        assert_eq!(analyses.types(value("int"), value("float")), Types::Apart);
        assert_eq!(analyses.types(value("int"), value("unsigned")), Types::Same);
        assert_eq!(analyses.types(value("int"), value("char")), Types::Compatible);
        assert_eq!(analyses.types(value("float"), value("untyped")), Types::Compatible);
    });
}

#[test]
fn errno_is_an_int_that_the_library_defines() {
    with_facts(TYPED, |facts, analyses| {
        let value = |name: &str| named(facts, name);
        let base = |load: &str| match instruction(facts, load).op {
            Op::Load { pointer, .. } => pointer,
            _ => panic!("{load} is no load"),
        };
        let may_be = |base: ValueId, accesses: &[&str]| {
            analyses.may_be_errno(base, &accesses.iter().map(|name| value(name)).collect::<Vec<_>>())
        };
        assert!(analyses.has_errno_location());
        assert!(may_be(value("p"), &["int"]) && may_be(value("q"), &["char"]) && may_be(value("q"), &["untyped"]));
        assert!(may_be(value("q"), &["float", "char"]) && !may_be(value("q"), &["float"]));
        assert!(!may_be(value("r"), &["own"]));
        assert!(!may_be(base("known"), &["known"]) && may_be(base("foreign"), &["foreign"]));
    });
}
