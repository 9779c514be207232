//! What is set aside comes back exactly.

use llvm::{Backup, OwnedModule};

/// Debug records that name arguments and instructions, loop and alias metadata, and names of every kind.
const RICH: &str = r#"
target triple = "x86_64-pc-linux-gnu"
@g = global i32 0
declare void @callee(i32) #1
define i32 @f(ptr %p, i32 %n) #0 !dbg !5 {
entry:
    #dbg_value(ptr %p, !10, !DIExpression(), !12)
    #dbg_value(i32 %n, !11, !DIExpression(), !12)
  %buffer = alloca [4 x i32], align 16
    #dbg_declare(ptr %buffer, !13, !DIExpression(), !12)
  br label %loop, !dbg !12

loop:
  %i = phi i32 [ 0, %entry ], [ %i.next, %loop ]
    #dbg_value(!DIArgList(i32 %i, i32 %n), !11, !DIExpression(DW_OP_LLVM_arg, 0, DW_OP_LLVM_arg, 1, DW_OP_plus, DW_OP_stack_value), !12)
  %0 = load i32, ptr %p, align 4, !dbg !12, !alias.scope !20, !noalias !23, !range !25
  store i32 %0, ptr %buffer, align 4, !dbg !12
  call void @callee(i32 %n), !dbg !12
  %i.next = add nuw nsw i32 %i, 1
  %more = icmp slt i32 %i.next, %n
  br i1 %more, label %loop, label %exit, !prof !26, !llvm.loop !27

exit:
  %1 = call i32 @f(ptr %p, i32 %i), !dbg !12
  ret i32 %1, !dbg !12
}
attributes #0 = { nounwind "custom"="yes" }
attributes #1 = { nounwind }
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "f.c", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!5 = distinct !DISubprogram(name: "f", scope: !1, file: !1, line: 1, type: !6, unit: !0, retainedNodes: !8)
!6 = !DISubroutineType(types: !7)
!7 = !{null}
!8 = !{}
!9 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!10 = !DILocalVariable(name: "p", scope: !5, file: !1, line: 1, type: !9)
!11 = !DILocalVariable(name: "n", scope: !5, file: !1, line: 1, type: !9)
!12 = !DILocation(line: 3, column: 7, scope: !5)
!13 = !DILocalVariable(name: "buffer", scope: !5, file: !1, line: 2, type: !9)
!20 = !{!21}
!21 = distinct !{!21, !22, !"s"}
!22 = distinct !{!22, !"d"}
!23 = !{!24}
!24 = distinct !{!24, !22, !"t"}
!25 = !{i32 0, i32 10}
!26 = !{!"branch_weights", i32 3, i32 5}
!27 = distinct !{!27, !12, !28}
!28 = !{!"llvm.loop.mustprogress"}
"#;

fn rich() -> OwnedModule {
    OwnedModule::read_text("rich.ll", RICH).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn a_copy_put_back_prints_as_the_original() {
    let mut module = rich();
    let handle = module.handle();
    let before = handle.print();
    let mut function = handle.function("f").unwrap();
    let backup = Backup::copy(&function).expect("no block address is taken");
    assert_eq!(function.print(), before_of(&before, &function.print()), "taking a copy changes nothing");
    function.canonicalize();
    assert_ne!(function.print(), before);
    backup.restore();
    assert_eq!(handle.print(), before);
    handle.verify().unwrap();
}

/// The part of the module's text that is the function's own, to compare bodies by.
fn before_of(module: &str, function: &str) -> String {
    assert!(module.contains(function.trim()), "{function}\nis not part of\n{module}");
    function.to_string()
}

#[test]
fn an_original_put_back_prints_as_it_did() {
    let mut module = rich();
    let handle = module.handle();
    let before = handle.print();
    let mut function = handle.function("f").unwrap();
    let backup = Backup::original(&mut function).expect("no block address is taken");
    function.verify().unwrap();
    function.canonicalize();
    function.clean_up();
    function.verify().unwrap();
    drop(backup);
    assert_eq!(handle.print(), before);
    handle.verify().unwrap();
}

#[test]
fn the_copy_to_work_on_prints_as_the_original() {
    let mut module = rich();
    let handle = module.handle();
    let before = handle.print();
    let mut function = handle.function("f").unwrap();
    Backup::original(&mut function).expect("no block address is taken").discard();
    assert_eq!(handle.print(), before);
    handle.verify().unwrap();
}

#[test]
fn a_change_that_is_kept_stays() {
    let mut module = rich();
    let handle = module.handle();
    let mut function = handle.function("f").unwrap();
    let backup = Backup::copy(&function).expect("no block address is taken");
    function.canonicalize();
    let changed = handle.function("f").unwrap().print();
    backup.discard();
    assert_eq!(handle.function("f").unwrap().print(), changed);
    assert_eq!(handle.functions().len(), 1, "the helper is gone");
    handle.verify().unwrap();
}

#[test]
fn functions_whose_blocks_are_named_elsewhere_are_left_alone() {
    let text = "@where = global ptr blockaddress(@f, %there)\n\
                define void @f() {\n  br label %there\nthere:\n  ret void\n}";
    let mut module = OwnedModule::read_text("address.ll", text).unwrap();
    let handle = module.handle();
    assert!(Backup::copy(&handle.function("f").unwrap()).is_none());
}

#[test]
fn use_lists_come_back_in_their_order() {
    let mut module = rich();
    let handle = module.handle();
    let mut function = handle.function("f").unwrap();
    let before = handle.print_with_use_order();
    let backup = Backup::original(&mut function).unwrap();
    function.canonicalize();
    backup.restore();
    assert_eq!(handle.print_with_use_order(), before);
}
