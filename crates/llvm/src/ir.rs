//! The instruments that change IR: cloning, cutting edges, annotations. For [`crate::write`]; whoever uses them has to leave a
//! function that verifies, or restore a [`crate::Backup`].

use crate::ffi;
use inkwell::llvm_sys::core::LLVMBasicBlockAsValue;
use inkwell::llvm_sys::prelude::*;
use std::ffi::CString;

/// Which value or block stands for which in a copy.
pub(crate) struct ValueMap {
    shim: *mut ffi::Table,
}

impl Drop for ValueMap {
    fn drop(&mut self) {
        // SAFETY: ours since `new`.
        unsafe { ffi::lw_map_free(self.shim) }
    }
}

impl Clone for ValueMap {
    fn clone(&self) -> Self {
        // SAFETY: a copy of our own table.
        ValueMap { shim: unsafe { ffi::lw_map_clone(self.shim) } }
    }
}

impl ValueMap {
    pub(crate) fn new() -> Self {
        // SAFETY: no preconditions.
        ValueMap { shim: unsafe { ffi::lw_map_new() } }
    }
    pub(crate) fn insert(&mut self, from: LLVMValueRef, to: LLVMValueRef) {
        // SAFETY: keys and values are compared and handed out, never looked into here.
        unsafe { ffi::lw_map_insert(self.shim, from, to) }
    }
    pub(crate) fn insert_block(&mut self, from: LLVMBasicBlockRef, to: LLVMBasicBlockRef) {
        // SAFETY: blocks are values.
        unsafe { self.insert(LLVMBasicBlockAsValue(from), LLVMBasicBlockAsValue(to)) }
    }
    pub(crate) fn get(&self, from: LLVMValueRef) -> Option<LLVMValueRef> {
        // SAFETY: as for `insert`.
        let found = unsafe { ffi::lw_map_get(self.shim, from) };
        (!found.is_null()).then_some(found)
    }
}

/// Where new code goes.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    End(LLVMBasicBlockRef),
    Before(LLVMValueRef),
}

/// Whether a copy runs under the condition of its original or a weaker one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runs {
    /// Flags and metadata that make poison or undefined behaviour stay true.
    AsBefore,
    /// They are dropped: nsw, nuw, exact, inbounds, nnan, ninf, `!range`, `!nonnull`, `!noundef` and their like.
    Speculatively,
}

/// A copy of `instruction` with its flags, metadata and debug location, its operands replaced as `map` says. Alias scopes and access
/// groups are not copied: they promise something about the old order.
pub(crate) fn clone_instruction(instruction: LLVMValueRef, map: &ValueMap, place: Place, runs: Runs) -> LLVMValueRef {
    let (end, before) = match place {
        Place::End(block) => (block, std::ptr::null_mut()),
        Place::Before(instruction) => (std::ptr::null_mut(), instruction),
    };
    // SAFETY: exactly one of the two places is given.
    unsafe { ffi::lw_clone_instruction(instruction, map.shim, end, before, runs == Runs::Speculatively) }
}

/// Copies of `blocks` at the end of `function`, in order; the map learns all copies. Edges to blocks that the map does not know are
/// kept, φs keep their incoming edges from such blocks: the caller mends both. Debug records, lifetime markers and scope declarations
/// are left out.
pub(crate) fn clone_blocks(
    blocks: &[LLVMBasicBlockRef],
    map: &mut ValueMap,
    function: LLVMValueRef,
    runs: Runs,
) -> Vec<LLVMBasicBlockRef> {
    let mut copies = vec![std::ptr::null_mut(); blocks.len()];
    // SAFETY: room for as many copies as blocks.
    unsafe {
        let weaken = runs == Runs::Speculatively;
        ffi::lw_clone_blocks(blocks.as_ptr(), blocks.len(), map.shim, function, weaken, copies.as_mut_ptr());
    }
    copies
}

/// Replaces operands, and the incoming blocks of a φ, as `map` says.
pub(crate) fn remap(instruction: LLVMValueRef, map: &ValueMap) {
    // SAFETY: an instruction and our own table.
    unsafe { ffi::lw_remap(instruction, map.shim) }
}

/// Drops what makes poison or undefined behaviour, for code that now runs speculatively.
pub(crate) fn weaken(instruction: LLVMValueRef) {
    // SAFETY: an instruction.
    unsafe { ffi::lw_weaken(instruction) }
}

/// A new block through which all edges from outside `region` enter at `entry`; `None` where an edge cannot be redirected.
pub(crate) fn enter_through_one_block(
    entry: LLVMBasicBlockRef,
    region: &[LLVMBasicBlockRef],
) -> Option<LLVMBasicBlockRef> {
    // SAFETY: blocks of one function.
    let block = unsafe { ffi::lw_enter_through_one_block(entry, region.as_ptr(), region.len()) };
    (!block.is_null()).then_some(block)
}

/// A new block, ending in a jump to `exit`, through which all edges from `region` to `exit` go. What arrived at a φ of `exit` over
/// those edges is merged by a φ in the new block.
pub(crate) fn leave_through_one_block(
    exit: LLVMBasicBlockRef,
    region: &[LLVMBasicBlockRef],
) -> Option<LLVMBasicBlockRef> {
    // SAFETY: blocks of one function.
    let block = unsafe { ffi::lw_leave_through_one_block(exit, region.as_ptr(), region.len()) };
    (!block.is_null()).then_some(block)
}

/// Stack objects whose lifetime begins or ends in `region` live from entry to return from now on: code that takes over the region's
/// work does not repeat the marks, and the stack would be shared by the marks of the original alone.
pub(crate) fn drop_lifetimes(region: &[LLVMBasicBlockRef]) {
    // SAFETY: blocks of one function.
    unsafe { ffi::lw_drop_lifetimes(region.as_ptr(), region.len()) }
}

#[derive(Clone, Copy, Default)]
pub(crate) struct LoopProperties<'a> {
    /// The accesses in these groups depend on none of another iteration.
    pub(crate) parallel_accesses: &'a [LLVMMetadataRef],
    /// `Some(true)` forces vectorization whatever it costs, `Some(false)` forbids it.
    pub(crate) vectorize: Option<bool>,
    pub(crate) disable_unroll: bool,
}

/// Gives the loop that ends in the branch `latch` an identity of its own, always with mustprogress.
pub(crate) fn set_loop_properties(latch: LLVMValueRef, properties: LoopProperties<'_>) {
    let groups = properties.parallel_accesses;
    let vectorize = properties.vectorize.map_or(-1, i32::from);
    // SAFETY: a terminator, and distinct nodes from `new_access_group`.
    unsafe { ffi::lw_set_loop_properties(latch, groups.as_ptr(), groups.len(), vectorize, properties.disable_unroll) }
}

pub(crate) fn new_access_group(module: LLVMModuleRef) -> LLVMMetadataRef {
    // SAFETY: a module.
    unsafe { ffi::lw_new_access_group(module) }
}

pub(crate) fn set_access_groups(access: LLVMValueRef, groups: &[LLVMMetadataRef]) {
    // SAFETY: an instruction and nodes from `new_access_group`.
    unsafe { ffi::lw_set_access_groups(access, groups.as_ptr(), groups.len()) }
}

/// A family of alias scopes, distinct from all others of the module.
pub(crate) fn new_alias_domain(module: LLVMModuleRef, name: &str) -> LLVMMetadataRef {
    let name = c_text(name);
    // SAFETY: the name is copied.
    unsafe { ffi::lw_new_alias_domain(module, name.as_ptr()) }
}

pub(crate) fn new_alias_scope(module: LLVMModuleRef, domain: LLVMMetadataRef, name: &str) -> LLVMMetadataRef {
    let name = c_text(name);
    // SAFETY: the name is copied; the domain comes from `new_alias_domain`.
    unsafe { ffi::lw_new_alias_scope(module, domain, name.as_ptr()) }
}

/// The access belongs to the scopes `in_scopes` and touches nothing that belongs to the scopes `apart_from`. Added to what it has.
pub(crate) fn add_alias_scopes(access: LLVMValueRef, in_scopes: &[LLVMMetadataRef], apart_from: &[LLVMMetadataRef]) {
    // SAFETY: an instruction and nodes from `new_alias_scope`.
    unsafe {
        ffi::lw_add_alias_scopes(access, in_scopes.as_ptr(), in_scopes.len(), apart_from.as_ptr(), apart_from.len())
    }
}

/// Marks the place from which on the scopes' promise holds. Without the mark, a loop around the code would be read as if the promise
/// held across its iterations.
pub(crate) fn declare_alias_scopes(before: LLVMValueRef, scopes: &[LLVMMetadataRef]) {
    // SAFETY: an instruction and nodes from `new_alias_scope`.
    unsafe { ffi::lw_declare_alias_scopes(before, scopes.as_ptr(), scopes.len()) }
}

/// An empty internal function for code taken out of `parent`: same target, noinline, nounwind, with the attribute "loopwright".
pub(crate) fn new_outlined_function(parent: LLVMValueRef, name: &str, ty: LLVMTypeRef) -> LLVMValueRef {
    let name = c_text(name);
    // SAFETY: a function type of the parent's context.
    unsafe { ffi::lw_new_outlined_function(parent, name.as_ptr(), ty) }
}

/// Text for C: a zero byte, which no name has, would end it.
pub(crate) fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "")).expect("zero bytes were removed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{BlockId, FunctionFacts, ValueId};
    use crate::{Analyses, Backup, FunctionHandle, OwnedModule};
    use inkwell::llvm_sys::core::*;

    const LOOP: &str = r#"
define i32 @f(ptr %p, ptr %q, i32 %n) "target-cpu"="znver2" {
entry:
  %local = alloca i32, align 4
  %c = icmp sgt i32 %n, 0
  br i1 %c, label %left, label %right
left:
  br label %head
right:
  br i1 %c, label %head, label %out
head:
  %i = phi i32 [ 0, %left ], [ 1, %right ], [ %i.next, %head ]
  call void @llvm.lifetime.start.p0(i64 4, ptr %local)
  %g = getelementptr inbounds i32, ptr %p, i32 %i
  %x = load i32, ptr %g, align 4, !range !5, !alias.scope !2, !noalias !2
  %y = add nsw i32 %x, %n
  store i32 %y, ptr %q, align 4
  call void @llvm.lifetime.end.p0(i64 4, ptr %local)
  %i.next = add nuw nsw i32 %i, 1
  %more = icmp slt i32 %i.next, %n
  br i1 %more, label %head, label %out, !llvm.loop !6
out:
  %r = phi i32 [ 7, %right ], [ %y, %head ]
  ret i32 %r
}
declare void @llvm.lifetime.start.p0(i64, ptr)
declare void @llvm.lifetime.end.p0(i64, ptr)
!2 = !{!3}
!3 = distinct !{!3, !4}
!4 = distinct !{!4}
!5 = !{i32 0, i32 5}
!6 = distinct !{!6, !7}
!7 = !{!"llvm.loop.mustprogress"}
"#;

    struct Subject<'m> {
        function: FunctionHandle<'m>,
        facts: FunctionFacts,
        analyses: Analyses,
    }
    impl Subject<'_> {
        fn value(&self, name: &str) -> LLVMValueRef {
            let at = self.facts.values.iter().position(|v| v.name == name).expect("a value of that name");
            self.analyses.value_ref(ValueId(at as u32))
        }
        fn block(&self, name: &str) -> LLVMBasicBlockRef {
            let at = self.facts.blocks.iter().position(|b| b.name == name).expect("a block of that name");
            self.analyses.block_ref(BlockId(at as u32))
        }
        fn terminator(&self, block: &str) -> LLVMValueRef {
            unsafe { LLVMGetBasicBlockTerminator(self.block(block)) }
        }
        fn module(&self) -> LLVMModuleRef {
            unsafe { LLVMGetGlobalParent(self.analyses.function_ref()) }
        }
    }

    fn operate(on: impl FnOnce(&mut Subject<'_>)) {
        let mut module = OwnedModule::read_text("loop.ll", LOOP).unwrap_or_else(|e| panic!("{e}"));
        let handle = module.handle();
        let function = handle.function("f").unwrap();
        let (facts, analyses) = Analyses::collect(&function);
        on(&mut Subject { function, facts, analyses });
    }

    fn text(value: LLVMValueRef) -> String {
        unsafe {
            let raw = LLVMPrintValueToString(value);
            let text = std::ffi::CStr::from_ptr(raw).to_string_lossy().trim().to_string();
            LLVMDisposeMessage(raw);
            text
        }
    }

    #[test]
    fn a_clone_keeps_its_flags_where_it_runs_as_before() {
        operate(|s| {
            let mut map = ValueMap::new();
            map.insert(s.value("n"), s.value("i"));
            let place = Place::Before(s.value("more"));
            let y = clone_instruction(s.value("y"), &map, place, Runs::AsBefore);
            assert_eq!(text(y), "%y1 = add nsw i32 %x, %i");
            let x = clone_instruction(s.value("x"), &map, place, Runs::AsBefore);
            assert!(text(x).contains("!range") && !text(x).contains("!alias.scope") && !text(x).contains("!noalias"));
            s.function.verify().unwrap();
        });
    }

    #[test]
    fn a_speculative_clone_can_be_no_poison_of_its_own() {
        operate(|s| {
            let (map, place) = (ValueMap::new(), Place::Before(s.value("more")));
            let clone = |name| text(clone_instruction(s.value(name), &map, place, Runs::Speculatively));
            assert_eq!(clone("y"), "%y1 = add i32 %x, %n");
            assert_eq!(clone("g"), "%g2 = getelementptr i32, ptr %p, i32 %i");
            assert_eq!(clone("x"), "%x3 = load i32, ptr %g, align 4");
        });
    }

    #[test]
    fn a_region_gets_one_way_in_and_one_way_out() {
        operate(|s| {
            let region = [s.block("head")];
            let (head, out) = (s.block("head"), s.block("out"));
            let enter = enter_through_one_block(head, &region).unwrap();
            let leave = leave_through_one_block(out, &region).unwrap();
            s.function.verify().unwrap();
            unsafe {
                assert_eq!(LLVMCountIncoming(s.value("i")), 2);
                assert_eq!(LLVMGetSuccessor(LLVMGetBasicBlockTerminator(enter), 0), head);
                assert_eq!(LLVMGetSuccessor(LLVMGetBasicBlockTerminator(leave), 0), out);
            }
            assert!(s.function.print().contains("!llvm.loop"), "the loop keeps its properties");
        });
    }

    #[test]
    fn a_region_at_the_functions_entry_gets_a_block_before_it() {
        operate(|s| {
            let entry = s.block("entry");
            let enter = enter_through_one_block(entry, &[entry]).unwrap();
            s.function.verify().unwrap();
            unsafe {
                assert_eq!(LLVMGetEntryBasicBlock(s.analyses.function_ref()), enter);
                assert_eq!(LLVMGetInstructionParent(s.value("local")), enter);
            }
        });
    }

    #[test]
    fn copied_blocks_are_a_loop_of_their_own() {
        operate(|s| {
            let mut map = ValueMap::new();
            let copies = clone_blocks(&[s.block("head")], &mut map, s.analyses.function_ref(), Runs::AsBefore);
            let printed = text(unsafe { LLVMBasicBlockAsValue(copies[0]) });
            assert!(!printed.contains("lifetime"), "{printed}");
            assert!(!printed.contains("alias.scope"), "{printed}");
            assert!(printed.contains("[ %i.next6, %head1 ]"), "{printed}");
            let (old, new) = (s.terminator("head"), unsafe { LLVMGetBasicBlockTerminator(copies[0]) });
            let identity = |branch| unsafe { LLVMGetMetadata(branch, loop_kind()) };
            assert!(!identity(new).is_null() && identity(old) != identity(new));
        });
    }

    fn loop_kind() -> u32 {
        unsafe { LLVMGetMDKindID(c"llvm.loop".as_ptr(), 9) }
    }

    #[test]
    fn lifetimes_inside_the_region_become_the_functions() {
        operate(|s| {
            drop_lifetimes(&[s.block("head")]);
            assert!(!s.function.print().contains("lifetime"));
            s.function.verify().unwrap();
        });
    }

    #[test]
    fn loops_and_accesses_carry_what_is_said_about_them() {
        operate(|s| {
            let module = s.module();
            let group = new_access_group(module);
            set_access_groups(s.value("x"), &[group]);
            let parallel = LoopProperties { parallel_accesses: &[group], vectorize: Some(true), disable_unroll: true };
            set_loop_properties(s.terminator("head"), parallel);
            let domain = new_alias_domain(module, "lw");
            let scopes = [new_alias_scope(module, domain, "p"), new_alias_scope(module, domain, "q")];
            add_alias_scopes(s.value("x"), &scopes[..1], &scopes[1..]);
            declare_alias_scopes(s.terminator("left"), &scopes);
            s.function.verify().unwrap();
            let handle_text = s.function.print();
            for expected in ["!llvm.access.group", "llvm.experimental.noalias.scope.decl", "!alias.scope", "!llvm.loop"]
            {
                assert!(handle_text.contains(expected), "{expected}\n{handle_text}");
            }
        });
    }

    #[test]
    fn outlined_functions_are_internal_and_vanish_with_the_backup() {
        let mut module = OwnedModule::read_text("loop.ll", LOOP).unwrap();
        let handle = module.handle();
        let before = handle.print();
        let function = handle.function("f").unwrap();
        let backup = Backup::copy(&function).unwrap();
        unsafe {
            let parent = function.function_ref();
            let context = LLVMGetModuleContext(LLVMGetGlobalParent(parent));
            let ty = LLVMFunctionType(LLVMVoidTypeInContext(context), std::ptr::null_mut(), 0, 0);
            let worker = new_outlined_function(parent, "f.worker", ty);
            let body = LLVMAppendBasicBlockInContext(context, worker, c"entry".as_ptr());
            let builder = LLVMCreateBuilderInContext(context);
            LLVMPositionBuilderAtEnd(builder, body);
            LLVMBuildRetVoid(builder);
            LLVMDisposeBuilder(builder);
        }
        let with_worker = handle.print();
        assert!(with_worker.contains("define internal void @f.worker()"), "{with_worker}");
        assert!(with_worker.contains(r#""loopwright" "target-cpu"="znver2""#), "{with_worker}");
        assert!(handle.function("f.worker").unwrap().must_not_be_touched());
        backup.restore();
        assert_eq!(handle.print(), before);
    }
}
